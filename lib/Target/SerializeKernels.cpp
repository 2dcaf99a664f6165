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

/// Calls that no device has would only fail when the kernels are loaded.
static LogicalResult verifyNoExternals(gpu::GPUModuleOp module) {
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
    for (auto module :
         llvm::make_early_inc_range(getOperation().getOps<gpu::GPUModuleOp>()))
      if (failed(serialize(module)))
        return signalPassFailure();
  }

private:
  LogicalResult serialize(gpu::GPUModuleOp module) {
    Location loc = module.getLoc();
    llvm::LLVMContext context;
    if (failed(verifyNoExternals(module)))
      return failure();
    FailureOr<std::unique_ptr<llvm::Module>> ir =
        vcattn::translateToLLVMIR(module, context);
    if (failed(ir) || failed(vcattn::prepareKernels(**ir, chip, loc)))
      return failure();
    FailureOr<std::string> image = vcattn::emitPTX(**ir, chip, loc);
    if (failed(image))
      return failure();
    if (format == "cubin") {
      FailureOr<std::string> program = vcattn::findPtxas(ptxas, loc);
      if (failed(program))
        return failure();
      FailureOr<vcattn::Cubin> cubin =
          vcattn::assemblePTX(*image, chip, *program, loc);
      if (failed(cubin))
        return failure();
      for (const vcattn::KernelResources &kernel :
           report ? cubin->kernels : std::vector<vcattn::KernelResources>())
        emitRemark(loc) << kernel.name << ": " << kernel.registers
                        << " registers, " << kernel.stackBytes
                        << " bytes of stack, " << kernel.spillStoreBytes
                        << " bytes spilled";
      image = std::move(cubin->bytes);
    }
    numBytes += image->size();
    ++numModules;
    replaceByBinary(module, *image);
    return success();
  }

  void replaceByBinary(gpu::GPUModuleOp module, StringRef image) {
    OpBuilder builder(module);
    MLIRContext *context = &getContext();
    bool isBinary = format == "cubin";
    auto target = NVVM::NVVMTargetAttr::get(
        context, /*optLevel=*/3, "nvptx64-nvidia-cuda", chip, /*features=*/"",
        /*flags=*/nullptr, /*files=*/nullptr, /*verifyTarget=*/false);
    Attribute object = gpu::ObjectAttr::get(
        context, target,
        isBinary ? gpu::CompilationTarget::Binary
                 : gpu::CompilationTarget::Assembly,
        builder.getStringAttr(image), /*properties=*/nullptr,
        /*kernels=*/nullptr);
    gpu::BinaryOp::create(builder, module.getLoc(), module.getName(),
                          /*offloadingHandler=*/nullptr,
                          ArrayRef<Attribute>(object));
    module.erase();
  }
};
} // namespace
