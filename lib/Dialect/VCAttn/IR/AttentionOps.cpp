//===- AttentionOps.cpp - Verifiers of the attention ops ------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// vcattn.attention and vcattn.quantized_attention share their shapes; what
// differs is which operands are codes with scales.
//
//===----------------------------------------------------------------------===//

#include "ShapeVerifier.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "vcattn/Dialect/VCAttn/IR/VCAttn.h"
#include "vcattn/Dialect/VCAttn/IR/VCAttnShapes.h"
#include "vcattn/Target/Schedules.h"
#include "vcattn/Target/TargetInfo.h"

using namespace mlir;
using namespace vcattn;

namespace {
/// What the two ops have in common.
struct AttentionOperands {
  Value query, key, value, means, result, lse;
  MaskOperands masks;
  Layout layout;
  double scale;

  template <typename OpTy>
  static AttentionOperands get(OpTy op) {
    return {op.getQuery(),
            op.getKey(),
            op.getValue(),
            op.getMeans(),
            op.getResult(),
            op.getLse(),
            {op.getMask(), op.getLengths(), op.getBlockMask()},
            op.getLayout(),
            op.getScale().convertToDouble()};
  }
};
} // namespace

static LogicalResult verifyAttention(Operation *op,
                                     const AttentionOperands &x) {
  auto shapeOf = [&](Value value) {
    return TokenShape::get(cast<ShapedType>(value.getType()), x.layout);
  };
  TokenShape q = shapeOf(x.query), k = shapeOf(x.key), v = shapeOf(x.value);
  if (!std::isfinite(x.scale))
    return op->emitOpError("scale must be finite");
  if (!agree(q.batch, k.batch) || !agree(q.batch, v.batch) ||
      !agree(k.batch, v.batch))
    return op->emitOpError("batch sizes of query, key and value differ: ")
           << printSize(q.batch) << ", " << printSize(k.batch) << ", "
           << printSize(v.batch);
  if (!agree(q.dim, k.dim))
    return op->emitOpError("head dimensions of query (")
           << q.dim << ") and key (" << k.dim << ") differ";
  if (!agree(k.heads, v.heads))
    return op->emitOpError("key has ")
           << k.heads << " heads, value has " << v.heads;
  if (!agree(k.tokens, v.tokens))
    return op->emitOpError("key has ")
           << k.tokens << " tokens, value has " << v.tokens;
  // No key heads at all can only serve no query heads at all.
  if (!ShapedType::isDynamic(q.heads) && !ShapedType::isDynamic(k.heads) &&
      (k.heads == 0 ? q.heads != 0 : q.heads % k.heads != 0))
    return op->emitOpError("query heads (")
           << q.heads << ") must be a multiple of key heads (" << k.heads
           << ")";

  SmallVector<int64_t> result(4);
  result[kBatchDim] = q.batch;
  result[getHeadsDim(x.layout)] = q.heads;
  result[getTokensDim(x.layout)] = q.tokens;
  result[kChannelDim] = v.dim;
  if (failed(verifyShape(op, "result", x.result.getType(), result)))
    return failure();
  if (x.lse && failed(verifyShape(op, "lse", x.lse.getType(),
                                  {q.batch, q.heads, q.tokens})))
    return failure();
  if (failed(verifyMasks(op, x.masks, q, k)))
    return failure();
  if (x.means &&
      failed(verifyShape(
          op, "means", x.means.getType(),
          {k.batch, k.heads, ceilDivSize(k.tokens, kBlockTokens), v.dim})))
    return failure();
  return success();
}

LogicalResult AttentionOp::verify() {
  return verifyAttention(*this, AttentionOperands::get(*this));
}

LogicalResult VarlenAttentionOp::verify() {
  AttentionOperands operands{
      getQuery(),        getKey(),    getValue(),
      /*means=*/Value(), getResult(), getLse(),
      MaskOperands(),    getLayout(), getScale().convertToDouble()};
  if (failed(verifyAttention(*this, operands)))
    return failure();
  auto sizeOf = [](Value value, unsigned dim) {
    return cast<ShapedType>(value.getType()).getDimSize(dim);
  };
  if (!agree(sizeOf(getQuery(), kBatchDim), 1))
    return emitOpError("sequences are packed in a batch of 1, got ")
           << sizeOf(getQuery(), kBatchDim);
  int64_t queries = sizeOf(getCuQueries(), 0), keys = sizeOf(getCuKeys(), 0);
  if (!agree(queries, keys))
    return emitOpError("has ")
           << queries << " boundaries of queries and " << keys << " of keys";
  if (queries == 0 || keys == 0)
    return emitOpError("needs a boundary at least, where the last sequence "
                       "ends");
  return success();
}

/// A mask that keeps everything says nothing: a constant i1 splat of true, or
/// a float splat of zero.
static bool keepsEverything(Value mask) {
  DenseElementsAttr splat;
  if (!matchPattern(mask, m_Constant(&splat)) || !splat.isSplat())
    return false;
  if (isa<IntegerType>(splat.getElementType()))
    return splat.getSplatValue<APInt>().isOne();
  return splat.getSplatValue<APFloat>().isZero();
}

template <typename OpTy>
static LogicalResult dropTrivialMask(OpTy op, PatternRewriter &rewriter) {
  if (!op.getMask() || !keepsEverything(op.getMask()))
    return failure();
  rewriter.modifyOpInPlace(op, [&] { op.getMaskMutable().clear(); });
  return success();
}

/// A window without bounds says nothing, and its right bound nothing that
/// causality does not say.
template <typename OpTy>
static LogicalResult simplifyWindow(OpTy op, PatternRewriter &rewriter) {
  std::optional<WindowAttr> window = op.getWindow();
  if (!window)
    return failure();
  int64_t left = window->getLeft(), right = window->getRight();
  if (op.getCausal() != Causality::None)
    right = -1;
  bool isUnbounded = left < 0 && right < 0;
  if (!isUnbounded && right == window->getRight())
    return failure();
  rewriter.modifyOpInPlace(op, [&] {
    op.setWindowAttr(isUnbounded
                         ? WindowAttr()
                         : WindowAttr::get(op.getContext(), left, right));
  });
  return success();
}

/// A single query aligned to the last key sees every key; a single key aligned
/// to the first query is seen by every query; and with as many queries as keys
/// both alignments are one.
template <typename OpTy>
static LogicalResult simplifyCausality(OpTy op, PatternRewriter &rewriter) {
  auto tokensOf = [&](Value value) {
    return cast<ShapedType>(value.getType())
        .getDimSize(getTokensDim(op.getLayout()));
  };
  int64_t queries = tokensOf(op.getQuery()), keys = tokensOf(op.getKey());
  Causality before = op.getCausal(), after = before;
  // A window stands where causality does; a length, not the number of keys,
  // says where the last key is.
  if (op.getWindow() || op.getLengths())
    return failure();
  if (after == Causality::BottomRight && !ShapedType::isDynamic(queries) &&
      queries == keys)
    after = Causality::TopLeft;
  if ((after == Causality::BottomRight && queries == 1) ||
      (after == Causality::TopLeft && keys == 1))
    after = Causality::None;
  if (after == before)
    return failure();
  rewriter.modifyOpInPlace(op, [&] { op.setCausal(after); });
  return success();
}

/// A log-sum-exp that nobody reads is not worth computing.
template <typename OpTy>
static LogicalResult dropUnusedLse(OpTy op, PatternRewriter &rewriter) {
  if (!op.getLse() || !op.getLse().use_empty())
    return failure();
  auto without =
      OpTy::create(rewriter, op.getLoc(), TypeRange(op.getResult().getType()),
                   op->getOperands(), op.getProperties(),
                   op->getDiscardableAttrDictionary().getValue());
  rewriter.replaceAllUsesWith(op.getResult(), without.getResult());
  rewriter.eraseOp(op);
  return success();
}

template <typename OpTy>
static void addCanonicalizations(RewritePatternSet &patterns) {
  patterns.add(dropTrivialMask<OpTy>);
  patterns.add(simplifyCausality<OpTy>);
  patterns.add(simplifyWindow<OpTy>);
  patterns.add(dropUnusedLse<OpTy>);
}

void AttentionOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *) {
  addCanonicalizations<AttentionOp>(patterns);
}

void QuantizedAttentionOp::getCanonicalizationPatterns(
    RewritePatternSet &patterns, MLIRContext *) {
  addCanonicalizations<QuantizedAttentionOp>(patterns);
}

LogicalResult QuantizedAttentionOp::verify() {
  if (failed(verifyAttention(*this, AttentionOperands::get(*this))))
    return failure();
  auto elementOf = [](Value value) {
    return cast<ShapedType>(value.getType()).getElementType();
  };
  auto isCode = [&](Value value) {
    Type type = elementOf(value);
    return type.isInteger(8) || isa<Float8E4M3FNType>(type);
  };
  struct Operand {
    StringRef name;
    Value codes, scale;
  };
  for (const Operand &x : {Operand{"query", getQuery(), getQueryScale()},
                           Operand{"key", getKey(), getKeyScale()},
                           Operand{"value", getValue(), getValueScale()}}) {
    if (isCode(x.codes) && !x.scale)
      return emitOpError() << x.name << " is " << elementOf(x.codes)
                           << " and needs a scale";
    if (!isCode(x.codes) && x.scale)
      return emitOpError() << x.name << " is " << elementOf(x.codes)
                           << " and takes no scale";
  }
  if (isCode(getQuery()) != isCode(getKey()) ||
      (isCode(getQuery()) && elementOf(getQuery()) != elementOf(getKey())))
    return emitOpError("query and key must be codes of one format, or both "
                       "floats, got ")
           << elementOf(getQuery()) << " and " << elementOf(getKey());
  if (elementOf(getValue()).isInteger(8))
    return emitOpError("value codes must be f8E4M3FN, got i8");

  auto shapeOf = [&](Value value) {
    return TokenShape::get(cast<ShapedType>(value.getType()), getLayout());
  };
  TokenShape q = shapeOf(getQuery()), k = shapeOf(getKey());
  if (getQueryScale() &&
      failed(verifyShape(*this, "query scale", getQueryScale().getType(),
                         {q.batch, q.heads, q.tokens})))
    return failure();
  if (getKeyScale() &&
      failed(verifyShape(*this, "key scale", getKeyScale().getType(),
                         {k.batch, k.heads, ceilDivSize(k.tokens, kBlockTokens),
                          kKeyScaleGroups})))
    return failure();
  if (getValueScale() &&
      failed(verifyShape(*this, "value scale", getValueScale().getType(),
                         {k.batch, k.heads, shapeOf(getValue()).dim})))
    return failure();
  if (getSchedule() && !getTarget())
    return emitOpError("a schedule needs a target");
  if (getTarget() && elementOf(getQuery()).isInteger(8) &&
      !lookupTarget(getTarget()->getChip())->hasIntegerScores)
    return emitOpError("target ") << getTarget()->getChip()
                                  << " has no matrix instruction for i8 scores";
  if (getSchedule())
    return verifySchedule(*this, *getTarget(), *getSchedule(), q.dim,
                          shapeOf(getValue()).dim);
  return success();
}
