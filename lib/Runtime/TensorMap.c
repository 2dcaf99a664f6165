/*===- TensorMap.c - Tensor maps of the TMA unit ------------------*- C -*-===*\
|*                                                                            *|
|* Part of the vcattn project, under the Apache License v2.0 with LLVM        *|
|* Exceptions. See LICENSE for license information.                           *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* The limits are those of cuTensorMapEncodeTiled, which only says "invalid   *|
|* value"; checking them here says which.                                     *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#include "Driver.h"

#include <inttypes.h>
#include <string.h>

enum { MAP_BYTES = 128, MAX_RANK = 5, MAX_BOX = 256, SWIZZLE_BYTES = 128 };
static const int64_t max_size = (int64_t)1 << 32;
static const int64_t max_stride = (int64_t)1 << 40;

static int check_shape(vcattn_call *call, const void *data,
                       int32_t element_bytes, int32_t rank,
                       const int64_t *sizes, const int64_t *strides,
                       const int64_t *box) {
  if (rank < 1 || rank > MAX_RANK)
    vcattn_fail(call, VCATTN_ERROR_ARGUMENT,
                "tensor map: rank %d is not in [1, %d]", (int)rank, MAX_RANK);
  else if (element_bytes != 1 && element_bytes != 2 && element_bytes != 4)
    vcattn_fail(call, VCATTN_ERROR_ARGUMENT,
                "tensor map: elements have %d bytes, must have 1, 2 or 4",
                (int)element_bytes);
  else if ((uintptr_t)data % 16 != 0)
    vcattn_fail(call, VCATTN_ERROR_ARGUMENT,
                "tensor map: data pointer is not aligned to 16 bytes");
  if (call->status != VCATTN_SUCCESS)
    return 0;
  for (int32_t i = 0; i < rank; ++i) {
    if (sizes[i] < 0 || sizes[i] > max_size)
      vcattn_fail(call, VCATTN_ERROR_ARGUMENT,
                  "tensor map: size %d (%" PRId64 ") is not in [0, %" PRId64
                  "]",
                  (int)i, sizes[i], max_size);
    if (box[i] < 1 || box[i] > MAX_BOX)
      vcattn_fail(call, VCATTN_ERROR_ARGUMENT,
                  "tensor map: box size %d (%" PRId64 ") is not in [1, %d]",
                  (int)i, box[i], MAX_BOX);
    if (i == rank - 1 || sizes[i] <= 1)
      continue;
    int64_t bytes = strides[i] * element_bytes;
    if (bytes % 16 != 0)
      vcattn_fail(call, VCATTN_ERROR_ARGUMENT,
                  "tensor map: stride %d (%" PRId64
                  " bytes) is not a multiple of 16 bytes",
                  (int)i, bytes);
    else if (strides[i] < 0 || bytes >= max_stride)
      vcattn_fail(call, VCATTN_ERROR_ARGUMENT,
                  "tensor map: stride %d (%" PRId64
                  " bytes) is not in [0, %" PRId64 ")",
                  (int)i, bytes, max_stride);
  }
  if (strides[rank - 1] != 1 && sizes[rank - 1] > 1)
    vcattn_fail(call, VCATTN_ERROR_ARGUMENT,
                "tensor map: innermost stride is %" PRId64
                " elements, must be 1",
                strides[rank - 1]);
  if (box[rank - 1] * element_bytes > SWIZZLE_BYTES)
    vcattn_fail(call, VCATTN_ERROR_ARGUMENT,
                "tensor map: the box's innermost dimension has %" PRId64
                " bytes, the swizzle %d",
                box[rank - 1] * element_bytes, SWIZZLE_BYTES);
  return call->status == VCATTN_SUCCESS;
}

/* The narrowest swizzle that spans the box. */
static int get_swizzle(int64_t bytes) {
  return bytes <= 32   ? CU_TENSOR_MAP_SWIZZLE_32B
         : bytes <= 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                       : CU_TENSOR_MAP_SWIZZLE_128B;
}

void vcattn_rt_encode_tensor_map(vcattn_call *call, void *map, void *data,
                                 int32_t element_bytes, int32_t rank,
                                 const int64_t *sizes, const int64_t *strides,
                                 const int64_t *box) {
  if (call->status != VCATTN_SUCCESS ||
      !check_shape(call, data, element_bytes, rank, sizes, strides, box))
    return;
  /* The driver wants the innermost dimension first, whose stride is implied. */
  uint64_t map_sizes[MAX_RANK], map_strides[MAX_RANK];
  uint32_t map_box[MAX_RANK], steps[MAX_RANK];
  int64_t reach = 16; /* a valid stride for dimensions of size 1 */
  for (int32_t i = rank - 1; i >= 0; --i) {
    int32_t to = rank - 1 - i;
    if (sizes[i] == 0) {
      memset(map, 0, MAP_BYTES);
      return;
    }
    map_sizes[to] = (uint64_t)sizes[i];
    map_box[to] = (uint32_t)box[i];
    steps[to] = 1;
    if (to == 0)
      continue;
    int64_t bytes = sizes[i] > 1 ? strides[i] * element_bytes : reach;
    map_strides[to - 1] = (uint64_t)bytes;
    reach = bytes > reach ? bytes : reach;
  }
  const vcattn_driver *driver = vcattn_get_driver(call);
  if (!driver)
    return;
  if (!driver->TensorMapEncodeTiled) {
    vcattn_fail(call, VCATTN_ERROR_NO_DRIVER,
                "the NVIDIA driver is too old: it has no "
                "cuTensorMapEncodeTiled (CUDA 12)");
    return;
  }
  int type = element_bytes == 1   ? CU_TENSOR_MAP_DATA_TYPE_UINT8
             : element_bytes == 2 ? CU_TENSOR_MAP_DATA_TYPE_UINT16
                                  : CU_TENSOR_MAP_DATA_TYPE_UINT32;
  vcattn_succeeded(call, driver,
                   driver->TensorMapEncodeTiled(
                       map, type, (uint32_t)rank, data, map_sizes, map_strides,
                       map_box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                       get_swizzle(box[rank - 1] * element_bytes),
                       CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                       CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
                   "cuTensorMapEncodeTiled");
}
