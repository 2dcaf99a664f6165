//===- AttentionBuilder.h - From a match to vcattn.attention ----*- C++ -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Brings matched operands to rank 4 and one of the two layouts, with as few
// transposes as there have to be:
//
// - tensors are taken as they were before transposes, so that [B, T, H, D] that
//   is transposed to [B, H, T, D] and back is attention in layout `bthd`;
// - no batch dimensions become [1, 1, T, D], one becomes [1, B, T, D]; but if
//   that one is a collapsed pair on queries, keys and values, the pair;
// - keys and values whose heads are repeated are taken unrepeated; queries with
//   a dimension that keys do not have get it collapsed into their heads.
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_LIB_CONVERSION_LINALGTOVCATTN_ATTENTIONBUILDER_H
#define VCATTN_LIB_CONVERSION_LINALGTOVCATTN_ATTENTIONBUILDER_H

#include "mlir/IR/PatternMatch.h"
#include "vcattn/Analysis/AttentionMatcher.h"

namespace vcattn {

/// Creates the attention that `match` describes before its root and moves the
/// root's uses to it. Changes nothing on failure, which `refusal` explains.
mlir::LogicalResult buildAttention(const AttentionMatch &match,
                                   const ExprFrontend &frontend,
                                   mlir::RewriterBase &rewriter,
                                   Refusal &refusal);

} // namespace vcattn

#endif // VCATTN_LIB_CONVERSION_LINALGTOVCATTN_ATTENTIONBUILDER_H
