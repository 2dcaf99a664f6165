/*===- Driver.h - The part of the CUDA driver API in use ----------*- C -*-===*\
|*                                                                            *|
|* Part of the vcattn project, under the Apache License v2.0 with LLVM        *|
|* Exceptions. See LICENSE for license information.                           *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* Declared here, so that no CUDA is needed to build. Names, signatures and   *|
|* numbers are those of the CUDA driver API, which keeps them stable.         *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef VCATTN_LIB_RUNTIME_DRIVER_H
#define VCATTN_LIB_RUNTIME_DRIVER_H

#include "vcattn/Runtime/vcattn_runtime.h"

typedef int CUresult;
typedef int CUdevice;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;

enum {
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
  CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
  CU_JIT_ERROR_LOG_BUFFER = 5,
  CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6,
  CU_TENSOR_MAP_DATA_TYPE_UINT8 = 0,
  CU_TENSOR_MAP_DATA_TYPE_UINT16 = 1,
  CU_TENSOR_MAP_DATA_TYPE_UINT32 = 2,
  CU_TENSOR_MAP_INTERLEAVE_NONE = 0,
  CU_TENSOR_MAP_SWIZZLE_32B = 1,
  CU_TENSOR_MAP_SWIZZLE_64B = 2,
  CU_TENSOR_MAP_SWIZZLE_128B = 3,
  CU_TENSOR_MAP_L2_PROMOTION_L2_256B = 3,
  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE = 0
};

typedef struct vcattn_driver {
  CUresult (*Init)(unsigned flags);
  CUresult (*DeviceGetCount)(int *count);
  CUresult (*DeviceGet)(CUdevice *device, int ordinal);
  CUresult (*DeviceGetAttribute)(int *value, int attribute, CUdevice device);
  CUresult (*DevicePrimaryCtxRetain)(CUcontext *context, CUdevice device);
  CUresult (*CtxGetCurrent)(CUcontext *context);
  CUresult (*CtxGetDevice)(CUdevice *device);
  CUresult (*CtxPushCurrent)(CUcontext context);
  CUresult (*CtxPopCurrent)(CUcontext *context);
  CUresult (*ModuleLoadDataEx)(CUmodule *module, const void *image,
                               unsigned count, int *options, void **values);
  CUresult (*ModuleGetFunction)(CUfunction *function, CUmodule module,
                                const char *name);
  CUresult (*FuncSetAttribute)(CUfunction function, int attribute, int value);
  CUresult (*LaunchKernel)(CUfunction function, unsigned grid_x,
                           unsigned grid_y, unsigned grid_z, unsigned block_x,
                           unsigned block_y, unsigned block_z,
                           unsigned shared_bytes, CUstream stream,
                           void **parameters, void **extra);
  CUresult (*MemcpyDtoDAsync)(uint64_t target, uint64_t source, size_t bytes,
                              CUstream stream);
  CUresult (*GetErrorName)(CUresult error, const char **name);
  CUresult (*GetErrorString)(CUresult error, const char **text);
  /* Since CUDA 12; null in older drivers. */
  CUresult (*CtxGetId)(CUcontext context, unsigned long long *id);
  CUresult (*TensorMapEncodeTiled)(void *map, int type, uint32_t rank,
                                   void *address, const uint64_t *sizes,
                                   const uint64_t *strides, const uint32_t *box,
                                   const uint32_t *element_strides,
                                   int interleave, int swizzle, int promotion,
                                   int fill);
} vcattn_driver;

/* The loaded and initialized driver, or null after failing `call`. */
const vcattn_driver *vcattn_get_driver(vcattn_call *call);

/* Fails `call` with a printf-like message, unless it has failed already. */
void vcattn_fail(vcattn_call *call, enum vcattn_status status,
                 const char *format, ...) __attribute__((format(printf, 3, 4)));

/* True if `result` is success; else fails `call`, naming what was `doing`. */
int vcattn_succeeded(vcattn_call *call, const vcattn_driver *driver,
                     CUresult result, const char *doing);

#endif /* VCATTN_LIB_RUNTIME_DRIVER_H */
