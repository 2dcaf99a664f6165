//===- CopiesToNVVM.cpp - Filling stages by the TMA unit ------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The producer says how many bytes a stage expects, then starts the copies (one
// per panel of columns and 256 rows), which count them on the stage's barrier.
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
    TileType tile = type.getTile();
    int64_t panelColumns = tile.getPanelColumns(), rows = tile.getCopyRows();
    int64_t copyBytes = tile.getPanelBytes() / tile.getShape()[0] * rows;
    for (int64_t panel = 0; panel < tile.getPanels(); ++panel)
      for (int64_t row = 0; row < tile.getShape()[0]; row += rows) {
        // PTX counts a tensor map's dimensions from the innermost one.
        SmallVector<Value> coordinates(llvm::reverse(adaptor.getCoordinates()));
        advance(b, coordinates, 0, panel * panelColumns);
        advance(b, coordinates, 1, row);
        int64_t offset = panel * tile.getPanelBytes() + row / rows * copyBytes;
        copy(b, adaptor.getMap(), coordinates, b.offset(stage.data, offset),
             stage.full);
      }
    rewriter.eraseOp(op);
    return success();
  }

private:
  static void advance(KernelBuilder &b, MutableArrayRef<Value> coordinates,
                      unsigned i, int64_t distance) {
    if (distance != 0)
      coordinates[i] = LLVM::AddOp::create(b, coordinates[i], b.i32(distance));
  }

  static void copy(KernelBuilder &b, Value map, ValueRange coordinates,
                   Value destination, Value barrier) {
    NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
        b, getDestination(b, destination), map, coordinates, barrier,
        /*im2colOffsets=*/ValueRange(), /*multicastMask=*/Value(),
        /*l2CacheHint=*/Value(), NVVM::TMALoadMode::TILE, /*isCTAOnly=*/false,
        /*group=*/NVVM::CTAGroupKindAttr(), /*predicate=*/Value());
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
