//===- Translation.cpp - From the LLVM dialect to LLVM IR -----------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LLVMDiagnostics.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "vcattn/Target/Emit.h"
#include "llvm/IR/Module.h"

using namespace mlir;

void vcattn::registerTranslations(DialectRegistry &registry) {
  registerBuiltinDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}

FailureOr<std::unique_ptr<llvm::Module>>
vcattn::translateToLLVMIR(Operation *op, llvm::LLVMContext &context) {
  LLVMDiagnostics diagnostics(context, op->getLoc());
  std::unique_ptr<llvm::Module> module =
      translateModuleToLLVMIR(op, context, "vcattn");
  if (!module)
    return op->emitError("cannot be translated to LLVM IR");
  return module;
}
