//===- Kernels.cpp - From LLVM IR to PTX ----------------------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM's optimizer does not run on kernels: they come out of MLIR as they are
// meant, and what it would do to a kernel that is scheduled by hand is not
// wanted. The code generator's own passes run at -O3.
//
//===----------------------------------------------------------------------===//

#include "LLVMDiagnostics.h"
#include "mlir/IR/Diagnostics.h"
#include "vcattn/Target/Emit.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace vcattn;

/// The PTX version that brought each chip, so that the oldest driver which can
/// run it also takes its PTX.
static StringRef getPTXFeature(StringRef chip) {
  return llvm::StringSwitch<StringRef>(chip)
      .Case("sm_90a", "+ptx80")
      .Case("sm_100a", "+ptx86")
      .Case("sm_120a", "+ptx87")
      .Case("sm_103a", "+ptx88")
      .Default("");
}

static FailureOr<std::unique_ptr<llvm::TargetMachine>>
createTargetMachine(StringRef chip, Location loc) {
  static bool initialized = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    // Shared memory has 32-bit addresses; with 64 bits each one that a kernel
    // computes is widened. The target offers this as a global option only.
    auto &known = llvm::cl::getRegisteredOptions();
    if (auto option = known.find("nvptx-short-ptr"); option != known.end())
      static_cast<llvm::cl::opt<bool> *>(option->second)->setValue(true);
    return true;
  }();
  (void)initialized;
  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string error;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return emitError(loc, "this LLVM has no NVPTX target: ") << error;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, chip, getPTXFeature(chip), options, std::nullopt, std::nullopt,
      llvm::CodeGenOptLevel::Aggressive));
}

/// Splits a load or store of a vector that is less aligned than the vector is
/// long into accesses of elements: the code generator would go through local
/// memory. Where neighbours turn out to be aligned, it joins them again.
static void splitUnaligned(llvm::Instruction &access,
                           const llvm::DataLayout &layout) {
  auto *load = dyn_cast<llvm::LoadInst>(&access);
  auto *store = dyn_cast<llvm::StoreInst>(&access);
  if ((!load && !store) || access.isVolatile() || access.isAtomic())
    return;
  auto *type = dyn_cast<llvm::FixedVectorType>(llvm::getLoadStoreType(&access));
  llvm::Align alignment = llvm::getLoadStoreAlignment(&access);
  if (!type || alignment.value() >= layout.getTypeStoreSize(type))
    return;
  llvm::Type *element = type->getElementType();
  uint64_t bytes = layout.getTypeStoreSize(element);
  if (layout.getTypeSizeInBits(element) != 8 * bytes)
    return;
  llvm::IRBuilder<> builder(&access);
  llvm::Value *pointer = llvm::getLoadStorePointerOperand(&access);
  llvm::Value *vector =
      load ? llvm::PoisonValue::get(type) : store->getValueOperand();
  for (unsigned i = 0; i < type->getNumElements(); ++i) {
    llvm::Value *address =
        builder.CreateConstInBoundsGEP1_64(element, pointer, i);
    llvm::Align aligned = llvm::commonAlignment(alignment, i * bytes);
    if (load)
      vector = builder.CreateInsertElement(
          vector, builder.CreateAlignedLoad(element, address, aligned), i);
    else
      builder.CreateAlignedStore(builder.CreateExtractElement(vector, i),
                                 address, aligned);
  }
  if (load)
    load->replaceAllUsesWith(vector);
  access.eraseFromParent();
}

LogicalResult vcattn::prepareKernels(llvm::Module &module, StringRef chip,
                                     Location loc) {
  FailureOr<std::unique_ptr<llvm::TargetMachine>> machine =
      createTargetMachine(chip, loc);
  if (failed(machine))
    return failure();
  module.setTargetTriple((*machine)->getTargetTriple());
  module.setDataLayout((*machine)->createDataLayout());
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction :
         llvm::make_early_inc_range(llvm::instructions(function))) {
      auto *call = dyn_cast<llvm::CallBase>(&instruction);
      if (!call)
        splitUnaligned(instruction, module.getDataLayout());
      if (!call || !call->isInlineAsm())
        continue;
      // Warp-wide instructions must not be duplicated into branches. The LLVM
      // dialect's inline_asm cannot carry the attribute.
      call->setConvergent();
      function.setConvergent();
    }
  return success();
}

FailureOr<std::string> vcattn::emitPTX(llvm::Module &module, StringRef chip,
                                       Location loc) {
  FailureOr<std::unique_ptr<llvm::TargetMachine>> machine =
      createTargetMachine(chip, loc);
  if (failed(machine))
    return failure();
  LLVMDiagnostics diagnostics(module.getContext(), loc);
  SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if ((*machine)->addPassesToEmitFile(passes, stream, nullptr,
                                      llvm::CodeGenFileType::AssemblyFile))
    return emitError(loc, "LLVM cannot emit PTX for ") << chip;
  passes.run(module);
  if (diagnostics.hadError())
    return failure();
  return text.str().str();
}
