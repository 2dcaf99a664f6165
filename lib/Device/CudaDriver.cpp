//===- CudaDriver.cpp - The driver calls that tools make ------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "vcattn/Device/CudaDriver.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Support/Process.h"

using namespace vcattn;
using llvm::Error;

/// Entry points of libcuda.so.1, by the names that its ABI has (_v2 where the
/// header has a macro), and the attributes of CUdevice_attribute.
struct CudaDriver::Functions {
  using Pointer = uint64_t; // CUdeviceptr
  int (*cuInit)(unsigned);
  int (*cuDeviceGetCount)(int *);
  int (*cuDeviceGet)(int *, int);
  int (*cuDeviceGetName)(char *, int, int);
  int (*cuDeviceGetAttribute)(int *, int, int);
  int (*cuDevicePrimaryCtxRetain)(void **, int);
  int (*cuCtxSetCurrent)(void *);
  int (*cuCtxSynchronize)();
  int (*cuMemAlloc_v2)(Pointer *, size_t);
  int (*cuMemFree_v2)(Pointer);
  int (*cuMemcpyHtoD_v2)(Pointer, const void *, size_t);
  int (*cuMemcpyDtoH_v2)(void *, Pointer, size_t);
  int (*cuGetErrorString)(int, const char **);
};
static constexpr int kCapabilityMajor = 75, kCapabilityMinor = 76;

static Error makeError(const llvm::Twine &text) {
  return llvm::createStringError(text);
}

CudaDriver::CudaDriver() : functions(std::make_unique<Functions>()) {}
CudaDriver::~CudaDriver() = default;

Error CudaDriver::check(int status, const char *what) {
  if (status == 0)
    return Error::success();
  const char *text = nullptr;
  functions->cuGetErrorString(status, &text);
  return makeError(llvm::Twine(what) + ": " + (text ? text : "unknown error") +
                   " (CUDA driver, error " + llvm::Twine(status) + ")");
}

llvm::Expected<std::unique_ptr<CudaDriver>>
CudaDriver::load(llvm::StringRef option) {
  // The variable that the runtime of compiled functions honours, too.
  std::string name = "libcuda.so.1", problem;
  if (auto given = llvm::sys::Process::GetEnv("VCATTN_LIBCUDA"))
    name = *given;
  auto library =
      llvm::sys::DynamicLibrary::getPermanentLibrary(name.c_str(), &problem);
  if (!library.isValid())
    return makeError(option + " needs NVIDIA's driver: " + problem);
  std::unique_ptr<CudaDriver> driver(new CudaDriver);
  Functions &f = *driver->functions;
  const char *missing = nullptr;
  auto find = [&](auto &function, const char *name) {
    void *address = library.getAddressOfSymbol(name);
    if (!address)
      missing = name;
    function = reinterpret_cast<std::decay_t<decltype(function)>>(address);
  };
#define VCATTN_FIND(name) find(f.name, #name)
  VCATTN_FIND(cuInit);
  VCATTN_FIND(cuDeviceGetCount);
  VCATTN_FIND(cuDeviceGet);
  VCATTN_FIND(cuDeviceGetName);
  VCATTN_FIND(cuDeviceGetAttribute);
  VCATTN_FIND(cuDevicePrimaryCtxRetain);
  VCATTN_FIND(cuCtxSetCurrent);
  VCATTN_FIND(cuCtxSynchronize);
  VCATTN_FIND(cuMemAlloc_v2);
  VCATTN_FIND(cuMemFree_v2);
  VCATTN_FIND(cuMemcpyHtoD_v2);
  VCATTN_FIND(cuMemcpyDtoH_v2);
  VCATTN_FIND(cuGetErrorString);
#undef VCATTN_FIND
  if (missing)
    return makeError(llvm::Twine("NVIDIA's driver lacks ") + missing);

  int count = 0, device = 0, major = 0, minor = 0;
  char deviceName[256] = "";
  void *context = nullptr;
  if (Error error = driver->check(f.cuInit(0), "cuInit"))
    return std::move(error);
  if (Error error = driver->check(f.cuDeviceGetCount(&count), "counting GPUs"))
    return std::move(error);
  if (count == 0)
    return makeError(option + ": the driver sees no GPU");
  if (Error error = driver->check(f.cuDeviceGet(&device, 0), "cuDeviceGet"))
    return std::move(error);
  f.cuDeviceGetName(deviceName, sizeof(deviceName), device);
  f.cuDeviceGetAttribute(&major, kCapabilityMajor, device);
  f.cuDeviceGetAttribute(&minor, kCapabilityMinor, device);
  driver->deviceName = deviceName;
  driver->capability = 10 * major + minor;
  if (Error error = driver->check(f.cuDevicePrimaryCtxRetain(&context, device),
                                  "making a context"))
    return std::move(error);
  if (Error error =
          driver->check(f.cuCtxSetCurrent(context), "cuCtxSetCurrent"))
    return std::move(error);
  return std::move(driver);
}

Error CudaDriver::copyToDevice(uint64_t device, llvm::ArrayRef<char> bytes) {
  if (bytes.empty())
    return Error::success();
  return check(functions->cuMemcpyHtoD_v2(device, bytes.data(), bytes.size()),
               "copying an argument to the GPU");
}

Error CudaDriver::copyToHost(llvm::MutableArrayRef<char> bytes,
                             uint64_t device) {
  if (bytes.empty())
    return Error::success();
  return check(functions->cuMemcpyDtoH_v2(bytes.data(), device, bytes.size()),
               "copying a result from the GPU");
}

Error CudaDriver::synchronize() {
  return check(functions->cuCtxSynchronize(), "running on the GPU");
}

llvm::Expected<DeviceBuffer> DeviceBuffer::allocate(CudaDriver &driver,
                                                    size_t bytes) {
  uint64_t address = 0;
  // A buffer of no bytes still has an address.
  if (Error error = driver.check(
          driver.functions->cuMemAlloc_v2(&address, std::max<size_t>(bytes, 1)),
          "allocating GPU memory"))
    return std::move(error);
  return DeviceBuffer(driver, address);
}

DeviceBuffer::~DeviceBuffer() {
  if (address)
    driver->functions->cuMemFree_v2(address);
}
