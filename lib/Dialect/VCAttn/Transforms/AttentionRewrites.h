//===- AttentionRewrites.h - Shared by the method's passes ----------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The method's passes work on exact attentions and on attentions on codes
// alike; here is what they share.
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_LIB_DIALECT_VCATTN_TRANSFORMS_ATTENTIONREWRITES_H
#define VCATTN_LIB_DIALECT_VCATTN_TRANSFORMS_ATTENTIONREWRITES_H

#include "mlir/IR/PatternMatch.h"
#include "vcattn/Dialect/VCAttn/IR/VCAttn.h"

namespace vcattn {

/// Replaces an exact attention by one with 8-bit probabilities made by `cast`
/// and the same, float, operands.
QuantizedAttentionOp toQuantizedAttention(AttentionOp op, SoftmaxCast cast,
                                          mlir::RewriterBase &rewriter);

/// True if `value` is a result of `OpTy`, directly or through the method's
/// other steps on keys: those commute with each other.
template <typename OpTy>
bool hasStep(mlir::Value value) {
  while (mlir::Operation *op = value.getDefiningOp()) {
    if (mlir::isa<OpTy>(op))
      return true;
    if (!mlir::isa<CenterKeysOp, HadamardOp, GatherTokensOp>(op))
      return false;
    value = op->getOperand(0);
  }
  return false;
}

/// All attentions below `root`, in order, before any of them is touched.
template <typename OpTy>
llvm::SmallVector<OpTy> collect(mlir::Operation *root) {
  llvm::SmallVector<OpTy> ops;
  root->walk([&](OpTy op) { ops.push_back(op); });
  return ops;
}

} // namespace vcattn

#endif // VCATTN_LIB_DIALECT_VCATTN_TRANSFORMS_ATTENTIONREWRITES_H
