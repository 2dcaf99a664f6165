//===- Cpu.cpp - Compile for this processor and call ----------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pipeline vcattn-to-cpu, then LLVM's JIT at -O3 for the host. Nothing may
// be contracted: the numerics contract says where an fma is.
//
//===----------------------------------------------------------------------===//

#include "Function.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "vcattn/Conversion/Passes.h"
#include "vcattn/Device/Descriptor.h"
#include "vcattn/Pipelines/Pipelines.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include <chrono>
#include <cstdlib>
#include <set>

using namespace mlir;
using namespace vcattn;
using namespace vcattn::run;

Function::~Function() = default;

namespace {
class CpuFunction : public Function {
public:
  llvm::Error compile(ModuleOp module, const Entry &entry,
                      const Options &options, MethodSummary &summary);
  llvm::Expected<double> call(ArrayRef<HostTensor> arguments,
                              MutableArrayRef<HostTensor> results) override;
  std::string getDeviceName() const override { return "CPU (" + cpu + ")"; }

private:
  llvm::Error lower(ModuleOp module, const Options &options,
                    MethodSummary &summary);

  Entry entry;
  std::string cpu;
  std::unique_ptr<ExecutionEngine> engine;
  /// Results are written to memrefs that the caller gives, not returned.
  bool resultsAreArguments = false;
};
} // namespace

static llvm::Error makeError(const llvm::Twine &text) {
  return llvm::createStringError(text);
}

llvm::Error CpuFunction::lower(ModuleOp module, const Options &options,
                               MethodSummary &summary) {
  auto function = module.lookupSymbol<func::FuncOp>(entry.name);
  function->setAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(),
                    UnitAttr::get(module.getContext()));
  PassManager passes(module.getContext());
  if (!options.runMethod)
    passes.addPass(createRaiseAttention()); // to be run exactly
  ToCPUOptions pipeline;
  pipeline.method = options.runMethod;
  setOptions(pipeline, options.method);
  buildToCPUPipeline(passes, pipeline);
  watchMethod(passes, summary);
  if (failed(passes.run(module)))
    return makeError("@" + entry.name + " was not compiled");
  return llvm::Error::success();
}

llvm::Error CpuFunction::compile(ModuleOp module, const Entry &theEntry,
                                 const Options &options,
                                 MethodSummary &summary) {
  entry = theEntry;
  if (llvm::Error error = lower(module, options, summary))
    return error;
  auto lowered = module.lookupSymbol<LLVM::LLVMFuncOp>(entry.name);
  if (!lowered)
    return makeError("the pipeline left no function @" + entry.name);
  resultsAreArguments =
      isa<LLVM::LLVMVoidType>(lowered.getFunctionType().getReturnType());

  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!builder)
    return builder.takeError();
  builder->setCodeGenOptLevel(llvm::CodeGenOptLevel::Aggressive);
  builder->getOptions().AllowFPOpFusion = llvm::FPOpFusion::Strict;
  cpu = builder->getCPU();
  auto machine = builder->createTargetMachine();
  if (!machine)
    return machine.takeError();
  auto optimize = makeOptimizingTransformer(/*optLevel=*/3, /*sizeLevel=*/0,
                                            machine->get());
  ExecutionEngineOptions engineOptions;
  engineOptions.transformer = optimize;
  engineOptions.jitCodeGenOptLevel = llvm::CodeGenOptLevel::Aggressive;
  auto created =
      ExecutionEngine::create(module, engineOptions, std::move(*machine));
  if (!created)
    return created.takeError();
  engine = std::move(*created);
  // Machine code is made at the first look-up; a call should not pay for it.
  auto address = engine->lookupPacked("_mlir_ciface_" + entry.name);
  return address ? llvm::Error::success() : address.takeError();
}

/// Copies a result, whatever its strides, into `tensor`.
static void copyResult(const Descriptor &descriptor, HostTensor &tensor) {
  tensor = HostTensor(tensor.element, descriptor.getShape());
  size_t size = getSize(tensor.element);
  const char *data = descriptor.getData(size);
  int64_t rank = tensor.shape.size();
  SmallVector<int64_t> index(rank, 0);
  for (int64_t i = 0, e = tensor.getNumElements(); i < e; ++i) {
    int64_t offset = 0;
    for (int64_t d = 0; d < rank; ++d)
      offset += index[d] * descriptor.getStrides()[d];
    std::memcpy(tensor.bytes.data() + i * size, data + offset * size, size);
    for (int64_t d = rank; d-- > 0;) {
      if (++index[d] < tensor.shape[d])
        break;
      index[d] = 0;
    }
  }
}

llvm::Expected<double> CpuFunction::call(ArrayRef<HostTensor> arguments,
                                         MutableArrayRef<HostTensor> results) {
  // Bufferization may write to an argument that is not used again.
  std::vector<HostTensor> inputs(arguments.begin(), arguments.end());
  std::vector<Descriptor> memrefs;
  for (HostTensor &tensor : inputs)
    memrefs.emplace_back(tensor.bytes.data(), tensor.shape);
  std::vector<int64_t> returned;
  if (resultsAreArguments) {
    for (HostTensor &tensor : results)
      memrefs.emplace_back(tensor.bytes.data(), tensor.shape);
  } else {
    size_t words = 0;
    for (HostTensor &tensor : results)
      words += Descriptor::getNumWords(tensor.shape.size());
    returned.resize(words);
  }

  std::vector<void *> pointers;
  if (!returned.empty())
    pointers.push_back(returned.data());
  for (Descriptor &memref : memrefs)
    pointers.push_back(memref.get());
  SmallVector<void *> packed;
  for (void *&pointer : pointers)
    packed.push_back(&pointer);

  auto start = std::chrono::steady_clock::now();
  if (llvm::Error error =
          engine->invokePacked("_mlir_ciface_" + entry.name, packed))
    return std::move(error);
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;

  std::set<void *> toFree;
  int64_t *next = returned.data();
  for (HostTensor &tensor : results) {
    if (resultsAreArguments)
      break;
    Descriptor result(tensor.shape.size());
    size_t words = Descriptor::getNumWords(tensor.shape.size());
    std::copy_n(next, words, result.getWords());
    next += words;
    copyResult(result, tensor);
    toFree.insert(result.getAllocation());
  }
  // A result may be an argument, or a constant (of which MLIR says 0xdeadbeef).
  for (Descriptor &memref : memrefs)
    toFree.erase(memref.getAllocation());
  toFree.erase(reinterpret_cast<void *>(uintptr_t(0xdeadbeef)));
  for (void *allocation : toFree)
    std::free(allocation);
  return seconds.count();
}

llvm::Expected<std::unique_ptr<Function>>
vcattn::run::compileForCpu(ModuleOp module, const Entry &entry,
                           const Options &options, MethodSummary &summary) {
  auto function = std::make_unique<CpuFunction>();
  if (llvm::Error error = function->compile(module, entry, options, summary))
    return std::move(error);
  return std::move(function);
}
