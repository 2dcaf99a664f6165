//===- PipelinesToNVVM.cpp - Roles, barriers and turns --------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A pipeline becomes a struct of two pointers to shared memory, its stages and
// its barriers, full ones first, then empty ones; and of its stages' tile.
//
//===----------------------------------------------------------------------===//

#include "KernelToNVVM.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "vcattn/Target/Schedules.h"

using namespace mlir;
using namespace vcattn;

static constexpr StringLiteral kSharedMemoryName = "vcattn_shared_memory";

/// The start of the kernel's dynamic shared memory.
static Value getSharedMemory(KernelBuilder &b, Operation *op) {
  auto module = op->getParentOfType<gpu::GPUModuleOp>();
  auto pointer = LLVM::LLVMPointerType::get(b.getContext(), kSharedSpace);
  if (!module.lookupSymbol(kSharedMemoryName)) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    // gpu.dynamic_shared_memory would be aligned to 16 bytes only; swizzled
    // tiles start on 1024.
    LLVM::GlobalOp::create(b, LLVM::LLVMArrayType::get(b.getI8Type(), 0),
                           /*isConstant=*/false, LLVM::Linkage::External,
                           kSharedMemoryName, Attribute(),
                           /*alignment=*/1024, kSharedSpace);
  }
  return LLVM::AddressOfOp::create(b, pointer, kSharedMemoryName);
}

/// The tile that starts at a pointer.
static Value getTile(KernelBuilder &b, Value pointer) {
  Value address = LLVM::PtrToIntOp::create(b, b.getI32Type(), pointer);
  return LLVM::UDivOp::create(b, address, b.i32(kTileUnit));
}

Stage::Stage(KernelBuilder &b, PipelineType type, Value pipeline, Value index) {
  Value stages = b.i32(type.getStages());
  Value stage = LLVM::URemOp::create(b, index, stages);
  parity =
      LLVM::AndOp::create(b, LLVM::UDivOp::create(b, index, stages), b.i32(1));
  SmallVector<Value> pointers = b.unpack(pipeline);
  int64_t bytes = type.getTile().getBytes();
  data = b.offset(pointers[0], LLVM::MulOp::create(b, stage, b.i32(bytes)));
  tile = LLVM::AddOp::create(
      b, pointers[2], LLVM::MulOp::create(b, stage, b.i32(bytes / kTileUnit)));
  full = b.offset(pointers[1],
                  LLVM::MulOp::create(b, stage, b.i32(kBarrierBytes)));
  empty = b.offset(full, type.getStages() * kBarrierBytes);
}

namespace {
struct SharedTilePattern : OpConversionPattern<SharedTileOp> {
  SharedTilePattern(const TypeConverter &converter, MLIRContext *context,
                    const SharedMemoryLayout &layout)
      : OpConversionPattern(converter, context), layout(layout) {}

  LogicalResult
  matchAndRewrite(SharedTileOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    KernelBuilder b(op.getLoc(), rewriter);
    auto range = layout.lookup(op);
    rewriter.replaceOp(
        op, getTile(b, b.offset(getSharedMemory(b, op), range.data)));
    return success();
  }

  const SharedMemoryLayout &layout;
};

struct CreatePipelinePattern : OpConversionPattern<CreatePipelineOp> {
  CreatePipelinePattern(const TypeConverter &converter, MLIRContext *context,
                        const SharedMemoryLayout &layout)
      : OpConversionPattern(converter, context), layout(layout) {}

  LogicalResult
  matchAndRewrite(CreatePipelineOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    KernelBuilder b(op.getLoc(), rewriter);
    auto range = layout.lookup(op);
    Value shared = getSharedMemory(b, op);
    Value barriers = b.offset(shared, range.barriers);
    Value first =
        LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, b.thread(), b.i32(0));
    int64_t stages = op.getResult().getType().getStages();
    scf::IfOp::create(b, first, [&](OpBuilder &nested, Location loc) {
      KernelBuilder inner(loc, nested);
      for (int64_t i = 0; i < 2 * stages; ++i)
        NVVM::MBarrierInitOp::create(
            inner, TypeRange(),
            ValueRange{inner.offset(barriers, i * kBarrierBytes),
                       inner.i32(i < stages ? 1 : op.getConsumers())});
      scf::YieldOp::create(inner);
    });
    Value data = b.offset(shared, range.data);
    rewriter.replaceOp(op, b.pack({data, barriers, getTile(b, data)}));
    return success();
  }

  const SharedMemoryLayout &layout;
};

struct WarpSpecializePattern : OpConversionPattern<WarpSpecializeOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(WarpSpecializeOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    KernelBuilder b(op.getLoc(), rewriter);
    // What the threads before this have set up has to be seen by all, and the
    // barriers by the copy unit too.
    NVVM::FenceMbarrierInitOp::create(b);
    NVVM::BarrierOp::create(b);
    // Taking lane 0's number tells ptxas that it is the same in a warp.
    Value group = LLVM::LShrOp::create(b, b.thread(), b.i32(7));
    group = NVVM::ShflOp::create(b, b.getI32Type(), b.i32(-1), group, b.i32(0),
                                 b.i32(31), NVVM::ShflKind::idx, UnitAttr());
    Value isProducer =
        LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, group, b.i32(0));
    auto roles = scf::IfOp::create(b, isProducer, /*withElseRegion=*/true);

    b.setInsertionPointToStart(&roles.getThenRegion().front());
    NVVM::SetMaxRegisterOp::create(b, op.getProducerRegisters(),
                                   NVVM::SetMaxRegisterAction::decrease);
    auto one = scf::IfOp::create(b, b.isLeader(), /*withElseRegion=*/false);
    rewriter.inlineBlockBefore(&op.getProducer().front(),
                               one.getThenRegion().front().getTerminator());

    b.setInsertionPointToStart(&roles.getElseRegion().front());
    NVVM::SetMaxRegisterOp::create(b, op.getConsumerRegisters(),
                                   NVVM::SetMaxRegisterAction::increase);
    Value consumer = LLVM::SubOp::create(b, group, b.i32(1));
    rewriter.inlineBlockBefore(&op.getConsumer().front(),
                               roles.getElseRegion().front().getTerminator(),
                               consumer);
    rewriter.eraseOp(op);
    return success();
  }
};

struct AcquirePattern : OpConversionPattern<AcquireOp> {
  AcquirePattern(const TypeConverter &converter, MLIRContext *context,
                 bool debugWaits)
      : OpConversionPattern(converter, context), debugWaits(debugWaits) {}

  LogicalResult
  matchAndRewrite(AcquireOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    KernelBuilder b(op.getLoc(), rewriter);
    Stage stage(b, op.getPipeline().getType(), adaptor.getPipeline(),
                adaptor.getIndex());
    // Use n waits for the n-th release; the wait for the zeroth, on the parity
    // opposite to a fresh barrier's, passes.
    Value before = LLVM::XOrOp::create(b, stage.parity, b.i32(1));
    emitWait(b, stage.empty, before, debugWaits);
    rewriter.eraseOp(op);
    return success();
  }

  bool debugWaits;
};

struct WaitTilePattern : OpConversionPattern<WaitTileOp> {
  WaitTilePattern(const TypeConverter &converter, MLIRContext *context,
                  bool debugWaits)
      : OpConversionPattern(converter, context), debugWaits(debugWaits) {}

  LogicalResult
  matchAndRewrite(WaitTileOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    KernelBuilder b(op.getLoc(), rewriter);
    Stage stage(b, op.getPipeline().getType(), adaptor.getPipeline(),
                adaptor.getIndex());
    emitWait(b, stage.full, stage.parity, debugWaits, adaptor.getFull());
    rewriter.replaceOp(op, stage.tile);
    return success();
  }

  bool debugWaits;
};

struct TestTilePattern : OpConversionPattern<TestTileOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(TestTileOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    KernelBuilder b(op.getLoc(), rewriter);
    Stage stage(b, op.getPipeline().getType(), adaptor.getPipeline(),
                adaptor.getIndex());
    rewriter.replaceOpWithNewOp<NVVM::MBarrierTestWaitOp>(
        op, b.getI1Type(), stage.full, stage.parity);
    return success();
  }
};

struct ReleasePattern : OpConversionPattern<ReleaseOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(ReleaseOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    KernelBuilder b(op.getLoc(), rewriter);
    Stage stage(b, op.getPipeline().getType(), adaptor.getPipeline(),
                adaptor.getIndex());
    Value arrives = b.isLeader();
    if (adaptor.getCondition())
      arrives = LLVM::AndOp::create(b, arrives, adaptor.getCondition());
    // Predicated, where the NVVM op would need a branch around it.
    b.assembly(
        "@$1 mbarrier.arrive.shared::cta.b64 _, [$0];", {},
        {LLVM::PtrToIntOp::create(b, b.getI32Type(), stage.empty), arrives});
    rewriter.eraseOp(op);
    return success();
  }
};

struct TileRowsPattern : OpConversionPattern<TileRowsOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(TileRowsOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    KernelBuilder b(op.getLoc(), rewriter);
    int64_t units = op.getResult().getType().getBytes() / kTileUnit;
    Value distance = LLVM::MulOp::create(b, adaptor.getPart(), b.i32(units));
    rewriter.replaceOpWithNewOp<LLVM::AddOp>(op, adaptor.getTile(), distance);
    return success();
  }
};

struct RecomputePattern : OpConversionPattern<RecomputeOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(RecomputeOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    KernelBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(op, b.assembly("", adaptor.getInput()));
    return success();
  }
};

/// Named barriers 1 and 2 are the turns of consumers 0 and 1; each is met by
/// the consumer that waits and the one that lets it go.
template <typename Op>
struct TurnPattern : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;

  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    KernelBuilder b(op.getLoc(), rewriter);
    Value consumer = adaptor.getConsumer(),
          threads = b.i32(2 * kWarpgroupThreads);
    if constexpr (std::is_same_v<Op, TakeTurnOp>)
      NVVM::BarrierOp::create(b, TypeRange(),
                              LLVM::AddOp::create(b, consumer, b.i32(1)),
                              threads, NVVM::BarrierReductionAttr(), Value());
    else
      NVVM::BarrierArriveOp::create(
          b, LLVM::SubOp::create(b, b.i32(2), consumer), threads);
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void vcattn::populatePipelinePatterns(const TypeConverter &converter,
                                      RewritePatternSet &patterns,
                                      const SharedMemoryLayout &layout,
                                      bool debugWaits) {
  MLIRContext *context = patterns.getContext();
  patterns.add<SharedTilePattern, CreatePipelinePattern>(converter, context,
                                                         layout);
  patterns.add<AcquirePattern, WaitTilePattern>(converter, context, debugWaits);
  patterns.add<WarpSpecializePattern, TestTilePattern, ReleasePattern,
               TileRowsPattern, RecomputePattern, TurnPattern<TakeTurnOp>,
               TurnPattern<PassTurnOp>>(converter, context);
}
