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

#include "CudaDriver.h"
#include "Descriptor.h"
#include "Function.h"
#include "mlir/Pass/PassManager.h"
#include "vcattn/Runtime/vcattn_runtime.h"
#include "vcattn/Target/Compile.h"
#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/raw_ostream.h"
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
  Error loadLibrary(StringRef bytes);
  Error invoke(std::vector<void *> arguments);

  std::unique_ptr<CudaDriver> driver;
  Entry entry;
  void *function = nullptr, *workspaceSize = nullptr;
  const char *(*lastError)() = nullptr;
};
} // namespace

Error CudaFunction::loadLibrary(StringRef bytes) {
  llvm::SmallString<128> path;
  int descriptor;
  if (std::error_code error = llvm::sys::fs::createTemporaryFile(
          "vcattn-run", "so", descriptor, path))
    return makeError("cannot write the compiled library: " + error.message());
  llvm::FileRemover remover(path);
  llvm::raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
  stream << bytes;
  stream.close();
  if (stream.has_error())
    return makeError(path + ": " + stream.error().message());
  std::string problem;
  auto library =
      llvm::sys::DynamicLibrary::getPermanentLibrary(path.c_str(), &problem);
  if (!library.isValid())
    return makeError("cannot load the compiled library: " + problem);
  function = library.getAddressOfSymbol(entry.name.c_str());
  workspaceSize =
      library.getAddressOfSymbol((entry.name + "_workspace_size").c_str());
  lastError = reinterpret_cast<const char *(*)()>(
      library.getAddressOfSymbol("vcattn_last_error"));
  if (!function || !workspaceSize || !lastError)
    return makeError("the compiled library lacks @" + entry.name);
  return Error::success();
}

Error CudaFunction::compile(mlir::ModuleOp module, const Entry &theEntry,
                            const Options &options) {
  entry = theEntry;
  auto loaded = CudaDriver::load();
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
  return loadLibrary(artifact->bytes);
}

/// Calls a C function that takes `arguments`, pointers or 64-bit integers, all
/// of which are passed alike. The number is known only at run time; those past
/// the last are not looked at.
template <typename Result>
static Result callWith(void *function, std::vector<void *> arguments) {
  static constexpr size_t kMost = 16;
  arguments.resize(kMost);
  void **a = arguments.data();
  using Type = Result (*)(void *, void *, void *, void *, void *, void *,
                          void *, void *, void *, void *, void *, void *,
                          void *, void *, void *, void *);
  return reinterpret_cast<Type>(function)(a[0], a[1], a[2], a[3], a[4], a[5],
                                          a[6], a[7], a[8], a[9], a[10], a[11],
                                          a[12], a[13], a[14], a[15]);
}

Error CudaFunction::invoke(std::vector<void *> arguments) {
  int32_t status = callWith<int32_t>(function, std::move(arguments));
  if (status != VCATTN_SUCCESS)
    return makeError("@" + entry.name + ": " + lastError());
  return driver->synchronize();
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
  if (pointers.size() + 3 > 16)
    return makeError("@" + entry.name +
                     " has more than 13 arguments and results");
  int64_t size = callWith<int64_t>(workspaceSize, pointers);
  auto workspace = DeviceBuffer::allocate(*driver, size);
  if (!workspace)
    return workspace.takeError();
  pointers.push_back(workspace->getPointer());
  pointers.push_back(reinterpret_cast<void *>(size));
  pointers.push_back(nullptr); // the default stream
  if (Error error = driver->synchronize())
    return std::move(error);

  auto start = std::chrono::steady_clock::now();
  if (Error error = invoke(pointers))
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
