//===- GPUToRuntime.cpp - Entry functions on the runtime ------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Host code only computes sizes and launches: errors are kept in the call's
// state and make what follows do nothing, so no control flow is needed for
// them.
//
//===----------------------------------------------------------------------===//

#include "EntryWrapper.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "vcattn/Conversion/Passes.h"
#include "vcattn/Dialect/VCAttn/IR/EntryFunctions.h"
#include "llvm/ADT/StringSet.h"

namespace vcattn {
#define GEN_PASS_DEF_CONVERTGPUTOVCATTNRUNTIME
#include "vcattn/Conversion/Passes.h.inc"
} // namespace vcattn

using namespace mlir;
using namespace vcattn;

/// Bytes of a tensor map, and what they are aligned to.
static constexpr int64_t kMapBytes = 128, kMapAlignment = 64;

namespace {
/// A pattern that emits calls of the runtime.
template <typename SourceOp>
class RuntimePattern : public ConvertOpToLLVMPattern<SourceOp> {
public:
  RuntimePattern(const LLVMTypeConverter &converter, RuntimeBuilder &runtime)
      : ConvertOpToLLVMPattern<SourceOp>(converter, /*benefit=*/10),
        runtime(runtime) {}

protected:
  /// The state of the call: what is the stream before the conversion.
  static Value getCall(Operation *op) {
    auto function = op->getParentOfType<FunctionOpInterface>();
    return function.getFunctionBody().front().getArguments().back();
  }

  RuntimeBuilder &runtime;
};

struct LaunchOpLowering : public RuntimePattern<gpu::LaunchFuncOp> {
  using RuntimePattern::RuntimePattern;

  LogicalResult
  matchAndRewrite(gpu::LaunchFuncOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto binary = SymbolTable::lookupNearestSymbolFrom<gpu::BinaryOp>(
        op, op.getKernelModuleName());
    Value kernel =
        runtime.kernel(rewriter, loc, binary, op.getKernelName().getValue());
    // A tensor map is passed by value: the address of its bytes is what the
    // driver wants. Everything else is stored to have an address.
    SmallVector<Value> addresses;
    SmallVector<Value> mapped;
    for (auto [operand, value] :
         llvm::zip_equal(op.getKernelOperands(), adaptor.getKernelOperands())) {
      if (isa<TensorMapType>(operand.getType())) {
        addresses.push_back(value);
        continue;
      }
      mapped.clear();
      if (auto memref = dyn_cast<MemRefType>(operand.getType()))
        MemRefDescriptor::unpack(rewriter, loc, value, memref, mapped);
      else
        mapped.push_back(value);
      for (Value member : mapped) {
        Value slot = runtime.stackSlot(rewriter, loc, member.getType());
        LLVM::StoreOp::create(rewriter, loc, member, slot);
        addresses.push_back(slot);
      }
    }
    Value parameters =
        runtime.stackSlot(rewriter, loc, runtime.getPointerType(),
                          std::max<int64_t>(1, addresses.size()));
    for (auto [i, address] : llvm::enumerate(addresses)) {
      Value slot = LLVM::GEPOp::create(
          rewriter, loc, runtime.getPointerType(), runtime.getPointerType(),
          parameters, ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
      LLVM::StoreOp::create(rewriter, loc, address, slot);
    }
    Value shared = adaptor.getDynamicSharedMemorySize();
    if (!shared)
      shared = runtime.constant32(rewriter, loc, 0);
    runtime.call(rewriter, loc, "launch",
                 {getCall(op), kernel, adaptor.getGridSizeX(),
                  adaptor.getGridSizeY(), adaptor.getGridSizeZ(),
                  adaptor.getBlockSizeX(), adaptor.getBlockSizeY(),
                  adaptor.getBlockSizeZ(), shared, parameters});
    rewriter.eraseOp(op);
    return success();
  }
};

/// Address of a memref's first element.
static Value getData(OpBuilder &builder, Location loc,
                     const LLVMTypeConverter &converter, Value descriptor,
                     MemRefType type) {
  return MemRefDescriptor(descriptor).bufferPtr(builder, loc, converter, type);
}

struct EncodeTensorMapOpLowering : public RuntimePattern<EncodeTensorMapOp> {
  using RuntimePattern::RuntimePattern;

  LogicalResult
  matchAndRewrite(EncodeTensorMapOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<MemRefType>(op.getSource().getType());
    MemRefDescriptor descriptor(adaptor.getSource());
    Type i64 = runtime.getI64(), pointer = runtime.getPointerType();
    int64_t rank = type.getRank();
    Value map =
        runtime.stackSlot(rewriter, loc, i64, kMapBytes / 8, kMapAlignment);
    Value sizes = runtime.stackSlot(rewriter, loc, i64, rank);
    Value strides = runtime.stackSlot(rewriter, loc, i64, rank);
    for (int64_t i = 0; i < rank; ++i) {
      auto store = [&](Value array, Value value) {
        Value slot = LLVM::GEPOp::create(
            rewriter, loc, pointer, i64, array,
            ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
        LLVM::StoreOp::create(rewriter, loc, value, slot);
      };
      store(sizes, descriptor.size(rewriter, loc, i));
      store(strides, descriptor.stride(rewriter, loc, i));
    }
    int64_t bytes = type.getElementTypeBitWidth() / 8;
    runtime.call(
        rewriter, loc, "encode_tensor_map",
        {getCall(op), map,
         getData(rewriter, loc, *getTypeConverter(), adaptor.getSource(), type),
         runtime.constant32(rewriter, loc, bytes),
         runtime.constant32(rewriter, loc, rank), sizes, strides,
         runtime.array(rewriter, loc, op.getBox())});
    rewriter.replaceOp(op, map);
    return success();
  }
};

struct CopyOpLowering : public RuntimePattern<memref::CopyOp> {
  using RuntimePattern::RuntimePattern;

  LogicalResult
  matchAndRewrite(memref::CopyOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto source = cast<MemRefType>(op.getSource().getType());
    auto target = cast<MemRefType>(op.getTarget().getType());
    MemRefDescriptor descriptor(adaptor.getSource());
    int64_t width = source.getElementType().isIndex()
                        ? 64
                        : source.getElementTypeBitWidth();
    Value bytes = runtime.constant64(rewriter, loc, llvm::divideCeil(width, 8));
    for (int64_t i = 0; i < source.getRank(); ++i)
      bytes = LLVM::MulOp::create(rewriter, loc, bytes,
                                  descriptor.size(rewriter, loc, i));
    runtime.call(rewriter, loc, "copy",
                 {getCall(op),
                  getData(rewriter, loc, *getTypeConverter(),
                          adaptor.getTarget(), target),
                  getData(rewriter, loc, *getTypeConverter(),
                          adaptor.getSource(), source),
                  bytes});
    rewriter.eraseOp(op);
    return success();
  }
};

struct AssertOpLowering : public RuntimePattern<cf::AssertOp> {
  using RuntimePattern::RuntimePattern;

  LogicalResult
  matchAndRewrite(cf::AssertOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value condition =
        LLVM::ZExtOp::create(rewriter, loc, runtime.getI32(), adaptor.getArg());
    runtime.call(
        rewriter, loc, "assert",
        {getCall(op), condition, runtime.string(rewriter, loc, op.getMsg())});
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

/// Moves `op`, and what it takes, before `point` in the entry block. False if
/// something on the way cannot be moved.
static bool hoist(Operation *op, Operation *point) {
  if (op->getBlock() == point->getBlock() && op->isBeforeInBlock(point))
    return true;
  for (Value operand : op->getOperands()) {
    Operation *producer = operand.getDefiningOp();
    if (producer && (!isPure(producer) || producer->getNumRegions() != 0 ||
                     !hoist(producer, point)))
      return false;
    if (!producer &&
        cast<BlockArgument>(operand).getOwner() != point->getBlock())
      return false;
  }
  op->moveBefore(point);
  return true;
}

/// Assertions of an entry function speak of its arguments: they come before
/// anything is launched.
static void hoistAssertions(func::FuncOp entry) {
  Block &block = entry.getBody().front();
  SmallVector<cf::AssertOp> assertions;
  entry.walk([&](cf::AssertOp op) { assertions.push_back(op); });
  OpBuilder builder = OpBuilder::atBlockBegin(&block);
  // A place to move things to.
  Operation *point =
      ub::PoisonOp::create(builder, entry.getLoc(), builder.getI1Type());
  for (cf::AssertOp op : assertions)
    (void)hoist(op, point);
  point->erase();
}

namespace {
struct GPUToRuntime
    : public vcattn::impl::ConvertGPUToVCAttnRuntimeBase<GPUToRuntime> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    MLIRContext *context = &getContext();
    LowerToLLVMOptions options(context);
    options.overrideIndexBitwidth(64);
    LLVMTypeConverter converter(context, options);
    converter.addConversion([](TensorMapType type) -> Type {
      return LLVM::LLVMPointerType::get(type.getContext());
    });
    RuntimeBuilder runtime(module);

    llvm::StringSet<> converted;
    for (func::FuncOp entry : getEntryFunctions(module)) {
      EntryPair pair = {entry,
                        module.lookupSymbol<func::FuncOp>(
                            (entry.getSymName() + kWorkspaceSizeSuffix).str())};
      if (failed(verifyHostCode(entry)) ||
          failed(wrapEntry(pair, runtime, converter)))
        return signalPassFailure();
      hoistAssertions(entry);
      converted.insert(pair.entry.getSymName());
      converted.insert(pair.size.getSymName());
      ++numEntries;
    }
    if (converted.empty())
      return;

    RewritePatternSet patterns(context);
    arith::populateArithToLLVMConversionPatterns(converter, patterns);
    cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
    populateFuncToLLVMConversionPatterns(converter, patterns);
    populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns);
    patterns.add<LaunchOpLowering, EncodeTensorMapOpLowering, CopyOpLowering,
                 AssertOpLowering>(converter, runtime);
    // Functions that are no entries stay as they are.
    ConversionTarget target(*context);
    target.addLegalDialect<LLVM::LLVMDialect>();
    target.addLegalOp<ModuleOp>();
    target.markUnknownOpDynamicallyLegal([&](Operation *op) {
      auto function = dyn_cast<FunctionOpInterface>(op);
      if (!function)
        function = op->getParentOfType<FunctionOpInterface>();
      return !function || !converted.contains(function.getName());
    });
    if (failed(applyPartialConversion(module, target, std::move(patterns))))
      return signalPassFailure();
    for (auto binary :
         llvm::make_early_inc_range(module.getOps<gpu::BinaryOp>()))
      if (SymbolTable::symbolKnownUseEmpty(binary, module))
        binary.erase();
    module->removeAttr(gpu::GPUDialect::getContainerModuleAttrName());
  }

private:
  /// Refuses what the host cannot do with memory of the device, and launches
  /// that the runtime does not make.
  LogicalResult verifyHostCode(func::FuncOp entry) {
    auto result = entry.walk([&](Operation *op) -> WalkResult {
      if (isa<memref::LoadOp, memref::StoreOp, linalg::LinalgOp>(op))
        return op->emitOpError("reads or writes memory of the device on the "
                               "host; it must be in a kernel");
      if (isa<memref::AllocOp, memref::AllocaOp, memref::GetGlobalOp>(op))
        return op->emitOpError("is memory of the host, which kernels cannot "
                               "reach");
      if (auto copy = dyn_cast<memref::CopyOp>(op))
        return verifyCopy(copy);
      if (auto launch = dyn_cast<gpu::LaunchFuncOp>(op)) {
        ++numLaunches;
        return verifyLaunch(launch);
      }
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  static WalkResult verifyCopy(memref::CopyOp copy) {
    for (Value side : copy->getOperands()) {
      auto type = dyn_cast<MemRefType>(side.getType());
      if (!type || !type.getLayout().isIdentity())
        return copy.emitOpError("is strided; vcattn-forall-to-gpu-launch makes "
                                "it a kernel");
    }
    return WalkResult::advance();
  }

  static WalkResult verifyLaunch(gpu::LaunchFuncOp launch) {
    if (launch.hasClusterSize())
      return launch.emitOpError("has a cluster size; the runtime takes a "
                                "kernel's own (nvvm.cluster_dim)");
    if (launch.getAsyncToken() || !launch.getAsyncDependencies().empty() ||
        launch.getAsyncObject())
      return launch.emitOpError("is asynchronous; everything runs in order on "
                                "the caller's stream");
    if (!SymbolTable::lookupNearestSymbolFrom<gpu::BinaryOp>(
            launch, launch.getKernelModuleName()))
      return launch.emitOpError("launches a kernel that is not compiled yet; "
                                "run vcattn-serialize-kernels");
    return WalkResult::advance();
  }
};
} // namespace
