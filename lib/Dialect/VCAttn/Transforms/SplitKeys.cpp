//===- SplitKeys.cpp - Shards of keys as units of work --------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block takes a tile of queries through all keys of a head. Where there are
// fewer tiles than multiprocessors, shards of keys make more of them.
//
//===----------------------------------------------------------------------===//

#include "AttentionRewrites.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "vcattn/Dialect/VCAttn/IR/VCAttnShapes.h"
#include "vcattn/Dialect/VCAttn/Transforms/Passes.h"
#include "vcattn/Target/Schedules.h"
#include "vcattn/Target/TargetInfo.h"

namespace vcattn {
#define GEN_PASS_DEF_SPLITKEYS
#include "vcattn/Dialect/VCAttn/Transforms/Passes.h.inc"
} // namespace vcattn

using namespace mlir;
using namespace vcattn;

/// In blocks of keys, what a unit of work costs besides those it has, and what
/// merging costs (docs/Rationale.md).
static constexpr int64_t kItemCost = 17, kMergeCost = 17;

static TokenShape shapeOf(PackedAttentionOp op, Value value) {
  return TokenShape::get(cast<ShapedType>(value.getType()), op.getLayout());
}

/// Keys per shard with which the busiest multiprocessor has least to do; 0 if
/// that is all of them, or if the shapes do not tell.
static int64_t chooseKeys(PackedAttentionOp op) {
  TokenShape q = shapeOf(op, op.getQuery()), k = shapeOf(op, op.getKey());
  for (int64_t size : {q.batch, q.heads, q.tokens, k.tokens})
    if (ShapedType::isDynamic(size))
      return 0;
  // With limits, query tiles differ in what they have to do; one does not.
  bool isLimited =
      op.getCausal() != Causality::None || op.getWindow() || op.getBlockMask();
  if (isLimited && q.tokens > op.getSchedule().getTileQ())
    return 0;
  int64_t items =
      q.batch * q.heads * ceilDivSize(q.tokens, op.getSchedule().getTileQ());
  int64_t blocks = ceilDivSize(k.tokens, kBlockTokens);
  int64_t processors = lookupTarget(op.getTarget().getChip())->multiprocessors;
  auto cost = [&](int64_t shardBlocks) {
    int64_t shards = ceilDivSize(blocks, shardBlocks);
    return ceilDivSize(items * shards, processors) * (shardBlocks + kItemCost);
  };
  int64_t best = 0, least = cost(std::max<int64_t>(blocks, 1));
  // Shards begin where tiles of means do.
  for (int64_t n = kMeanBlocks; n < blocks; n += kMeanBlocks)
    if (cost(n) + kMergeCost < least) {
      least = cost(n) + kMergeCost;
      best = n * kBlockTokens;
    }
  return best;
}

namespace {
/// Splits one attention.
class Splitter {
public:
  Splitter(PackedAttentionOp op, int64_t keys, IRRewriter &rewriter)
      : op(op), keys(keys), b(op.getLoc(), rewriter), rewriter(rewriter) {
    b.setInsertionPoint(op);
    unsigned tokens = getTokensDim(op.getLayout());
    Value allKeys = b.createOrFold<tensor::DimOp>(op.getKey(), tokens);
    shards = b.createOrFold<arith::CeilDivUIOp>(allKeys, index(keys));
  }

  void run() {
    SmallVector<Value> outs{emptyOf(op.getQuery(), op.getOuts()[0]),
                            emptyOf(op.getQueryScale(), op.getQueryScale())};
    auto packed = PackedAttentionOp::create(
        b, TypeRange(ValueRange(outs)), op.getQuery(), op.getQueryScale(),
        op.getKey(), op.getKeyScale(), op.getValue(), op.getValueScale(),
        op.getMeans(), op.getMask(), op.getLengths(), op.getBlockMask(), outs,
        op.getScale(), op.getCast(), op.getCausal(), op.getWindowAttr(),
        op.getLayout(), op.getTarget(), op.getSchedule(), keys);
    packed->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    bool hasLse = op.getResults().size() == 2;
    auto merged = MergeAttentionOp::create(
        b, op.getResult(0).getType(),
        hasLse ? op.getResult(1).getType() : Type(), packed.getResult(0),
        packed.getResult(1), op.getLayout());
    rewriter.replaceOp(op, merged->getResults());
  }

private:
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }

  /// An FP32 tensor of the sizes of `like` but for the last one, which is that
  /// of `out`, per shard.
  Value emptyOf(Value like, Value out) {
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(b, b.getLoc(), like);
    int64_t last = sizes.size() - 1;
    sizes[last] = tensor::getMixedSize(b, b.getLoc(), out, last);
    sizes.insert(sizes.begin(), getAsOpFoldResult(shards));
    return tensor::EmptyOp::create(b, sizes, b.getF32Type());
  }

  PackedAttentionOp op;
  int64_t keys;
  ImplicitLocOpBuilder b;
  IRRewriter &rewriter;
  Value shards;
};

class SplitKeys : public vcattn::impl::SplitKeysBase<SplitKeys> {
public:
  using SplitKeysBase::SplitKeysBase;

  void runOnOperation() override {
    if (keys < -1 || (keys > 0 && keys % kMeanKeys != 0)) {
      getOperation()->emitError(
          "vcattn-split-keys: keys must be a multiple of ")
          << kMeanKeys << ", or -1, got " << keys.getValue();
      return signalPassFailure();
    }
    IRRewriter rewriter(&getContext());
    for (auto op : collect<PackedAttentionOp>(getOperation())) {
      if (op.getSplitKeys() != 0 || keys < 0)
        continue;
      int64_t shard = keys > 0 ? keys.getValue() : chooseKeys(op);
      int64_t all = shapeOf(op, op.getKey()).tokens;
      if (shard == 0 || (!ShapedType::isDynamic(all) && all <= shard))
        continue;
      Splitter(op, shard, rewriter).run();
      ++split;
    }
  }
};
} // namespace
