//===- CudaDriver.h - The driver calls that tools make ----------*- C++ -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Device memory and waiting. The driver is loaded at run time, as the runtime
// of compiled functions does, so that no tool needs CUDA to be built.
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_DEVICE_CUDADRIVER_H
#define VCATTN_DEVICE_CUDADRIVER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>

namespace vcattn {

class CudaDriver {
public:
  /// Loads the driver and makes device 0's primary context current. Errors say
  /// that `option` needs it.
  static llvm::Expected<std::unique_ptr<CudaDriver>>
  load(llvm::StringRef option);
  ~CudaDriver();

  const std::string &getDeviceName() const { return deviceName; }
  /// 90 for Hopper.
  int getCapability() const { return capability; }

  llvm::Error copyToDevice(uint64_t device, llvm::ArrayRef<char> bytes);
  llvm::Error copyToHost(llvm::MutableArrayRef<char> bytes, uint64_t device);
  llvm::Error synchronize();

  struct Functions;

private:
  friend class DeviceBuffer;
  CudaDriver();
  llvm::Error check(int status, const char *what);

  std::unique_ptr<Functions> functions;
  std::string deviceName;
  int capability = 0;
};

/// Device memory that is released with its owner.
class DeviceBuffer {
public:
  static llvm::Expected<DeviceBuffer> allocate(CudaDriver &driver,
                                               size_t bytes);
  DeviceBuffer(DeviceBuffer &&other)
      : driver(other.driver), address(std::exchange(other.address, 0)) {}
  DeviceBuffer(const DeviceBuffer &) = delete;
  ~DeviceBuffer();

  uint64_t get() const { return address; }
  void *getPointer() const { return reinterpret_cast<void *>(address); }

private:
  DeviceBuffer(CudaDriver &driver, uint64_t address)
      : driver(&driver), address(address) {}
  CudaDriver *driver;
  uint64_t address;
};

} // namespace vcattn

#endif // VCATTN_DEVICE_CUDADRIVER_H
