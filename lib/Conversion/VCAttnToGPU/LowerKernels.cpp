//===- LowerKernels.cpp - A gpu.module to the NVVM and LLVM dialects ------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream's convert-gpu-to-nvvm turns mathematics into calls of libdevice and
// refuses the LLVM intrinsics that the GPU has. Here each operation becomes the
// instruction that docs/Numerics.md names, and one that the GPU has not got is
// an error.
//
//===----------------------------------------------------------------------===//

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/LLVMCommon/VectorPattern.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "vcattn/Conversion/Passes.h"

namespace vcattn {
#define GEN_PASS_DEF_VCATTNLOWERKERNELS
#include "vcattn/Conversion/Passes.h.inc"
} // namespace vcattn

using namespace mlir;

namespace {
/// An f32 operation to the approximate instruction of that name, which is what
/// the GPU has; denormals stay.
template <typename SourceOp>
struct ApproximateOpLowering : public ConvertOpToLLVMPattern<SourceOp> {
  ApproximateOpLowering(const LLVMTypeConverter &converter, StringRef intrinsic)
      : ConvertOpToLLVMPattern<SourceOp>(converter, /*benefit=*/10),
        intrinsic(intrinsic) {}

  LogicalResult
  matchAndRewrite(SourceOp op, typename SourceOp::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!op.getType().isF32())
      return rewriter.notifyMatchFailure(op, "only f32 has the instruction");
    rewriter.replaceOpWithNewOp<LLVM::CallIntrinsicOp>(
        op, op.getType(), rewriter.getStringAttr(intrinsic),
        adaptor.getOperands());
    return success();
  }

  StringRef intrinsic;
};

struct LowerKernels
    : public vcattn::impl::VCAttnLowerKernelsBase<LowerKernels> {
  void runOnOperation() override {
    gpu::GPUModuleOp module = getOperation();
    MLIRContext *context = &getContext();
    LowerToLLVMOptions options(context);
    options.overrideIndexBitwidth(64);
    LLVMTypeConverter converter(context, options);
    configureGpuToNVVMTypeConverter(converter);

    RewritePatternSet patterns(context);
    arith::populateArithToLLVMConversionPatterns(converter, patterns);
    cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
    populateFuncToLLVMConversionPatterns(converter, patterns);
    populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns);
    ub::populateUBToLLVMConversionPatterns(converter, patterns);
    populateVectorToLLVMConversionPatterns(converter, patterns);
    populateGpuToNVVMConversionPatterns(converter, patterns);
    // Before those that call libdevice.
    populateMathToLLVMConversionPatterns(converter, patterns,
                                         /*approximateLog1p=*/false,
                                         /*benefit=*/5);
    patterns.add<ApproximateOpLowering<math::Exp2Op>>(
        converter, "llvm.nvvm.ex2.approx.f32");
    patterns.add<ApproximateOpLowering<math::Log2Op>>(converter,
                                                      "llvm.nvvm.lg2.approx.f");

    LLVMConversionTarget target(*context);
    target.addLegalDialect<NVVM::NVVMDialect>();
    target.addIllegalDialect<gpu::GPUDialect>();
    target.addLegalOp<gpu::GPUModuleOp>();
    // No instruction, and libdevice is not linked.
    target.addIllegalOp<LLVM::ExpOp, LLVM::Exp2Op, LLVM::LogOp, LLVM::Log2Op,
                        LLVM::Log10Op, LLVM::PowOp, LLVM::SinOp, LLVM::CosOp,
                        LLVM::FRemOp>();
    if (failed(verifyMath(module)) ||
        failed(applyPartialConversion(module, target, std::move(patterns))))
      return signalPassFailure();
    numKernels += llvm::count_if(
        module.getOps<LLVM::LLVMFuncOp>(), [](LLVM::LLVMFuncOp function) {
          return function->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName());
        });
  }

private:
  /// Refuses mathematics for which the GPU has no instruction.
  static LogicalResult verifyMath(gpu::GPUModuleOp module) {
    auto result = module.walk([](Operation *op) -> WalkResult {
      if (!isa_and_nonnull<math::MathDialect>(op->getDialect()))
        return WalkResult::advance();
      if (isa<math::FmaOp, math::AbsFOp, math::AbsIOp, math::RoundEvenOp,
              math::FloorOp, math::CeilOp, math::TruncOp, math::SqrtOp,
              math::CopySignOp, math::CountLeadingZerosOp, math::CtPopOp,
              math::CountTrailingZerosOp>(op))
        return WalkResult::advance();
      if (isa<math::Exp2Op, math::Log2Op>(op) &&
          op->getResult(0).getType().isF32())
        return WalkResult::advance();
      return op->emitOpError("has no instruction on the GPU for ")
             << op->getResult(0).getType();
    });
    return failure(result.wasInterrupted());
  }
};
} // namespace
