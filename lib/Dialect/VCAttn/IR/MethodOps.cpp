//===- MethodOps.cpp - Types and verifiers of the method ops --------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "vcattn/Dialect/VCAttn/IR/VCAttn.h"
#include "vcattn/Dialect/VCAttn/IR/VCAttnShapes.h"
#include "llvm/Support/MathExtras.h"

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
  if (!llvm::isPowerOf2_64(dim))
    return emitOpError("head dimension must be a power of two, got ") << dim;
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
  auto type = cast<RankedTensorType>(getPermutation().getType());
  if (failed(verifyCompatibleShape(type.getShape(),
                                   {shape.batch, shape.heads, shape.tokens})))
    return emitOpError("permutation must be [batch, heads, tokens] of the "
                       "input, got ")
           << type << " for " << getInput().getType();
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
  if (!getBound())
    return success();
  if (getGranularity() != Granularity::Channel)
    return emitOpError("bound is for granularity channel");
  ArrayRef<int64_t> means =
      cast<RankedTensorType>(getBound().getType()).getShape();
  if (failed(verifyCompatibleShape(
          means, {shape.batch, shape.heads, means[2], shape.dim})))
    return emitOpError("bound must be [batch, heads, blocks, dim] of the "
                       "input, got ")
           << getBound().getType() << " for " << getInput().getType();
  return success();
}
