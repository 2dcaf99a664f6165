/*===- FakeCuda.h - A CUDA driver that only takes notes -----------*- C -*-===*\
|*                                                                            *|
|* Part of the vcattn project, under the Apache License v2.0 with LLVM        *|
|* Exceptions. See LICENSE for license information.                           *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef VCATTN_TEST_UNITTESTS_FAKECUDA_H
#define VCATTN_TEST_UNITTESTS_FAKECUDA_H

#include <stdint.h>

/* How the fake driver answers, and what it was last asked. */
typedef struct fake_cuda {
  /* Answers. */
  int capability; /* 10 * major + minor */
  int devices;
  void *current_context;
  int load_result, launch_result, encode_result;
  const char *failing_kernel; /* null: none */
  const char *load_log;
  /* Notes. */
  int pushes, pops, retains, loads, lookups, launches, copies, attributes;
  const char *kernel;
  unsigned grid[3], block[3];
  unsigned shared_bytes;
  int shared_limit;
  void *stream;
  int64_t first_parameter;
  uint64_t copy_target, copy_source, copy_bytes;
  int map_type, map_swizzle, map_rank;
  void *map_address;
  uint64_t map_sizes[5], map_strides[4];
  uint32_t map_box[5];
} fake_cuda;

#endif /* VCATTN_TEST_UNITTESTS_FAKECUDA_H */
