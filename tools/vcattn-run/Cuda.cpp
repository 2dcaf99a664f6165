//===- Cuda.cpp - Compile for the GPU and call ----------------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes the same shared library as vcattn-compile, loads it, and calls it with
// data in device memory, workspace included.
//
//===----------------------------------------------------------------------===//

#include "Function.h"
#include "mlir/Pass/PassManager.h"
#include "vcattn/Device/CompiledFunction.h"
#include "vcattn/Device/CudaDriver.h"
#include "vcattn/Device/Descriptor.h"
#include "vcattn/Target/Compile.h"
#include <chrono>

using namespace vcattn;
using namespace vcattn::run;
using llvm::ArrayRef;
using llvm::Error;
using llvm::Expected;
using llvm::MutableArrayRef;
using llvm::StringRef;

static Error makeError(const llvm::Twine &text) {
  return llvm::createStringError(text);
}

namespace {
class CudaFunction : public Function {
public:
  Error compile(mlir::ModuleOp module, const Entry &entry,
                const Options &options);
  Expected<double> call(ArrayRef<HostTensor> arguments,
                        MutableArrayRef<HostTensor> results) override;
  std::string getDeviceName() const override {
    return "GPU (" + driver->getDeviceName() + ")";
  }

private:
  std::unique_ptr<CudaDriver> driver;
  Entry entry;
  std::optional<CompiledFunction> function;
};
} // namespace

Error CudaFunction::compile(mlir::ModuleOp module, const Entry &theEntry,
                            const Options &options) {
  entry = theEntry;
  auto loaded = CudaDriver::load("--device=cuda");
  if (!loaded)
    return loaded.takeError();
  driver = std::move(*loaded);
  if (driver->getCapability() != 90)
    return makeError("--device=cuda compiles for Hopper (compute capability "
                     "9.0), but this GPU is " +
                     driver->getDeviceName());
  CompileOptions compile;
  compile.target = "sm_90a";
  compile.emit = EmitKind::SharedLibrary;
  compile.method = options.method;
  compile.runMethod = options.runMethod;
  auto artifact = compileModule(module, compile);
  if (mlir::failed(artifact))
    return makeError("@" + entry.name + " was not compiled");
  auto loadedFunction = CompiledFunction::load(artifact->bytes, entry.name);
  if (!loadedFunction)
    return loadedFunction.takeError();
  function = std::move(*loadedFunction);
  return Error::success();
}

Expected<double> CudaFunction::call(ArrayRef<HostTensor> arguments,
                                    MutableArrayRef<HostTensor> results) {
  std::vector<DeviceBuffer> buffers;
  std::vector<Descriptor> memrefs;
  auto add = [&](const HostTensor &tensor) -> Error {
    auto buffer = DeviceBuffer::allocate(*driver, tensor.bytes.size());
    if (!buffer)
      return buffer.takeError();
    memrefs.emplace_back(buffer->getPointer(), tensor.shape);
    buffers.push_back(std::move(*buffer));
    return driver->copyToDevice(buffers.back().get(), tensor.bytes);
  };
  for (const HostTensor &tensor : arguments)
    if (Error error = add(tensor))
      return std::move(error);
  for (const HostTensor &tensor : results)
    if (Error error = add(tensor))
      return std::move(error);

  std::vector<void *> pointers;
  for (Descriptor &memref : memrefs)
    pointers.push_back(memref.get());
  auto size = function->getWorkspaceSize(pointers);
  if (!size)
    return size.takeError();
  auto workspace = DeviceBuffer::allocate(*driver, *size);
  if (!workspace)
    return workspace.takeError();
  if (Error error = driver->synchronize())
    return std::move(error);

  auto start = std::chrono::steady_clock::now();
  if (Error error = function->launch(pointers, workspace->getPointer(), *size))
    return std::move(error);
  if (Error error = driver->synchronize())
    return std::move(error);
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  for (size_t i = 0; i < results.size(); ++i)
    if (Error error = driver->copyToHost(results[i].bytes,
                                         buffers[arguments.size() + i].get()))
      return std::move(error);
  return seconds.count();
}

Expected<std::unique_ptr<Function>>
vcattn::run::compileForCuda(mlir::ModuleOp module, const Entry &entry,
                            const Options &options, MethodSummary &summary) {
  // What the method makes of the module is told from a copy: compileModule runs
  // its pipeline itself.
  mlir::OwningOpRef<mlir::ModuleOp> copy = module.clone();
  mlir::PassManager passes(module.getContext());
  if (options.runMethod)
    buildMethodPipeline(passes, options.method);
  if (mlir::failed(passes.run(*copy)))
    return makeError("@" + entry.name + " was not compiled");
  summary = summarizeMethod(copy->getOperation());
  auto function = std::make_unique<CudaFunction>();
  if (Error error = function->compile(module, entry, options))
    return std::move(error);
  return std::move(function);
}
