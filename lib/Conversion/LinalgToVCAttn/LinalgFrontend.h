//===- LinalgFrontend.h - linalg on tensors as expressions ------*- C++ -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads linalg's named and generic ops, arith and math on scalars or tensors,
// and tensor reshapes of unit dimensions as the expressions of AttentionExpr.h.
// Only indexing maps and bodies count, never an op's name.
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_LIB_CONVERSION_LINALGTOVCATTN_LINALGFRONTEND_H
#define VCATTN_LIB_CONVERSION_LINALGTOVCATTN_LINALGFRONTEND_H

#include "vcattn/Analysis/AttentionExpr.h"

namespace vcattn {

class LinalgFrontend : public ExprFrontend {
public:
  Expr expand(Term term, Axis reduced) const override;
};

} // namespace vcattn

#endif // VCATTN_LIB_CONVERSION_LINALGTOVCATTN_LINALGFRONTEND_H
