//===- Compile.cpp - From a module to an artefact -------------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "vcattn/Target/Compile.h"

#include "Header.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Pass/PassManager.h"
#include "vcattn/Dialect/VCAttn/IR/EntryFunctions.h"
#include "vcattn/InitAll.h"
#include "vcattn/Pipelines/Pipelines.h"
#include "vcattn/Target/TargetInfo.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

using namespace mlir;
using namespace vcattn;

/// Host code around launches runs on any machine of the architecture.
static constexpr llvm::StringLiteral kPortableCPU = "x86-64";

void vcattn::registerCompiler(DialectRegistry &registry) {
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  vcattn::registerAllDialects(registry);
  registerTranslations(registry);
}

static std::string print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  stream << "\n";
  return text;
}

static std::string print(const llvm::Module &module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  return text;
}

static LogicalResult verifyOptions(ModuleOp module,
                                   const CompileOptions &options) {
  bool isCPU = options.target == "cpu";
  if (!isCPU && !lookupTarget(options.target)) {
    std::vector<std::string> known = {"cpu"};
    for (const TargetInfo &target : getTargets())
      known.push_back(target.chip.str());
    return emitError(module.getLoc(), "unknown target '")
           << options.target << "'; there are " << llvm::join(known, ", ");
  }
  if (isCPU &&
      (options.emit == EmitKind::PTX || options.emit == EmitKind::Cubin))
    return emitError(module.getLoc(), "the CPU has no PTX and no cubins; emit "
                                      "mlir, llvm, obj or so");
  if (isCPU && (!options.schedule.empty() || !options.scheduleFile.empty()))
    return emitError(module.getLoc(), "the CPU's code has no schedule");
  return success();
}

static LogicalResult verifyNames(ModuleOp module,
                                 ArrayRef<FunctionInfo> functions) {
  for (const FunctionInfo &function : functions)
    if (!isCIdentifier(function.name))
      return emitError(module.getLoc(), "the function name '")
             << function.name << "' cannot be declared in C";
  return success();
}

/// Takes an object, or links it, and writes its header.
static LogicalResult finish(ModuleOp module, const CompileOptions &options,
                            std::string object, Artifact &artifact) {
  artifact.header = emitHeader(artifact.functions, options.target);
  if (options.emit == EmitKind::Object) {
    artifact.bytes = std::move(object);
    return success();
  }
  FailureOr<std::string> library =
      linkSharedLibrary(object, options.compiler, module.getLoc());
  if (failed(library))
    return failure();
  artifact.bytes = std::move(*library);
  return success();
}

//===----------------------------------------------------------------------===//
// CPU
//===----------------------------------------------------------------------===//

static std::vector<RankedTensorType> getTensors(TypeRange types) {
  std::vector<RankedTensorType> tensors;
  for (Type type : types)
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      tensors.push_back(tensor);
  return tensors;
}

static LogicalResult compileForCPU(ModuleOp module,
                                   const CompileOptions &options,
                                   Artifact &artifact) {
  Location loc = module.getLoc();
  for (func::FuncOp function : getEntryFunctions(module)) {
    FunctionInfo info;
    info.name = function.getSymName().str();
    info.inputs = getTensors(function.getArgumentTypes());
    info.results = getTensors(function.getResultTypes());
    if (info.inputs.size() != function.getNumArguments() ||
        info.results.size() != function.getNumResults())
      return function.emitError("takes or gives something that is no ranked "
                                "tensor, which no header can declare");
    artifact.functions.push_back(std::move(info));
  }
  PassManager passes(module.getContext());
  ToCPUOptions pipeline;
  pipeline.method = options.runMethod;
  setOptions(pipeline, options.method);
  buildToCPUPipeline(passes, pipeline);
  if (failed(passes.run(module)))
    return failure();
  if (options.emit == EmitKind::MLIR) {
    artifact.bytes = print(module);
    return success();
  }
  llvm::LLVMContext context;
  FailureOr<std::unique_ptr<llvm::Module>> ir =
      translateToLLVMIR(module, context);
  if (failed(ir))
    return failure();
  if (options.emit == EmitKind::LLVM) {
    if (failed(prepareHost(**ir, options.cpu, /*optimize=*/true, loc)))
      return failure();
    artifact.bytes = print(**ir);
    return success();
  }
  FailureOr<std::string> object =
      emitObject(**ir, options.cpu, /*optimize=*/true, loc);
  if (failed(verifyNames(module, artifact.functions)) || failed(object))
    return failure();
  return finish(module, options, std::move(*object), artifact);
}

//===----------------------------------------------------------------------===//
// GPU
//===----------------------------------------------------------------------===//

/// What an entry function is to its callers, before it is lowered to LLVM.
static FunctionInfo describeEntry(func::FuncOp entry, ModuleOp module) {
  FunctionInfo info;
  info.name = entry.getSymName().str();
  for (unsigned i = 0, e = entry.getNumArguments() - 2; i < e; ++i) {
    auto memref = cast<MemRefType>(entry.getArgumentTypes()[i]);
    auto type =
        RankedTensorType::get(memref.getShape(), memref.getElementType());
    bool isResult = static_cast<bool>(entry.getArgAttr(i, kResultAttrName));
    (isResult ? info.results : info.inputs).push_back(type);
  }
  auto size = module.lookupSymbol<func::FuncOp>(
      (entry.getSymName() + kWorkspaceSizeSuffix).str());
  IntegerAttr value;
  if (size &&
      matchPattern(size.getBody().front().getTerminator()->getOperand(0),
                   m_Constant(&value)))
    info.workspaceSize = value.getInt();
  return info;
}

/// Compiles the kernels to what is asked for.
static LogicalResult emitKernels(ModuleOp module, const CompileOptions &options,
                                 Artifact &artifact) {
  auto modules = module.getOps<gpu::GPUModuleOp>();
  if (modules.empty())
    return emitError(module.getLoc(), "there are no kernels to emit");
  gpu::GPUModuleOp kernels = *modules.begin();
  if (options.emit == EmitKind::LLVM) {
    llvm::LLVMContext context;
    FailureOr<std::unique_ptr<llvm::Module>> ir =
        translateToLLVMIR(kernels, context);
    if (failed(ir) ||
        failed(prepareKernels(**ir, options.target, kernels.getLoc())))
      return failure();
    artifact.bytes = print(**ir);
    return success();
  }
  FailureOr<KernelImage> image = compileKernels(
      kernels, options.target, options.emit == EmitKind::Cubin, options.ptxas);
  if (failed(image))
    return failure();
  artifact.bytes = std::move(image->bytes);
  artifact.kernels = std::move(image->kernels);
  return success();
}

static LogicalResult emitHostCode(ModuleOp module,
                                  const CompileOptions &options,
                                  Artifact &artifact) {
  for (auto kernels :
       llvm::make_early_inc_range(module.getOps<gpu::GPUModuleOp>())) {
    FailureOr<KernelImage> image = compileKernels(
        kernels, options.target, !options.embedPTX, options.ptxas);
    if (failed(image))
      return failure();
    llvm::append_range(artifact.kernels, image->kernels);
    embedKernels(kernels, options.target, *image);
  }
  PassManager passes(module.getContext());
  buildToRuntimePipeline(passes, ToRuntimeOptions());
  if (failed(passes.run(module)))
    return failure();
  llvm::LLVMContext context;
  FailureOr<std::unique_ptr<llvm::Module>> ir =
      translateToLLVMIR(module, context);
  if (failed(ir))
    return failure();
  FailureOr<std::string> object =
      emitObject(**ir, kPortableCPU, /*optimize=*/true, module.getLoc());
  if (failed(object))
    return failure();
  return finish(module, options, std::move(*object), artifact);
}

static LogicalResult compileForGPU(ModuleOp module,
                                   const CompileOptions &options,
                                   Artifact &artifact) {
  PassManager passes(module.getContext());
  ToNVVMOptions pipeline;
  pipeline.target = options.target;
  pipeline.schedule = options.schedule;
  pipeline.scheduleFile = options.scheduleFile;
  pipeline.printSchedule = options.printSchedule;
  pipeline.method = options.runMethod;
  setOptions(pipeline, options.method);
  pipeline.splitKeys = options.splitKeys;
  pipeline.debugWaits = options.debugWaits;
  buildToNVVMPipeline(passes, pipeline);
  if (failed(passes.run(module)))
    return failure();
  if (options.emit == EmitKind::MLIR)
    artifact.bytes = print(module);
  auto entries = module.lookupSymbol<ModuleOp>(kEntriesModuleName);
  if (!entries)
    entries = module;
  for (func::FuncOp entry : getEntryFunctions(entries))
    artifact.functions.push_back(describeEntry(entry, entries));
  switch (options.emit) {
  case EmitKind::MLIR:
    return success();
  case EmitKind::LLVM:
  case EmitKind::PTX:
  case EmitKind::Cubin:
    return emitKernels(entries, options, artifact);
  case EmitKind::Object:
  case EmitKind::SharedLibrary:
    if (failed(verifyNames(module, artifact.functions)))
      return failure();
    return emitHostCode(entries, options, artifact);
  }
  llvm_unreachable("all kinds are handled");
}

FailureOr<Artifact> vcattn::compileModule(ModuleOp module,
                                          const CompileOptions &options) {
  Artifact artifact;
  if (failed(verifyOptions(module, options)) ||
      failed(options.target == "cpu"
                 ? compileForCPU(module, options, artifact)
                 : compileForGPU(module, options, artifact)))
    return failure();
  return artifact;
}
