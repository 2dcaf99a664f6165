//===- Quantize.cpp - Quantize attention's operands -----------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which operand gets which granularity is what the score and value products can
// undo: a query's scale and four per key block after the first, a channel's
// after the second.
//
//===----------------------------------------------------------------------===//

#include "AttentionRewrites.h"
#include "vcattn/Dialect/VCAttn/IR/VCAttnShapes.h"
#include "vcattn/Dialect/VCAttn/Transforms/Passes.h"
#include "vcattn/Target/TargetInfo.h"

namespace vcattn {
#define GEN_PASS_DEF_QUANTIZE
#include "vcattn/Dialect/VCAttn/Transforms/Passes.h.inc"
} // namespace vcattn

using namespace mlir;
using namespace vcattn;

static void quantizeScores(QuantizedAttentionOp op, Format format,
                           IRRewriter &rewriter) {
  auto query = QuantizeOp::create(rewriter, op.getLoc(), op.getQuery(),
                                  /*bound=*/Value(), /*lengths=*/Value(),
                                  format, Granularity::Token, kBlockTokens,
                                  /*groups=*/1, op.getLayout());
  auto key = QuantizeOp::create(rewriter, op.getLoc(), op.getKey(),
                                /*bound=*/Value(), op.getLengths(), format,
                                Granularity::Block, kBlockTokens,
                                kKeyScaleGroups, op.getLayout());
  rewriter.modifyOpInPlace(op, [&] {
    op.getQueryMutable().assign(query.getCodes());
    op.getQueryScaleMutable().assign(query.getScales());
    op.getKeyMutable().assign(key.getCodes());
    op.getKeyScaleMutable().assign(key.getScales());
  });
}

static void quantizeValues(QuantizedAttentionOp op, IRRewriter &rewriter) {
  auto value =
      QuantizeOp::create(rewriter, op.getLoc(), op.getValue(), op.getMeans(),
                         op.getLengths(), Format::E4M3, Granularity::Channel,
                         kBlockTokens, /*groups=*/1, op.getLayout());
  Value means = op.getMeans();
  if (means)
    means = CompensateMeansOp::create(rewriter, op.getLoc(), means,
                                      value.getCodes(), value.getScales(),
                                      op.getLengths(), op.getLayout());
  rewriter.modifyOpInPlace(op, [&] {
    op.getMeansMutable().assign(means ? ValueRange(means) : ValueRange());
    op.getValueMutable().assign(value.getCodes());
    op.getValueScaleMutable().assign(value.getScales());
  });
}

namespace {
class Quantize : public vcattn::impl::QuantizeBase<Quantize> {
public:
  using QuantizeBase::QuantizeBase;

  void runOnOperation() override {
    if (scores == ScoreFormat::None && !values)
      return;
    IRRewriter rewriter(&getContext());
    for (AttentionOp op : collect<AttentionOp>(getOperation()))
      toQuantizedAttention(op, SoftmaxCast::Exact, rewriter);
    for (auto op : collect<QuantizedAttentionOp>(getOperation()))
      if (failed(quantize(op, rewriter)))
        return signalPassFailure();
  }

private:
  LogicalResult quantize(QuantizedAttentionOp op, IRRewriter &rewriter) {
    rewriter.setInsertionPoint(op);
    bool quantizesScores =
        scores != ScoreFormat::None && !op.hasQuantizedScores();
    bool quantizesValues = values && !op.getValueScale();
    if (quantizesScores && scores == ScoreFormat::I8 && op.getTarget() &&
        !lookupTarget(op.getTarget()->getChip())->hasIntegerScores)
      return op.emitError("cannot quantize scores to i8: target ")
             << op.getTarget()->getChip()
             << " has no matrix instruction for it";
    if (quantizesScores) {
      Format format = scores == ScoreFormat::I8 ? Format::I8 : Format::E4M3;
      quantizeScores(op, format, rewriter);
      ++scoresQuantized;
    }
    if (quantizesValues) {
      quantizeValues(op, rewriter);
      ++valuesQuantized;
    }
    if (!quantizesScores && !quantizesValues)
      ++refused;
    return success();
  }
};
} // namespace
