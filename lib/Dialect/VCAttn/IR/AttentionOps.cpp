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

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "vcattn/Dialect/VCAttn/IR/VCAttn.h"
#include "vcattn/Dialect/VCAttn/IR/VCAttnShapes.h"
#include "vcattn/Target/Schedules.h"

using namespace mlir;
using namespace vcattn;

/// True if two sizes are equal or one of them is not known yet.
static bool agree(int64_t a, int64_t b) {
  return ShapedType::isDynamic(a) || ShapedType::isDynamic(b) || a == b;
}

/// Reports `what` unless `type` has the wanted sizes.
static LogicalResult verifyShape(Operation *op, StringRef what, Type type,
                                 ArrayRef<int64_t> wanted) {
  ArrayRef<int64_t> shape = cast<ShapedType>(type).getShape();
  if (shape.size() == wanted.size() && llvm::equal(shape, wanted, agree))
    return success();
  auto print = [](InFlightDiagnostic &diag, ArrayRef<int64_t> sizes) {
    llvm::interleave(
        sizes, diag,
        [&](int64_t size) {
          if (ShapedType::isDynamic(size))
            diag << "?";
          else
            diag << size;
        },
        "x");
  };
  InFlightDiagnostic diag = op->emitOpError() << what << " has shape ";
  print(diag, shape);
  diag << ", expected ";
  print(diag, wanted);
  return diag;
}

namespace {
/// What the two ops have in common.
struct AttentionOperands {
  Value query, key, value, mask, means, result, lse;
  Layout layout;
  Causality causal;
  double scale;
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
  if (!agree(q.batch, k.batch) || !agree(q.batch, v.batch))
    return op->emitOpError("batch sizes of query, key and value differ: ")
           << q.batch << ", " << k.batch << ", " << v.batch;
  if (!agree(q.dim, k.dim))
    return op->emitOpError("head dimensions of query (")
           << q.dim << ") and key (" << k.dim << ") differ";
  if (!agree(k.heads, v.heads))
    return op->emitOpError("key has ")
           << k.heads << " heads, value has " << v.heads;
  if (!agree(k.tokens, v.tokens))
    return op->emitOpError("key has ")
           << k.tokens << " tokens, value has " << v.tokens;
  if (!ShapedType::isDynamic(q.heads) && !ShapedType::isDynamic(k.heads) &&
      (k.heads == 0 || q.heads % k.heads != 0))
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
  if (x.mask) {
    int64_t full[] = {q.batch, q.heads, q.tokens, k.tokens};
    auto type = cast<ShapedType>(x.mask.getType());
    for (auto [i, size] : llvm::enumerate(type.getShape()))
      if (size != 1 && !agree(size, full[i]))
        return op->emitOpError("mask dimension ")
               << i << " is " << size << ", expected 1 or " << full[i];
  }
  if (x.means &&
      failed(verifyShape(
          op, "means", x.means.getType(),
          {k.batch, k.heads, ceilDivSize(k.tokens, kBlockTokens), v.dim})))
    return failure();
  return success();
}

LogicalResult AttentionOp::verify() {
  return verifyAttention(*this, {getQuery(), getKey(), getValue(), getMask(),
                                 getMeans(), getResult(), getLse(), getLayout(),
                                 getCausal(), getScale().convertToDouble()});
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

static LogicalResult dropTrivialMask(AttentionOp op,
                                     PatternRewriter &rewriter) {
  if (!op.getMask() || !keepsEverything(op.getMask()))
    return failure();
  rewriter.modifyOpInPlace(op, [&] { op.getMaskMutable().clear(); });
  return success();
}

/// One query that is aligned to the last key sees them all.
static LogicalResult dropTrivialCausality(AttentionOp op,
                                          PatternRewriter &rewriter) {
  auto type = cast<ShapedType>(op.getQuery().getType());
  if (op.getCausal() != Causality::BottomRight ||
      type.getDimSize(getTokensDim(op.getLayout())) != 1)
    return failure();
  rewriter.modifyOpInPlace(op, [&] { op.setCausal(Causality::None); });
  return success();
}

void AttentionOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *) {
  patterns.add(dropTrivialMask);
  patterns.add(dropTrivialCausality);
}

LogicalResult QuantizedAttentionOp::verify() {
  if (failed(verifyAttention(*this,
                             {getQuery(), getKey(), getValue(), getMask(),
                              getMeans(), getResult(), getLse(), getLayout(),
                              getCausal(), getScale().convertToDouble()})))
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
  if (getSchedule())
    return verifySchedule(*this, *getTarget(), *getSchedule(), q.dim,
                          shapeOf(getValue()).dim);
  return success();
}
