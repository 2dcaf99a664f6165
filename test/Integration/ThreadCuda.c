/*===- ThreadCuda.c - A CUDA driver that runs kernels on the CPU --*- C -*-===*\
|*                                                                            *|
|* Part of the vcattn project, under the Apache License v2.0 with LLVM        *|
|* Exceptions. See LICENSE for license information.                           *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* Runs one thread after the other. Kernels are functions NAME_launch of the  *|
|* library that the environment's THREAD_CUDA_KERNELS names; of one that is   *|
|* not there (the attention kernel, which needs Hopper's instructions) only   *|
|* the parameters are kept. A tensor map is its buffer's address.             *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PARAMETERS = 64, MAP_BYTES = 128 };

/* Of the last launch that did not run. */
char kept_parameters[MAX_PARAMETERS][MAP_BYTES];
int kept_launches;

static void *kernels;
static int *block_number, *thread_number;
static char not_here;

int cuInit(unsigned flags) { return (int)flags; }
int cuDeviceGetCount(int *count) {
  *count = 1;
  return 0;
}
int cuDeviceGet(int *device, int ordinal) {
  *device = ordinal;
  return 0;
}
int cuDeviceGetAttribute(int *value, int attribute, int device) {
  (void)device;
  *value = attribute == 75 ? 9 : 0;
  return 0;
}
int cuDevicePrimaryCtxRetain(void **context, int device) {
  (void)device;
  *context = &kernels;
  return 0;
}
int cuCtxGetCurrent(void **context) {
  *context = &kernels;
  return 0;
}
int cuCtxGetDevice(int *device) {
  *device = 0;
  return 0;
}
int cuCtxPushCurrent_v2(void *context) {
  (void)context;
  return 0;
}
int cuCtxPopCurrent_v2(void **context) {
  (void)context;
  return 0;
}
int cuModuleLoadDataEx(void **module, const void *image, unsigned count,
                       int *options, void **values) {
  (void)image;
  for (unsigned i = 0; i < count; ++i)
    if (options[i] == 5)
      *(char *)values[i] = 0;
  kernels = dlopen(getenv("THREAD_CUDA_KERNELS"), RTLD_NOW);
  if (!kernels) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  block_number = dlsym(kernels, "block_number");
  thread_number = dlsym(kernels, "thread_number");
  *module = kernels;
  return 0;
}
int cuModuleGetFunction(void **function, void *module, const char *name) {
  char symbol[256];
  snprintf(symbol, sizeof symbol, "%s_launch", name);
  *function = dlsym(module, symbol);
  if (!*function)
    *function = &not_here;
  return 0;
}
int cuFuncSetAttribute(void *function, int attribute, int value) {
  (void)function, (void)attribute, (void)value;
  return 0;
}
int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y,
                   unsigned grid_z, unsigned block_x, unsigned block_y,
                   unsigned block_z, unsigned shared_bytes, void *stream,
                   void **parameters, void **extra) {
  (void)grid_y, (void)grid_z, (void)block_y, (void)block_z;
  (void)shared_bytes, (void)stream, (void)extra;
  if (function == &not_here) {
    ++kept_launches;
    /* Three tensor maps, then numbers and pointers: as many as the kernel of
       attention without log-sum-exp has. */
    for (int i = 0; i < 62; ++i)
      memcpy(kept_parameters[i], parameters[i], i < 3 ? MAP_BYTES : 8);
    return 0;
  }
  void (*launch)(void **);
  memcpy(&launch, &function, sizeof launch);
  for (unsigned block = 0; block < grid_x; ++block)
    for (unsigned thread = 0; thread < block_x; ++thread) {
      *block_number = (int)block;
      *thread_number = (int)thread;
      launch(parameters);
    }
  return 0;
}
int cuMemcpyDtoDAsync_v2(uint64_t target, uint64_t source, size_t bytes,
                         void *stream) {
  (void)stream;
  memcpy((void *)(uintptr_t)target, (const void *)(uintptr_t)source, bytes);
  return 0;
}
int cuTensorMapEncodeTiled(void *map, int type, uint32_t rank, void *address,
                           const uint64_t *sizes, const uint64_t *strides,
                           const uint32_t *box, const uint32_t *steps,
                           int interleave, int swizzle, int promotion,
                           int fill) {
  (void)type, (void)rank, (void)sizes, (void)strides, (void)box, (void)steps;
  (void)interleave, (void)swizzle, (void)promotion, (void)fill;
  memset(map, 0, MAP_BYTES);
  memcpy(map, &address, sizeof address);
  return 0;
}
int cuGetErrorName(int error, const char **name) {
  (void)error;
  *name = "CUDA_ERROR_UNKNOWN";
  return 0;
}
int cuGetErrorString(int error, const char **text) {
  (void)error;
  *text = "see standard error";
  return 0;
}
