//===- MethodOps.cpp - Types and verifiers of the method ops --------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ShapeVerifier.h"
#include "mlir/IR/Matchers.h"
#include "vcattn/Dialect/VCAttn/IR/VCAttn.h"
#include "vcattn/Dialect/VCAttn/IR/VCAttnShapes.h"

using namespace mlir;
using namespace vcattn;

/// The type of `type` with FP32 elements.
static RankedTensorType asFloat32(Type type) {
  auto ranked = cast<RankedTensorType>(type);
  return ranked.clone(Float32Type::get(type.getContext()));
}

LogicalResult CenterKeysOp::inferReturnTypes(MLIRContext *context,
                                             std::optional<Location>,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  auto type = cast<RankedTensorType>(adaptor.getKey().getType());
  TokenShape shape = TokenShape::get(type, adaptor.getLayout());
  types.push_back(asFloat32(type));
  types.push_back(RankedTensorType::get({shape.batch, shape.heads, shape.dim},
                                        Float32Type::get(context)));
  return success();
}

LogicalResult CenterKeysOp::verify() {
  return verifyLengths(
      *this, getLengths(),
      cast<ShapedType>(getKey().getType()).getDimSize(kBatchDim));
}

LogicalResult
CompensateMeansOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                    Adaptor adaptor,
                                    SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getMeans().getType());
  return success();
}

LogicalResult CompensateMeansOp::verify() {
  TokenShape codes = TokenShape::get(
      cast<RankedTensorType>(getCodes().getType()), getLayout());
  if (failed(verifyShape(*this, "means", getMeans().getType(),
                         {codes.batch, codes.heads,
                          ceilDivSize(codes.tokens, kBlockTokens), codes.dim})))
    return failure();
  if (failed(verifyShape(*this, "value_scale", getValueScale().getType(),
                         {codes.batch, codes.heads, codes.dim})))
    return failure();
  return verifyLengths(*this, getLengths(), codes.batch);
}

LogicalResult CorrectLseOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location>,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getLse().getType());
  return success();
}

LogicalResult CorrectLseOp::verify() {
  TokenShape query = TokenShape::get(
      cast<RankedTensorType>(getQuery().getType()), getLayout());
  auto mean = cast<RankedTensorType>(getMean().getType());
  if (!std::isfinite(getScale().convertToDouble()))
    return emitOpError("scale must be finite");
  if (failed(verifyShape(*this, "lse", getLse().getType(),
                         {query.batch, query.heads, query.tokens})))
    return failure();
  int64_t heads = mean.getDimSize(1);
  if (failed(verifyShape(*this, "mean", mean, {query.batch, heads, query.dim})))
    return failure();
  if (!ShapedType::isDynamic(query.heads) && !ShapedType::isDynamic(heads) &&
      (heads == 0 ? query.heads != 0 : query.heads % heads != 0))
    return emitOpError("query heads (")
           << query.heads << ") must be a multiple of the mean's heads ("
           << heads << ")";
  return success();
}

LogicalResult MergeAttentionOp::verify() {
  auto partial = cast<RankedTensorType>(getPartial().getType());
  // Without its first dimension it is a tensor of tokens.
  TokenShape shape = TokenShape::get(
      partial.clone(partial.getShape().drop_front()), getLayout());
  SmallVector<int64_t> lse = {shape.batch, shape.heads, shape.tokens};
  SmallVector<int64_t> lses = {partial.getDimSize(0)};
  llvm::append_range(lses, lse);
  if (failed(
          verifyShape(*this, "partial lse", getPartialLse().getType(), lses)) ||
      failed(verifyShape(*this, "result", getResult().getType(),
                         partial.getShape().drop_front())))
    return failure();
  return getLse() ? verifyShape(*this, "lse", getLse().getType(), lse)
                  : success();
}

LogicalResult HadamardOp::inferReturnTypes(MLIRContext *,
                                           std::optional<Location>,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  types.push_back(asFloat32(adaptor.getInput().getType()));
  return success();
}

LogicalResult HadamardOp::verify() {
  int64_t dim =
      cast<RankedTensorType>(getInput().getType()).getDimSize(kChannelDim);
  if (ShapedType::isDynamic(dim))
    return emitOpError("head dimension must be static");
  return success();
}

LogicalResult ClusterOp::inferReturnTypes(MLIRContext *context,
                                          std::optional<Location>,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  auto type = cast<RankedTensorType>(adaptor.getValue().getType());
  TokenShape shape = TokenShape::get(type, adaptor.getLayout());
  types.push_back(RankedTensorType::get(
      {shape.batch, shape.heads, shape.tokens}, IntegerType::get(context, 32)));
  types.push_back(RankedTensorType::get(
      {shape.batch, shape.heads, static_cast<int64_t>(adaptor.getClusters()),
       shape.dim},
      Float32Type::get(context)));
  return success();
}

LogicalResult ClusterOp::verify() {
  return verifyLengths(
      *this, getLengths(),
      cast<ShapedType>(getValue().getType()).getDimSize(kBatchDim));
}

LogicalResult GatherTokensOp::inferReturnTypes(MLIRContext *,
                                               std::optional<Location>,
                                               Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getInput().getType());
  return success();
}

LogicalResult GatherTokensOp::verify() {
  TokenShape shape = TokenShape::get(
      cast<RankedTensorType>(getInput().getType()), getLayout());
  return verifyShape(*this, "permutation", getPermutation().getType(),
                     {shape.batch, shape.heads, shape.tokens});
}

OpFoldResult GatherTokensOp::fold(FoldAdaptor adaptor) {
  auto permutation =
      dyn_cast_if_present<DenseIntElementsAttr>(adaptor.getPermutation());
  if (!permutation)
    return {};
  int64_t tokens = permutation.getType().getShape().back(), next = 0;
  for (const APInt &token : permutation.getValues<APInt>()) {
    if (token != next)
      return {};
    next = next + 1 == tokens ? 0 : next + 1;
  }
  return getInput();
}

LogicalResult GatherMaskOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location>,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  auto mask = cast<RankedTensorType>(adaptor.getMask().getType());
  auto permutation = cast<RankedTensorType>(adaptor.getPermutation().getType());
  int64_t heads = permutation.getDimSize(1);
  if (!ShapedType::isDynamic(heads))
    heads *= adaptor.getGroup();
  types.push_back(mask.clone({permutation.getDimSize(0), heads,
                              mask.getDimSize(2), permutation.getDimSize(2)}));
  return success();
}

LogicalResult GatherMaskOp::verify() {
  auto mask = cast<RankedTensorType>(getMask().getType());
  auto result = cast<RankedTensorType>(getResult().getType());
  for (int64_t i : {0, 1, 3})
    if (mask.getDimSize(i) != 1 &&
        !agree(mask.getDimSize(i), result.getDimSize(i)))
      return emitOpError("mask dimension ")
             << i << " is " << mask.getDimSize(i) << ", expected 1 or "
             << result.getDimSize(i);
  return success();
}

LogicalResult BlockResidualOp::inferReturnTypes(MLIRContext *context,
                                                std::optional<Location>,
                                                Adaptor adaptor,
                                                SmallVectorImpl<Type> &types) {
  auto type = cast<RankedTensorType>(adaptor.getValue().getType());
  TokenShape shape = TokenShape::get(type, adaptor.getLayout());
  types.push_back(asFloat32(type));
  types.push_back(RankedTensorType::get(
      {shape.batch, shape.heads, ceilDivSize(shape.tokens, kBlockTokens),
       shape.dim},
      Float32Type::get(context)));
  return success();
}

LogicalResult BlockResidualOp::verify() {
  return verifyLengths(
      *this, getLengths(),
      cast<ShapedType>(getValue().getType()).getDimSize(kBatchDim));
}

/// Channels that share one micro scale, and codes in one byte, in E2M1.
static constexpr int64_t kMicroBlock = 16;
static constexpr int64_t kCodesPerByte = 2;

LogicalResult QuantizeOp::inferReturnTypes(MLIRContext *context,
                                           std::optional<Location>,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  auto type = cast<RankedTensorType>(adaptor.getInput().getType());
  TokenShape shape = TokenShape::get(type, adaptor.getLayout());
  Type f8 = Float8E4M3FNType::get(context);
  Format format = adaptor.getFormat();
  SmallVector<int64_t> codes(type.getShape());
  if (format == Format::E2M1 && !ShapedType::isDynamic(shape.dim))
    codes[kChannelDim] = shape.dim / kCodesPerByte;
  types.push_back(RankedTensorType::get(
      codes, format == Format::E4M3 ? f8 : IntegerType::get(context, 8)));

  SmallVector<int64_t> scales{shape.batch, shape.heads};
  switch (adaptor.getGranularity()) {
  case Granularity::Tensor:
    break;
  case Granularity::Token:
    scales.push_back(shape.tokens);
    break;
  case Granularity::Channel:
    scales.push_back(shape.dim);
    break;
  case Granularity::Block:
    scales.push_back(ceilDivSize(shape.tokens, adaptor.getBlockSize()));
    scales.push_back(adaptor.getGroups());
    break;
  }
  types.push_back(RankedTensorType::get(scales, Float32Type::get(context)));

  if (format == Format::E2M1) {
    SmallVector<int64_t> micro(type.getShape());
    if (!ShapedType::isDynamic(shape.dim))
      micro[kChannelDim] = shape.dim / kMicroBlock;
    types.push_back(RankedTensorType::get(micro, f8));
  }
  return success();
}

LogicalResult QuantizeOp::verify() {
  TokenShape shape = TokenShape::get(
      cast<RankedTensorType>(getInput().getType()), getLayout());
  if (getFormat() == Format::E2M1 &&
      (ShapedType::isDynamic(shape.dim) || shape.dim % kMicroBlock != 0))
    return emitOpError("f4E2M1FN needs a static dimension that is a multiple "
                       "of ")
           << kMicroBlock << ", got " << getInput().getType();
  if (getGranularity() != Granularity::Block && getGroups() != 1)
    return emitOpError("groups are for granularity block");
  if (getBlockSize() % (2 * getGroups()) != 0)
    return emitOpError("block_size (")
           << getBlockSize() << ") must be a multiple of 2 * groups ("
           << 2 * getGroups() << ")";
  if (failed(verifyLengths(*this, getLengths(), shape.batch)))
    return failure();
  if (!getBound())
    return success();
  if (getGranularity() != Granularity::Channel)
    return emitOpError("bound is for granularity channel");
  // How many blocks there are is nothing to this op: it takes a maximum.
  int64_t blocks = cast<RankedTensorType>(getBound().getType()).getDimSize(2);
  return verifyShape(*this, "bound", getBound().getType(),
                     {shape.batch, shape.heads, blocks, shape.dim});
}
