//===- PackingOps.cpp - Types and verifiers of the packing ops ------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ShapeVerifier.h"
#include "vcattn/Dialect/VCAttn/IR/VCAttn.h"
#include "vcattn/Dialect/VCAttn/IR/VCAttnShapes.h"
#include "vcattn/Target/Schedules.h"
#include "vcattn/Target/TargetInfo.h"

using namespace mlir;
using namespace vcattn;

LogicalResult PackValuesOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location>,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  auto type = cast<RankedTensorType>(adaptor.getCodes().getType());
  TokenShape shape = TokenShape::get(type, adaptor.getLayout());
  int64_t rows = ShapedType::isDynamic(shape.dim) ? ShapedType::kDynamic
                                                  : getValueRows(shape.dim);
  types.push_back(RankedTensorType::get(
      {shape.batch, shape.heads, ceilDivSize(shape.tokens, kBlockTokens), rows,
       kBlockTokens},
      type.getElementType()));
  return success();
}

LogicalResult PackMeansOp::inferReturnTypes(MLIRContext *context,
                                            std::optional<Location>,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  auto type = cast<RankedTensorType>(adaptor.getMeans().getType());
  types.push_back(
      RankedTensorType::get({type.getDimSize(0), type.getDimSize(1),
                             ceilDivSize(type.getDimSize(2), kMeanBlocks),
                             ceilDivSize(type.getDimSize(3), kCoreEdge),
                             kMeanBlocks / kCoreEdge, kCoreEdge, kCoreEdge},
                            Float16Type::get(context)));
  return success();
}

LogicalResult PackMeansOp::verify() {
  int64_t dim = cast<RankedTensorType>(getMeans().getType()).getDimSize(3);
  if (ShapedType::isDynamic(dim))
    return emitOpError("value dimension must be static, got ")
           << getMeans().getType();
  auto means = cast<RankedTensorType>(getMeans().getType());
  return verifyShape(*this, "value scale", getValueScale().getType(),
                     {means.getDimSize(0), means.getDimSize(1), dim});
}

/// Checks every size against those of query, key and value.
static LogicalResult verifyPackedShapes(PackedAttentionOp op) {
  auto type = [](Value value) { return cast<ShapedType>(value.getType()); };
  TokenShape q = TokenShape::get(type(op.getQuery()), op.getLayout());
  TokenShape k = TokenShape::get(type(op.getKey()), op.getLayout());
  int64_t tiles = ceilDivSize(k.tokens, kBlockTokens);
  int64_t dim = type(op.getOuts()[0]).getShape().back();
  int64_t rows =
      ShapedType::isDynamic(dim) ? ShapedType::kDynamic : getValueRows(dim);
  if (!agree(q.dim, k.dim))
    return op.emitOpError("head dimensions of query (")
           << q.dim << ") and key (" << k.dim << ") differ";
  if (!ShapedType::isDynamic(q.heads) && !ShapedType::isDynamic(k.heads) &&
      (k.heads == 0 ? q.heads != 0 : q.heads % k.heads != 0))
    return op.emitOpError("query heads (")
           << q.heads << ") must be a multiple of key heads (" << k.heads
           << ")";
  SmallVector<int64_t> result(4), lse = {q.batch, q.heads, q.tokens};
  result[kBatchDim] = q.batch;
  result[getHeadsDim(op.getLayout())] = q.heads;
  result[getTokensDim(op.getLayout())] = q.tokens;
  result[kChannelDim] = dim;
  if (int64_t split = op.getSplitKeys())
    for (SmallVector<int64_t> *shape : {&result, &lse})
      shape->insert(shape->begin(), ceilDivSize(k.tokens, split));
  struct Operand {
    StringRef name;
    Value value;
    SmallVector<int64_t> shape;
  };
  SmallVector<Operand> operands = {
      {"query scale", op.getQueryScale(), {q.batch, q.heads, q.tokens}},
      {"key scale",
       op.getKeyScale(),
       {q.batch, k.heads, tiles, kKeyScaleGroups}},
      {"value", op.getValue(), {q.batch, k.heads, tiles, rows, kBlockTokens}},
      {"value scale", op.getValueScale(), {q.batch, k.heads, dim}},
      {"means",
       op.getMeans(),
       {q.batch, k.heads, ceilDivSize(tiles, kMeanBlocks),
        ceilDivSize(dim, kCoreEdge), kMeanBlocks / kCoreEdge, kCoreEdge,
        kCoreEdge}},
      {"output", op.getOuts()[0], result}};
  if (failed(verifyMasks(op, {op.getMask(), op.getLengths(), op.getBlockMask()},
                         q, k)))
    return failure();
  if (Value out = op.getLseOut())
    operands.push_back({"log-sum-exp", out, lse});
  for (const Operand &x : operands)
    if (failed(verifyShape(op, x.name, x.value.getType(), x.shape)))
      return failure();
  return success();
}

LogicalResult PackedAttentionOp::verify() {
  auto type = [](Value value) { return cast<ShapedType>(value.getType()); };
  if (getOuts().empty() || getOuts().size() > 3)
    return emitOpError("takes an output and, if wanted, a log-sum-exp and room "
                       "for totals, got ")
           << getOuts().size();
  const int64_t isSplit = getSplitKeys() != 0;
  struct Operand {
    StringRef name;
    Value value;
    int64_t rank;
  };
  for (const Operand &x :
       {Operand{"query", getQuery(), 4},
        Operand{"query scale", getQueryScale(), 3}, Operand{"key", getKey(), 4},
        Operand{"key scale", getKeyScale(), 4}, Operand{"value", getValue(), 5},
        Operand{"value scale", getValueScale(), 3},
        Operand{"means", getMeans(), 7},
        Operand{"output", getOuts()[0], 4 + isSplit}})
    if (type(x.value).getRank() != x.rank)
      return emitOpError() << x.name << " must have rank " << x.rank << ", got "
                           << x.value.getType();
  for (const Operand &x :
       {Operand{"mask", getMask(), 4}, Operand{"lengths", getLengths(), 1},
        Operand{"block mask", getBlockMask(), 4}})
    if (x.value && type(x.value).getRank() != x.rank)
      return emitOpError() << x.name << " must have rank " << x.rank << ", got "
                           << x.value.getType();
  for (Value out : getOuts().drop_front())
    if ((out == getTotalsOut() ? out != getOuts().back()
                               : type(out).getRank() != 3 + isSplit) ||
        !type(out).getElementType().isF32())
      return emitOpError("log-sum-exp must be f32 of rank ")
             << 3 + isSplit
             << " and room for totals f32 of rank 2, in this order, got "
             << out.getType();
  if (type(getQuery()).getElementType() != type(getKey()).getElementType())
    return emitOpError("query and key must be codes of one format, got ")
           << type(getQuery()).getElementType() << " and "
           << type(getKey()).getElementType();
  if (getSplitKeys() % kMeanKeys != 0)
    return emitOpError("split_keys must be a multiple of ")
           << kMeanKeys << ", got " << getSplitKeys();
  if (failed(verifyPackedShapes(*this)))
    return failure();
  int64_t headDim = type(getQuery()).getDimSize(kChannelDim);
  int64_t valueDim = type(getOuts()[0]).getShape().back();
  if (failed(
          verifySchedule(*this, getTarget(), getSchedule(), headDim, valueDim)))
    return failure();
  SmallVector<int64_t> wanted = getTotalsShape(
      *lookupTarget(getTarget().getChip()), getSchedule(), headDim, valueDim);
  if (!getTotalsOut())
    return wanted.empty() ? success()
                          : emitOpError("needs room for totals as an output");
  if (wanted.empty())
    return emitOpError("keeps totals in shared memory, no output is for them");
  return verifyShape(*this, "room for totals", getTotalsOut().getType(),
                     wanted);
}

/// The output after the first that is, or is not, of rank 2.
static Value findOut(PackedAttentionOp op, bool isTotals) {
  for (Value out : op.getOuts().drop_front())
    if ((cast<ShapedType>(out.getType()).getRank() == 2) == isTotals)
      return out;
  return {};
}

Value PackedAttentionOp::getLseOut() { return findOut(*this, false); }
Value PackedAttentionOp::getTotalsOut() { return findOut(*this, true); }

void PackedAttentionOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  // On tensors the op is pure; on memrefs it reads its inputs and writes outs.
  auto outs = getOutsMutable();
  for (OpOperand &operand : getOperation()->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    bool isOut =
        llvm::any_of(outs, [&](OpOperand &out) { return &out == &operand; });
    if (isOut)
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
    else
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
  }
}

LogicalResult EncodeTensorMapOp::verify() {
  auto type = cast<MemRefType>(getSource().getType());
  if (type.getRank() < 1 || type.getRank() > 5)
    return emitOpError("a tensor map has 1 to 5 dimensions, got ") << type;
  if (static_cast<int64_t>(getBox().size()) != type.getRank())
    return emitOpError("box has ")
           << getBox().size() << " sizes for a memref of rank "
           << type.getRank();
  for (int64_t size : getBox())
    if (size < 1 || size > 256)
      return emitOpError("box sizes must be in [1, 256], got ") << size;
  return success();
}
