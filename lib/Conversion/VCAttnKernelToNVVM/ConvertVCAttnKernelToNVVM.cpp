//===- ConvertVCAttnKernelToNVVM.cpp - Kernel ops for Hopper --------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelToNVVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/Transforms/FuncConversions.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "vcattn/Conversion/KernelAttributes.h"
#include "vcattn/Conversion/Passes.h"

namespace vcattn {
#define GEN_PASS_DEF_CONVERTVCATTNKERNELTONVVM
#include "vcattn/Conversion/Passes.h.inc"
} // namespace vcattn

using namespace mlir;
using namespace vcattn;

static void addTypeConversions(TypeConverter &converter) {
  converter.addConversion([](Type type) { return type; });
  converter.addConversion([](FragmentType type) { return getRegisters(type); });
  converter.addConversion(
      [](InFlightType type) { return getRegisters(type.getFragment()); });
  converter.addConversion(
      [](TileType type) { return IntegerType::get(type.getContext(), 32); });
  converter.addConversion([](PipelineType type) {
    auto pointer = LLVM::LLVMPointerType::get(type.getContext(), kSharedSpace);
    return LLVM::LLVMStructType::getLiteral(
        type.getContext(),
        {pointer, pointer, IntegerType::get(type.getContext(), 32)});
  });
  converter.addConversion([](TensorMapType type) {
    return LLVM::LLVMPointerType::get(type.getContext());
  });
}

/// Reports what wgmma cannot do, or what its fragments cannot hold.
static LogicalResult checkOp(Operation *op) {
  auto checkRows = [&](Type type) -> LogicalResult {
    if (auto flight = dyn_cast<InFlightType>(type))
      type = flight.getFragment();
    auto fragment = dyn_cast<FragmentType>(type);
    if (fragment && fragment.getRows() != kConsumerRows)
      return op->emitOpError("a consumer has ")
             << kConsumerRows << " rows on this target, got " << fragment;
    return success();
  };
  for (Type type : op->getResultTypes())
    if (failed(checkRows(type)))
      return failure();

  TileType operand;
  if (auto scores = dyn_cast<MmaScoresOp>(op))
    operand = scores.getKeys().getType();
  else if (auto values = dyn_cast<MmaValuesOp>(op))
    operand = values.getValues().getType();
  if (operand && operand.getShape()[1] % kStepBytes != 0)
    return op->emitOpError("reads ")
           << kStepBytes << " columns at a time on this target, got "
           << operand;

  if (auto fill = dyn_cast<FillOp>(op)) {
    FragmentType type = fill.getResult().getType();
    if (type.getRole() == FragmentRole::Maxima &&
        !(fill.getValue().isInfinity() && fill.getValue().isNegative()))
      return op->emitOpError("fills maxima with -inf only");
    if (!fill.getResult().getType().getElementType().isF32() &&
        !fill.getValue().isZero())
      return op->emitOpError("fills packed registers with zero only");
  }
  return success();
}

namespace {
struct ConvertVCAttnKernelToNVVM
    : vcattn::impl::ConvertVCAttnKernelToNVVMBase<ConvertVCAttnKernelToNVVM> {
  using ConvertVCAttnKernelToNVVMBase::ConvertVCAttnKernelToNVVMBase;

  void runOnOperation() override {
    SharedMemoryLayout layout;
    for (auto kernel : getOperation().getOps<gpu::GPUFuncOp>())
      if (failed(prepare(kernel, layout)))
        return signalPassFailure();

    MLIRContext *context = &getContext();
    TypeConverter converter;
    addTypeConversions(converter);
    RewritePatternSet patterns(context);
    populatePipelinePatterns(converter, patterns, layout, debugWaits);
    populateCopyPatterns(converter, patterns);
    populateMmaPatterns(converter, patterns);
    populateMaskPatterns(converter, patterns);
    populateRowPatterns(converter, patterns);
    populateCastPatterns(converter, patterns);
    populateAccumulatorPatterns(converter, patterns);
    populateEpiloguePatterns(converter, patterns);
    populateFunctionOpInterfaceTypeConversionPattern<gpu::GPUFuncOp>(patterns,
                                                                     converter);
    ConversionTarget target(*context);
    target.addIllegalDialect<VCAttnDialect>();
    target.addLegalDialect<arith::ArithDialect, LLVM::LLVMDialect,
                           memref::MemRefDialect, NVVM::NVVMDialect>();
    target.addDynamicallyLegalOp<gpu::GPUFuncOp>([&](gpu::GPUFuncOp kernel) {
      return converter.isSignatureLegal(kernel.getFunctionType());
    });
    scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                         target);
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(patterns))))
      signalPassFailure();
  }

  /// Lays out a kernel's shared memory and notes which arguments are tensor
  /// maps, which become mere pointers.
  LogicalResult prepare(gpu::GPUFuncOp kernel, SharedMemoryLayout &layout) {
    int64_t bytes = layout.add(kernel);
    if (auto has = kernel->getAttrOfType<IntegerAttr>(kSharedMemoryAttrName))
      if (bytes > has.getInt())
        return kernel.emitOpError("needs ")
               << bytes << " bytes of shared memory, is launched with "
               << has.getInt();
    WalkResult checked = kernel.walk([](Operation *op) -> WalkResult {
      return isa<VCAttnDialect>(op->getDialect()) ? checkOp(op) : success();
    });
    if (checked.wasInterrupted())
      return failure();
    SmallVector<int32_t> maps;
    for (auto [i, type] : llvm::enumerate(kernel.getArgumentTypes()))
      if (isa<TensorMapType>(type))
        maps.push_back(i);
    if (maps.empty() && bytes == 0)
      return success();
    ++numKernels;
    if (!maps.empty())
      kernel->setAttr(kTensorMapArgumentsAttrName,
                      DenseI32ArrayAttr::get(&getContext(), maps));
    return success();
  }
};
} // namespace
