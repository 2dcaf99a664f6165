//===- ExprUtils.h - Questions about expressions ----------------*- C++ -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the attention matcher asks of expressions: their value if it is known,
// whether two are the same, and what tensor is behind a few harmless steps.
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_LIB_ANALYSIS_EXPRUTILS_H
#define VCATTN_LIB_ANALYSIS_EXPRUTILS_H

#include "vcattn/Analysis/AttentionExpr.h"
#include "llvm/ADT/SetVector.h"

namespace vcattn {

using OpSet = llvm::SetVector<mlir::Operation *>;

class ExprUtils {
public:
  explicit ExprUtils(const ExprFrontend &frontend) : frontend(frontend) {}

  /// The expression of `term` below all casts. Ops passed on the way are added
  /// to `passed`, if given.
  Expr strip(const Term &term, Axis reduced, OpSet *passed = nullptr) const;

  /// The number that `term` is, if that is known.
  std::optional<double> evaluate(const Term &term) const;

  /// True if two terms are the same expression, up to casts. The ops of both
  /// are added to `passed`.
  bool equal(const Term &a, const Term &b, Axis reduced, OpSet &passed) const;

  /// The tensor behind `term`, below casts between f16, bf16 and f32; and, if
  /// `scale` is given, below multiplications by constants, which it collects.
  /// Null if there is none.
  Term findTensor(const Term &term, double *scale) const;

private:
  const ExprFrontend &frontend;
};

/// Elements that an attention's operands may have.
bool isAttentionFloat(mlir::Type type);

} // namespace vcattn

#endif // VCATTN_LIB_ANALYSIS_EXPRUTILS_H
