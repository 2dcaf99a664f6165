//===- Host.cpp - From LLVM IR to objects and libraries -------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llvm/TargetParser/Host.h"
#include "LLVMDiagnostics.h"
#include "TemporaryFile.h"
#include "mlir/IR/Diagnostics.h"
#include "vcattn/Target/Emit.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace vcattn;

/// The archive of the runtime, in the compiler's own binary: an artefact can be
/// linked wherever the compiler runs, be it a tool or a Python module.
__asm__(".section .rodata\n"
        ".hidden vcattn_runtime_archive_begin\n"
        ".globl vcattn_runtime_archive_begin\n"
        "vcattn_runtime_archive_begin:\n"
        ".incbin \"" VCATTN_RUNTIME_ARCHIVE "\"\n"
        ".hidden vcattn_runtime_archive_end\n"
        ".globl vcattn_runtime_archive_end\n"
        "vcattn_runtime_archive_end:\n"
        ".previous\n");
extern "C" const char vcattn_runtime_archive_begin[];
extern "C" const char vcattn_runtime_archive_end[];

static FailureOr<std::unique_ptr<llvm::TargetMachine>>
createTargetMachine(StringRef cpu, Location loc) {
  static bool initialized = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)initialized;
  llvm::Triple triple(llvm::sys::getDefaultTargetTriple());
  std::string error;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return emitError(loc, "this LLVM cannot compile for ")
           << triple.str() << ": " << error;
  std::string features;
  if (cpu == "native") {
    cpu = llvm::sys::getHostCPUName();
    for (const auto &feature : llvm::sys::getHostCPUFeatures())
      features += (features.empty() ? "" : ",") +
                  std::string(feature.second ? "+" : "-") +
                  feature.first().str();
  }
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  std::unique_ptr<llvm::MCSubtargetInfo> processors(
      target->createMCSubtargetInfo(triple, "", ""));
  if (!processors->isCPUStringValid(cpu))
    return emitError(loc, "unknown CPU '") << cpu << "' for " << triple.str();
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, cpu, features, options, llvm::Reloc::PIC_, std::nullopt,
      llvm::CodeGenOptLevel::Aggressive));
}

LogicalResult vcattn::prepareHost(llvm::Module &module, StringRef cpu,
                                  bool optimize, Location loc) {
  FailureOr<std::unique_ptr<llvm::TargetMachine>> machine =
      createTargetMachine(cpu, loc);
  if (failed(machine))
    return failure();
  module.setTargetTriple((*machine)->getTargetTriple());
  module.setDataLayout((*machine)->createDataLayout());
  module.setPICLevel(llvm::PICLevel::BigPIC);
  if (!optimize)
    return success();
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(machine->get());
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3)
      .run(module, modules);
  return success();
}

FailureOr<std::string> vcattn::emitObject(llvm::Module &module, StringRef cpu,
                                          bool optimize, Location loc) {
  FailureOr<std::unique_ptr<llvm::TargetMachine>> machine =
      createTargetMachine(cpu, loc);
  if (failed(machine) || failed(prepareHost(module, cpu, optimize, loc)))
    return failure();
  LLVMDiagnostics diagnostics(module.getContext(), loc);
  SmallString<0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if ((*machine)->addPassesToEmitFile(passes, stream, nullptr,
                                      llvm::CodeGenFileType::ObjectFile))
    return emitError(loc, "LLVM cannot emit an object file for ")
           << (*machine)->getTargetTriple().str();
  passes.run(module);
  if (diagnostics.hadError())
    return failure();
  return bytes.str().str();
}

static FailureOr<std::string> findCompiler(StringRef compiler, Location loc) {
  if (!compiler.empty()) {
    auto found = llvm::sys::findProgramByName(compiler);
    if (found && llvm::sys::fs::can_execute(*found))
      return *found;
    return emitError(loc, "cannot run the C compiler ") << compiler;
  }
  for (StringRef name : {"clang-22", "clang", "cc", "gcc"})
    if (auto found = llvm::sys::findProgramByName(name))
      return *found;
  return emitError(loc, "cannot find a C compiler to link a shared library; "
                        "looked in PATH for clang-22, clang, cc and gcc. Name "
                        "one with --cc=, or emit obj");
}

FailureOr<std::string>
vcattn::linkSharedLibrary(StringRef object, StringRef compiler, Location loc) {
  FailureOr<std::string> program = findCompiler(compiler, loc);
  if (failed(program))
    return failure();
  StringRef archive(vcattn_runtime_archive_begin,
                    vcattn_runtime_archive_end - vcattn_runtime_archive_begin);
  FailureOr<TemporaryFile> input = TemporaryFile::create("o", object, loc),
                           runtime = TemporaryFile::create("a", archive, loc),
                           output = TemporaryFile::create("so", "", loc);
  if (failed(input) || failed(runtime) || failed(output))
    return failure();
  // The whole runtime, although not every library uses all of it: where two are
  // loaded into one program, the symbols of the first serve both, so that there
  // is one vcattn_last_error.
  if (failed(runProgram(*program,
                        {"-shared", "-fPIC", "-o", output->getPath().str(),
                         input->getPath().str(), "-Wl,--whole-archive",
                         runtime->getPath().str(), "-Wl,--no-whole-archive",
                         "-ldl", "-lpthread", "-lm"},
                        loc)))
    return failure();
  return output->read(loc);
}
