//===- SerializeKernels.cpp - Kernels to PTX or cubin ---------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "vcattn/Conversion/Passes.h"
#include "vcattn/Target/Emit.h"
#include "vcattn/Target/TargetInfo.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

namespace vcattn {
#define GEN_PASS_DEF_VCATTNSERIALIZEKERNELS
#include "vcattn/Conversion/Passes.h.inc"
} // namespace vcattn

using namespace mlir;

LogicalResult vcattn::verifyKernels(gpu::GPUModuleOp module) {
  auto result = module.walk([&](LLVM::CallOp call) -> WalkResult {
    std::optional<StringRef> callee = call.getCallee();
    if (!callee)
      return WalkResult::advance();
    auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(*callee);
    if (!function || function.isExternal())
      return call.emitError("a kernel calls '")
             << *callee << "', which the GPU does not have";
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

FailureOr<vcattn::KernelImage> vcattn::compileKernels(gpu::GPUModuleOp module,
                                                      StringRef chip,
                                                      bool toCubin,
                                                      StringRef ptxas) {
  Location loc = module.getLoc();
  llvm::LLVMContext context;
  if (failed(verifyKernels(module)))
    return failure();
  FailureOr<std::unique_ptr<llvm::Module>> ir =
      translateToLLVMIR(module, context);
  if (failed(ir) || failed(prepareKernels(**ir, chip, loc)))
    return failure();
  FailureOr<std::string> ptx = emitPTX(**ir, chip, loc);
  if (failed(ptx))
    return failure();
  if (!toCubin)
    return KernelImage{std::move(*ptx), false, {}};
  FailureOr<std::string> program = findPtxas(ptxas, loc);
  if (failed(program))
    return failure();
  FailureOr<Cubin> cubin = assemblePTX(*ptx, chip, *program, loc);
  if (failed(cubin))
    return failure();
  return KernelImage{std::move(cubin->bytes), true, std::move(cubin->kernels)};
}

void vcattn::embedKernels(gpu::GPUModuleOp module, StringRef chip,
                          const KernelImage &image) {
  OpBuilder builder(module);
  MLIRContext *context = module.getContext();
  auto target = NVVM::NVVMTargetAttr::get(
      context, /*optLevel=*/3, "nvptx64-nvidia-cuda", chip, /*features=*/"",
      /*flags=*/nullptr, /*files=*/nullptr, /*verifyTarget=*/false);
  Attribute object = gpu::ObjectAttr::get(
      context, target,
      image.isCubin ? gpu::CompilationTarget::Binary
                    : gpu::CompilationTarget::Assembly,
      builder.getStringAttr(image.bytes), /*properties=*/nullptr,
      /*kernels=*/nullptr);
  gpu::BinaryOp::create(builder, module.getLoc(), module.getName(),
                        /*offloadingHandler=*/nullptr,
                        ArrayRef<Attribute>(object));
  module.erase();
}

namespace {
struct SerializeKernels
    : public vcattn::impl::VCAttnSerializeKernelsBase<SerializeKernels> {
  using VCAttnSerializeKernelsBase::VCAttnSerializeKernelsBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<gpu::GPUDialect, LLVM::LLVMDialect, NVVM::NVVMDialect>();
    vcattn::registerTranslations(registry);
  }

  void runOnOperation() override {
    if (!vcattn::lookupTarget(chip) || (format != "ptx" && format != "cubin")) {
      getOperation().emitError("vcattn-serialize-kernels: needs a chip that "
                               "vcattn knows and the format ptx or cubin, got "
                               "chip '")
          << chip << "' and format '" << format << "'";
      return signalPassFailure();
    }
    for (auto module : llvm::make_early_inc_range(
             getOperation().getOps<gpu::GPUModuleOp>())) {
      FailureOr<vcattn::KernelImage> image =
          vcattn::compileKernels(module, chip, format == "cubin", ptxas);
      if (failed(image))
        return signalPassFailure();
      if (report)
        remark(module, *image);
      ++numModules;
      numBytes += image->bytes.size();
      vcattn::embedKernels(module, chip, *image);
    }
  }

private:
  static void remark(gpu::GPUModuleOp module,
                     const vcattn::KernelImage &image) {
    for (const vcattn::KernelResources &kernel : image.kernels)
      emitRemark(module.getLoc())
          << kernel.name << ": " << kernel.registers << " registers, "
          << kernel.stackBytes << " bytes of stack, " << kernel.spillStoreBytes
          << " bytes spilled";
  }
};
} // namespace
