/*===- FakeCuda.c - A CUDA driver that only takes notes -----------*- C -*-===*\
|*                                                                            *|
|* Part of the vcattn project, under the Apache License v2.0 with LLVM        *|
|* Exceptions. See LICENSE for license information.                           *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* Lets the runtime be tested without a GPU: answers as `fake` says and notes *|
|* what it was asked.                                                         *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#include "FakeCuda.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

fake_cuda fake;

/* Where nobody can reach `fake`, the environment says what it answers. */
__attribute__((constructor)) static void read_environment(void) {
  const char *devices = getenv("FAKE_CUDA_DEVICES");
  const char *capability = getenv("FAKE_CUDA_CAPABILITY");
  fake.devices = devices ? atoi(devices) : 0;
  fake.capability = capability ? atoi(capability) : 0;
  fake.failing_kernel = getenv("FAKE_CUDA_FAILING_KERNEL");
}

int cuInit(unsigned flags) { return flags == 0 && fake.devices ? 0 : 100; }
int cuDeviceGetCount(int *count) {
  *count = fake.devices;
  return 0;
}
int cuDeviceGet(int *device, int ordinal) {
  *device = ordinal;
  return 0;
}
int cuDeviceGetAttribute(int *value, int attribute, int device) {
  (void)device;
  *value = attribute == 75   ? fake.capability / 10
           : attribute == 76 ? fake.capability % 10
                             : -1;
  return 0;
}
int cuDeviceGetName(char *name, int size, int device) {
  (void)device;
  strncpy(name, "a fake GPU", (size_t)size);
  return 0;
}
int cuDevicePrimaryCtxRetain(void **context, int device) {
  (void)device;
  ++fake.retains;
  *context = &fake;
  return 0;
}
int cuCtxGetCurrent(void **context) {
  *context = fake.current_context;
  return 0;
}
int cuCtxGetDevice(int *device) {
  *device = 0;
  return 0;
}
int cuCtxGetId(void *context, unsigned long long *id) {
  *id = (uintptr_t)context;
  return 0;
}
int cuCtxPushCurrent_v2(void *context) {
  ++fake.pushes;
  fake.current_context = context;
  return 0;
}
int cuCtxPopCurrent_v2(void **context) {
  ++fake.pops;
  *context = fake.current_context;
  fake.current_context = NULL;
  return 0;
}
int cuCtxSetCurrent(void *context) {
  fake.current_context = context;
  return 0;
}
int cuCtxSynchronize(void) { return 0; }

/* Device memory is the host's. */
int cuMemAlloc_v2(uint64_t *address, size_t bytes) {
  *address = (uintptr_t)aligned_alloc(256, (bytes + 255) / 256 * 256);
  return *address == 0;
}
int cuMemFree_v2(uint64_t address) {
  free((void *)(uintptr_t)address);
  return 0;
}
int cuMemcpyHtoD_v2(uint64_t target, const void *source, size_t bytes) {
  memcpy((void *)(uintptr_t)target, source, bytes);
  return 0;
}
int cuMemcpyDtoH_v2(void *target, uint64_t source, size_t bytes) {
  memcpy(target, (const void *)(uintptr_t)source, bytes);
  return 0;
}

int cuModuleLoadDataEx(void **module, const void *image, unsigned count,
                       int *options, void **values) {
  (void)image;
  ++fake.loads;
  *module = &fake.loads;
  for (unsigned i = 0; fake.load_log && i < count; ++i)
    if (options[i] == 5)
      strcpy(values[i], fake.load_log);
  return fake.load_result;
}
int cuModuleGetFunction(void **function, void *module, const char *name) {
  (void)module;
  ++fake.lookups;
  fake.kernel = name;
  *function = &fake.lookups;
  return strcmp(name, "missing") == 0 ? 500 : 0;
}
int cuFuncSetAttribute(void *function, int attribute, int value) {
  (void)function;
  ++fake.attributes;
  fake.shared_limit = attribute == 8 ? value : -1;
  return value > 232448;
}
int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y,
                   unsigned grid_z, unsigned block_x, unsigned block_y,
                   unsigned block_z, unsigned shared_bytes, void *stream,
                   void **parameters, void **extra) {
  (void)function;
  (void)extra;
  ++fake.launches;
  fake.grid[0] = grid_x, fake.grid[1] = grid_y, fake.grid[2] = grid_z;
  fake.block[0] = block_x, fake.block[1] = block_y, fake.block[2] = block_z;
  fake.shared_bytes = shared_bytes;
  fake.stream = stream;
  if (parameters)
    memcpy(&fake.first_parameter, parameters[0], sizeof(int64_t));
  if (fake.failing_kernel && strcmp(fake.kernel, fake.failing_kernel) == 0)
    return 719;
  return fake.launch_result;
}
int cuMemcpyDtoDAsync_v2(uint64_t target, uint64_t source, size_t bytes,
                         void *stream) {
  ++fake.copies;
  fake.copy_target = target;
  fake.copy_source = source;
  fake.copy_bytes = bytes;
  fake.stream = stream;
  return 0;
}
int cuTensorMapEncodeTiled(void *map, int type, uint32_t rank, void *address,
                           const uint64_t *sizes, const uint64_t *strides,
                           const uint32_t *box, const uint32_t *steps,
                           int interleave, int swizzle, int promotion,
                           int fill) {
  (void)steps;
  (void)promotion;
  memset(map, 0xAB, 128);
  fake.map_type = type;
  fake.map_rank = (int)rank;
  fake.map_address = address;
  fake.map_swizzle = interleave == 0 && fill == 0 ? swizzle : -1;
  memcpy(fake.map_sizes, sizes, rank * sizeof *sizes);
  memcpy(fake.map_strides, strides, (rank - 1) * sizeof *strides);
  memcpy(fake.map_box, box, rank * sizeof *box);
  return fake.encode_result;
}
int cuGetErrorName(int error, const char **name) {
  *name = error == 100   ? "CUDA_ERROR_NO_DEVICE"
          : error == 500 ? "CUDA_ERROR_NOT_FOUND"
                         : "CUDA_ERROR_INVALID_VALUE";
  return 0;
}
int cuGetErrorString(int error, const char **text) {
  *text = error == 500 ? "named symbol not found" : "invalid argument";
  return 0;
}
