//===- SmoothKeys.cpp - Centre keys, rotate queries and keys --------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Both steps leave the scores as they are, up to rounding and to a constant per
// query that the softmax does not see, and make them cheap to quantize:
// centring takes out what all keys have in common, rotating spreads large
// channels.
//
//===----------------------------------------------------------------------===//

#include "AttentionRewrites.h"
#include "vcattn/Dialect/VCAttn/IR/VCAttnShapes.h"
#include "vcattn/Dialect/VCAttn/Transforms/Passes.h"

namespace vcattn {
#define GEN_PASS_DEF_SMOOTHKEYS
#include "vcattn/Dialect/VCAttn/Transforms/Passes.h.inc"
} // namespace vcattn

using namespace mlir;
using namespace vcattn;

/// Subtracts the keys' mean; what the log-sum-exp thereby loses is added back.
template <typename OpTy>
static void centerKeys(OpTy op, IRRewriter &rewriter) {
  rewriter.setInsertionPoint(op);
  auto centered = CenterKeysOp::create(rewriter, op.getLoc(), op.getKey(),
                                       op.getLengths(), op.getLayout());
  Value query = op.getQuery();
  rewriter.modifyOpInPlace(
      op, [&] { op.getKeyMutable().assign(centered.getResult()); });
  if (!op.getLse())
    return;
  rewriter.setInsertionPointAfter(op);
  auto corrected =
      CorrectLseOp::create(rewriter, op.getLoc(), query, centered.getMean(),
                           op.getLse(), op.getScale(), op.getLayout());
  rewriter.replaceAllUsesExcept(op.getLse(), corrected.getResult(), corrected);
}

template <typename OpTy>
static void rotate(OpTy op, IRRewriter &rewriter) {
  rewriter.setInsertionPoint(op);
  auto query = HadamardOp::create(rewriter, op.getLoc(), op.getQuery());
  auto key = HadamardOp::create(rewriter, op.getLoc(), op.getKey());
  rewriter.modifyOpInPlace(op, [&] {
    op.getQueryMutable().assign(query);
    op.getKeyMutable().assign(key);
  });
}

/// A remark if no two channels could be rotated.
template <typename OpTy>
static LogicalResult checkHeadDim(OpTy op) {
  for (Value value : {op.getQuery(), op.getKey()}) {
    int64_t dim = cast<ShapedType>(value.getType()).getDimSize(kChannelDim);
    if (ShapedType::isDynamic(dim))
      return op.emitRemark(
          "queries and keys are not rotated: head dimension is dynamic");
    if (getRotationBlock(dim) == 1)
      return op.emitRemark("queries and keys are not rotated: head dimension ")
             << dim << " is odd";
  }
  return success();
}

namespace {
class SmoothKeys : public vcattn::impl::SmoothKeysBase<SmoothKeys> {
public:
  using SmoothKeysBase::SmoothKeysBase;

  void runOnOperation() override {
    for (AttentionOp op : collect<AttentionOp>(getOperation()))
      smooth(op);
    for (auto op : collect<QuantizedAttentionOp>(getOperation())) {
      if (op.hasQuantizedScores()) {
        op.emitRemark("keys are not smoothed: they are codes already");
        ++refused;
        continue;
      }
      smooth(op);
    }
  }

private:
  template <typename OpTy>
  void smooth(OpTy op) {
    IRRewriter rewriter(op.getContext());
    if (center && !hasStep<CenterKeysOp>(op.getKey())) {
      centerKeys(op, rewriter);
      ++centered;
    }
    if (!rotate || hasStep<HadamardOp>(op.getKey()))
      return;
    if (failed(checkHeadDim(op))) {
      ++refused;
      return;
    }
    ::rotate(op, rewriter);
    ++rotated;
  }
};
} // namespace
