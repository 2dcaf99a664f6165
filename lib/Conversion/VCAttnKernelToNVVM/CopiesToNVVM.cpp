//===- CopiesToNVVM.cpp - Filling stages by the TMA unit ------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The producer says how many bytes a stage expects, then starts the copy, which
// counts them on the stage's barrier.
//
//===----------------------------------------------------------------------===//

#include "KernelToNVVM.h"

using namespace mlir;
using namespace vcattn;

/// A copy's destination, which PTX before 8.6 takes only as an address in the
/// cluster's shared memory; the block's own is part of it.
static Value getDestination(KernelBuilder &b, Value pointer) {
  constexpr unsigned kClusterSpace = 7;
  auto type = LLVM::LLVMPointerType::get(b.getContext(), kClusterSpace);
  return LLVM::AddrSpaceCastOp::create(b, type, pointer);
}

namespace {
struct LoadTilePattern : OpConversionPattern<LoadTileOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(LoadTileOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    KernelBuilder b(op.getLoc(), rewriter);
    PipelineType type = op.getPipeline().getType();
    Stage stage(b, type, adaptor.getPipeline(), adaptor.getIndex());
    NVVM::MBarrierArriveExpectTxOp::create(
        b, TypeRange(),
        ValueRange{stage.full, b.i32(type.getTile().getBytes())});
    // PTX counts a tensor map's dimensions from the innermost one.
    SmallVector<Value> coordinates(llvm::reverse(adaptor.getCoordinates()));
    NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
        b, getDestination(b, stage.data), adaptor.getMap(), coordinates,
        stage.full,
        /*im2colOffsets=*/ValueRange(), /*multicastMask=*/Value(),
        /*l2CacheHint=*/Value(), NVVM::TMALoadMode::TILE, /*isCTAOnly=*/false,
        /*group=*/NVVM::CTAGroupKindAttr(), /*predicate=*/Value());
    rewriter.eraseOp(op);
    return success();
  }
};

struct LoadBytesPattern : OpConversionPattern<LoadBytesOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(LoadBytesOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    KernelBuilder b(op.getLoc(), rewriter);
    PipelineType type = op.getPipeline().getType();
    Stage stage(b, type, adaptor.getPipeline(), adaptor.getIndex());
    Value bytes = b.i32(type.getTile().getBytes());
    NVVM::MBarrierArriveExpectTxOp::create(b, TypeRange(),
                                           ValueRange{stage.full, bytes});
    NVVM::CpAsyncBulkGlobalToSharedClusterOp::create(
        b, getDestination(b, stage.data),
        b.address(adaptor.getSource(), adaptor.getIndices()), stage.full, bytes,
        /*multicastMask=*/Value(), /*l2CacheHint=*/Value());
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void vcattn::populateCopyPatterns(const TypeConverter &converter,
                                  RewritePatternSet &patterns) {
  patterns.add<LoadTilePattern, LoadBytesPattern>(converter,
                                                  patterns.getContext());
}
