/*===- vcattn_runtime.h - What compiled attention runs on ---------*- C -*-===*\
|*                                                                            *|
|* Part of the vcattn project, under the Apache License v2.0 with LLVM        *|
|* Exceptions. See LICENSE for license information.                           *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* A small layer over the CUDA driver, which it loads when first needed, as *|
|* libcuda.so.1 or what the environment's VCATTN_LIBCUDA names instead. The *|
|* first part is for callers of compiled functions; the second is called by   *|
|* the code that vcattn generates and changes with VCATTN_RUNTIME_ABI.        *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef VCATTN_RUNTIME_VCATTN_RUNTIME_H
#define VCATTN_RUNTIME_VCATTN_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*===----------------------------------------------------------------------===*\
|* For callers of compiled functions                                          *|
\*===----------------------------------------------------------------------===*/

/* What a compiled function returns. */
enum vcattn_status {
  VCATTN_SUCCESS = 0,
  VCATTN_ERROR_ARGUMENT = 1,  /* a descriptor does not fit the function */
  VCATTN_ERROR_WORKSPACE = 2, /* workspace missing, too small, misaligned */
  VCATTN_ERROR_NO_DRIVER = 3, /* libcuda.so.1 missing or too old */
  VCATTN_ERROR_DEVICE = 4,    /* no device, or not the kernels' target */
  VCATTN_ERROR_DRIVER = 5     /* a call of the CUDA driver failed */
};

/* Says what went wrong in this thread's last failed call, in one line; "" if
   none has failed. Valid until the thread's next failed call. */
const char *vcattn_last_error(void);

/* The workspace starts at a multiple of this (cudaMalloc's result does). */
#define VCATTN_WORKSPACE_ALIGNMENT 256

/*===----------------------------------------------------------------------===*\
|* For generated code                                                         *|
\*===----------------------------------------------------------------------===*/

#define VCATTN_RUNTIME_ABI 1

/* A size or stride that a function leaves open (MLIR's kDynamic). */
#define VCATTN_DYNAMIC INT64_MIN

/* State of one call of a compiled function; lives on the caller's stack. After
   the first error the other vcattn_rt_ functions do nothing. */
typedef struct vcattn_call {
  const char *function;
  void *stream;
  uint64_t context;         /* identity of the CUDA context; 0: not entered */
  int32_t status;           /* enum vcattn_status */
  int32_t restores_context; /* vcattn_rt_end pops the context */
  int32_t device;           /* ordinal */
  int32_t capability;       /* of the device, as 10 * major + minor */
  int64_t reserved[3];
} vcattn_call;

/* Kernels in one image: a cubin, or PTX that ends in a zero byte. */
typedef struct vcattn_module {
  const void *image;
  int64_t size;
  const char *chip;
  void *loaded; /* the runtime's; starts null */
} vcattn_module;

typedef struct vcattn_kernel {
  vcattn_module *module;
  const char *name;
  void *loaded; /* the runtime's; starts null */
} vcattn_kernel;

void vcattn_rt_begin(vcattn_call *call, int32_t abi, const char *function,
                     void *stream);

/* Checks a memref descriptor against the type `name` has in the function.
   Sizes, strides and the offset are in elements. */
void vcattn_rt_check_memref(vcattn_call *call, const char *name,
                            const void *descriptor, int32_t rank,
                            int32_t element_bytes, const int64_t *sizes,
                            const int64_t *strides, int64_t offset);

void vcattn_rt_check_workspace(vcattn_call *call, const void *workspace,
                               int64_t size, int64_t needed);

/* An error with `message` if `condition` is 0. */
void vcattn_rt_assert(vcattn_call *call, int32_t condition,
                      const char *message);

int32_t vcattn_rt_status(const vcattn_call *call);

/* Makes sure of a driver, a device and a current context: the caller's, or else
   device 0's primary one. */
void vcattn_rt_enter(vcattn_call *call);

/* Ends the call; returns its status. */
int32_t vcattn_rt_end(vcattn_call *call);

/* Writes the 128 bytes of a tensor map (PTX ISA, "Tensor-map"; 64-byte aligned)
   for boxes of `box` elements, dimensions outermost first, strides in elements,
   128-byte swizzle, zero outside. A map of no elements is all zero; nothing may
   be copied by it. */
void vcattn_rt_encode_tensor_map(vcattn_call *call, void *map, void *data,
                                 int32_t element_bytes, int32_t rank,
                                 const int64_t *sizes, const int64_t *strides,
                                 const int64_t *box);

void vcattn_rt_copy(vcattn_call *call, void *target, const void *source,
                    int64_t bytes);

/* Launches on the call's stream; a grid of no blocks is no launch. `parameters`
   are pointers to the kernel's parameters. */
void vcattn_rt_launch(vcattn_call *call, vcattn_kernel *kernel, int64_t grid_x,
                      int64_t grid_y, int64_t grid_z, int64_t block_x,
                      int64_t block_y, int64_t block_z, int32_t shared_bytes,
                      void **parameters);

#ifdef __cplusplus
}
#endif

#endif /* VCATTN_RUNTIME_VCATTN_RUNTIME_H */
