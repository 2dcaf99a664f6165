//===- AttentionMatcher.h - Find attention in expressions -------*- C++ -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Matches, whatever the frontend (see AttentionExpr.h):
//
//   out = sum_k P * V
//   P   = softmax over k of S: named, or exp(S - max S) times or over its sum;
//         the maximum may be guarded by max(-inf, .) or left out
//   S   = scale * (sum_d Q * K), scaled on the scores, on Q, on K or not at
//   all,
//         by constants; plus additive masks, or selected against a very low
//         number by a condition: a comparison of indices (causal) or a mask
//
// with casts between floats anywhere. What only rounds differently is the same:
// exact attention rounds less.
//
// Refuses, with a reason at the op that is to blame: everything else. In
// particular a softmax that does not run over the axis that V is summed over,
// maximum, divisor and exponent of different things, sums that do not start
// from zero, scores or probabilities that anything else uses.
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_ANALYSIS_ATTENTIONMATCHER_H
#define VCATTN_ANALYSIS_ATTENTIONMATCHER_H

#include "vcattn/Analysis/AttentionExpr.h"
#include "vcattn/Dialect/VCAttn/IR/VCAttn.h"
#include "llvm/ADT/SetVector.h"

namespace vcattn {

/// Why something that looks like attention was left alone.
struct Refusal {
  mlir::Operation *op = nullptr;
  std::string reason;
};

struct AttentionMatch {
  /// The product with the values, and its result's axes, one per dimension.
  mlir::Operation *root = nullptr;
  llvm::SmallVector<Axis> resultAxes;

  /// Tensors and the axes of their dimensions.
  Term query, key, value;
  /// Null without; elements are i1 or floats.
  Term mask;
  /// A boolean mask that drops where it is true.
  bool maskDrops = false;
  double scale = 1.0;
  Causality causal = Causality::None;
  /// The query axis that causality is about.
  Axis causalAxis = kUnitAxis;

  /// Axes by role. Queries have two if several query heads share a key head.
  llvm::SmallVector<Axis> batchAxes, queryAxes;
  Axis keyAxis = kUnitAxis, headAxis = kUnitAxis, valueAxis = kUnitAxis;
  /// The first number that is no axis yet.
  Axis nextAxis = 0;

  /// Everything from the scores to the probabilities: dead after raising.
  llvm::SetVector<mlir::Operation *> interior;
};

/// Matches attention that ends in `root`, a product of two tensors. On failure
/// `refusal.op` is set if `root` looked like attention.
mlir::FailureOr<AttentionMatch> matchAttention(mlir::Operation *root,
                                               const ExprFrontend &frontend,
                                               Refusal &refusal);

} // namespace vcattn

#endif // VCATTN_ANALYSIS_ATTENTIONMATCHER_H
