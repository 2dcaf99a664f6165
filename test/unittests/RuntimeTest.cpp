//===- RuntimeTest.cpp - The runtime on a driver that takes notes ---------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeCuda.h"
#include "vcattn/Runtime/vcattn_runtime.h"
#include "gtest/gtest.h"

#include <cstdlib>
#include <dlfcn.h>
#include <thread>
#include <vector>

namespace {

/// MLIR's descriptor of a memref of rank 2.
struct Matrix {
  void *allocated, *aligned;
  int64_t offset, sizes[2], strides[2];
};

const int64_t kAny[] = {VCATTN_DYNAMIC, VCATTN_DYNAMIC};

class RuntimeTest : public ::testing::Test {
protected:
  static void SetUpTestSuite() {
    // Nothing but the first test may see the library missing: once it is
    // loaded, it stays.
    setenv("VCATTN_LIBCUDA", "/nowhere/libcuda.so.1", 1);
    vcattn_call call;
    vcattn_rt_begin(&call, VCATTN_RUNTIME_ABI, "attention", nullptr);
    vcattn_rt_enter(&call);
    missingStatus = vcattn_rt_end(&call);
    missingMessage = vcattn_last_error();
    setenv("VCATTN_LIBCUDA", VCATTN_FAKE_CUDA, 1);
    void *library = dlopen(VCATTN_FAKE_CUDA, RTLD_NOW);
    ASSERT_TRUE(library) << dlerror();
    fake = static_cast<fake_cuda *>(dlsym(library, "fake"));
    ASSERT_TRUE(fake);
  }

  void SetUp() override {
    *fake = {};
    fake->capability = 90;
    fake->devices = 1;
    fake->current_context = &context;
    vcattn_rt_begin(&call, VCATTN_RUNTIME_ABI, "attention", &stream);
  }

  /// The status of the call after a failure, which must read `message`.
  void expectError(int32_t status, const char *message) {
    EXPECT_EQ(vcattn_rt_end(&call), status);
    EXPECT_STREQ(vcattn_last_error(), message);
  }

  void launch(vcattn_kernel &kernel, int64_t blocks, int32_t shared = 0) {
    int64_t value = 42;
    void *parameters[] = {&value};
    vcattn_rt_launch(&call, &kernel, blocks, 2, 3, 128, 1, 1, shared,
                     parameters);
  }

  static fake_cuda *fake;
  static int32_t missingStatus;
  static std::string missingMessage;
  vcattn_call call;
  int stream, context;
  vcattn_module module = {"PTX", 4, "sm_90a", nullptr};
  vcattn_kernel kernel = {&module, "attention_0", nullptr};
};

fake_cuda *RuntimeTest::fake;
int32_t RuntimeTest::missingStatus;
std::string RuntimeTest::missingMessage;

TEST_F(RuntimeTest, MissingDriver) {
  EXPECT_EQ(missingStatus, VCATTN_ERROR_NO_DRIVER);
  EXPECT_EQ(missingMessage.find("attention: no NVIDIA driver: "
                                "/nowhere/libcuda.so.1 not found ("),
            0u)
      << missingMessage;
}

TEST_F(RuntimeTest, OtherAbi) {
  vcattn_rt_begin(&call, 7, "attention", nullptr);
  expectError(VCATTN_ERROR_ARGUMENT,
              "attention: compiled for version 7 of the vcattn runtime, linked "
              "with version 1");
}

TEST_F(RuntimeTest, LaunchesInCallersContext) {
  vcattn_rt_enter(&call);
  launch(kernel, 5, 1000);
  EXPECT_EQ(vcattn_rt_end(&call), VCATTN_SUCCESS);
  EXPECT_EQ(fake->pushes + fake->pops + fake->retains, 0);
  EXPECT_STREQ(fake->kernel, "attention_0");
  EXPECT_EQ(fake->grid[0], 5u);
  EXPECT_EQ(fake->grid[1], 2u);
  EXPECT_EQ(fake->grid[2], 3u);
  EXPECT_EQ(fake->block[0], 128u);
  EXPECT_EQ(fake->shared_bytes, 1000u);
  EXPECT_EQ(fake->shared_limit, 1000);
  EXPECT_EQ(fake->stream, &stream);
  EXPECT_EQ(fake->first_parameter, 42);
}

TEST_F(RuntimeTest, LoadsOncePerContext) {
  vcattn_kernel second = {&module, "attention_1", nullptr};
  vcattn_rt_enter(&call);
  launch(kernel, 1, 64);
  launch(kernel, 1, 64);
  launch(second, 1);
  EXPECT_EQ(fake->loads, 1);
  EXPECT_EQ(fake->lookups, 2);
  EXPECT_EQ(fake->attributes, 1);
  EXPECT_EQ(fake->launches, 3);
  int other;
  fake->current_context = &other;
  vcattn_rt_begin(&call, VCATTN_RUNTIME_ABI, "attention", nullptr);
  vcattn_rt_enter(&call);
  launch(kernel, 1, 64);
  EXPECT_EQ(fake->loads, 2);
  EXPECT_EQ(fake->attributes, 2);
}

TEST_F(RuntimeTest, LoadsOnceAmongThreads) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      vcattn_call call;
      vcattn_rt_begin(&call, VCATTN_RUNTIME_ABI, "attention", nullptr);
      vcattn_rt_enter(&call);
      vcattn_rt_launch(&call, &kernel, 1, 1, 1, 1, 1, 1, 0, nullptr);
      EXPECT_EQ(vcattn_rt_end(&call), VCATTN_SUCCESS);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(fake->loads, 1);
  EXPECT_EQ(fake->lookups, 1);
}

TEST_F(RuntimeTest, PrimaryContextWithoutCurrentOne) {
  fake->current_context = nullptr;
  vcattn_rt_enter(&call);
  launch(kernel, 1);
  EXPECT_EQ(fake->pops, 0);
  EXPECT_EQ(vcattn_rt_end(&call), VCATTN_SUCCESS);
  EXPECT_EQ(fake->pushes, 1);
  EXPECT_EQ(fake->pops, 1);
  EXPECT_EQ(fake->launches, 1);
}

TEST_F(RuntimeTest, NoBlocksAreNoLaunch) {
  vcattn_rt_enter(&call);
  launch(kernel, 0);
  EXPECT_EQ(vcattn_rt_end(&call), VCATTN_SUCCESS);
  EXPECT_EQ(fake->loads + fake->launches, 0);
}

TEST_F(RuntimeTest, GridTooLarge) {
  vcattn_rt_enter(&call);
  launch(kernel, int64_t(1) << 31);
  expectError(VCATTN_ERROR_ARGUMENT,
              "attention: attention_0: grid size in x is 2147483648, must be "
              "in [1, 2147483647]");
  EXPECT_EQ(fake->launches, 0);
}

TEST_F(RuntimeTest, OtherChip) {
  fake->capability = 80;
  vcattn_rt_enter(&call);
  launch(kernel, 1);
  expectError(VCATTN_ERROR_DEVICE,
              "attention: kernel is for sm_90a, device 0 is sm_80");
  EXPECT_EQ(fake->loads, 0);
}

TEST_F(RuntimeTest, WhatRunsWhere) {
  struct {
    const char *chip, *image;
    int capability;
    bool runs;
  } cases[] = {
      {"sm_90a", "\177ELF", 90, true},    {"sm_90a", "\177ELF", 100, false},
      {"sm_80", "\177ELF", 89, true},     {"sm_80", "\177ELF", 90, false},
      {"sm_80", ".version", 90, true},    {"sm_90", ".version", 80, false},
      {"sm_100f", "\177ELF", 103, true},  {"sm_103f", "\177ELF", 100, false},
      {"sm_100f", ".version", 120, false}};
  for (auto &test : cases) {
    fake->capability = test.capability;
    vcattn_module module = {test.image, 8, test.chip, nullptr};
    vcattn_kernel kernel = {&module, "attention_0", nullptr};
    vcattn_rt_begin(&call, VCATTN_RUNTIME_ABI, "attention", nullptr);
    vcattn_rt_enter(&call);
    launch(kernel, 1);
    EXPECT_EQ(vcattn_rt_end(&call) == VCATTN_SUCCESS, test.runs)
        << test.chip << " " << test.image << " on " << test.capability;
  }
}

TEST_F(RuntimeTest, FirstErrorStays) {
  vcattn_kernel missing = {&module, "missing", nullptr};
  vcattn_rt_enter(&call);
  launch(missing, 1);
  launch(kernel, 1);
  vcattn_rt_copy(&call, &stream, &context, 4);
  EXPECT_EQ(fake->launches + fake->copies, 0);
  expectError(VCATTN_ERROR_DRIVER, "attention: missing failed: "
                                   "CUDA_ERROR_NOT_FOUND (named symbol not "
                                   "found)");
}

TEST_F(RuntimeTest, LoadLog) {
  fake->load_result = 1;
  fake->load_log = "ptxas error : no such instruction";
  vcattn_rt_enter(&call);
  launch(kernel, 1);
  expectError(VCATTN_ERROR_DRIVER, "attention: cannot load the kernels for "
                                   "sm_90a: ptxas error : no such instruction");
}

TEST_F(RuntimeTest, TooMuchSharedMemory) {
  vcattn_rt_enter(&call);
  launch(kernel, 1, 300000);
  expectError(VCATTN_ERROR_DRIVER,
              "attention: setting the kernel's shared memory failed: "
              "CUDA_ERROR_INVALID_VALUE (invalid argument)");
}

TEST_F(RuntimeTest, Copies) {
  vcattn_rt_enter(&call);
  vcattn_rt_copy(&call, &stream, &context, 0);
  EXPECT_EQ(fake->copies, 0);
  vcattn_rt_copy(&call, &stream, &context, 4);
  EXPECT_EQ(fake->copies, 1);
  EXPECT_EQ(fake->copy_target, reinterpret_cast<uintptr_t>(&stream));
  EXPECT_EQ(fake->copy_source, reinterpret_cast<uintptr_t>(&context));
  EXPECT_EQ(fake->copy_bytes, 4u);
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

TEST_F(RuntimeTest, MemrefFits) {
  float data[8];
  Matrix matrix = {data, data, 0, {1, 4}, {77, 1}};
  int64_t sizes[] = {1, VCATTN_DYNAMIC}, strides[] = {4, 1};
  vcattn_rt_check_memref(&call, "argument 0", &matrix, 2, 4, sizes, strides,
                         VCATTN_DYNAMIC);
  EXPECT_EQ(vcattn_rt_status(&call), VCATTN_SUCCESS) << vcattn_last_error();
}

TEST_F(RuntimeTest, MemrefNull) {
  vcattn_rt_check_memref(&call, "argument 1", nullptr, 2, 4, kAny, kAny,
                         VCATTN_DYNAMIC);
  expectError(VCATTN_ERROR_ARGUMENT,
              "attention: argument 1: descriptor is null");
}

TEST_F(RuntimeTest, MemrefWithoutData) {
  Matrix matrix = {nullptr, nullptr, 0, {0, 4}, {4, 1}};
  vcattn_rt_check_memref(&call, "argument 0", &matrix, 2, 4, kAny, kAny,
                         VCATTN_DYNAMIC);
  EXPECT_EQ(vcattn_rt_status(&call), VCATTN_SUCCESS);
  matrix.sizes[0] = 1;
  vcattn_rt_check_memref(&call, "argument 0", &matrix, 2, 4, kAny, kAny,
                         VCATTN_DYNAMIC);
  expectError(VCATTN_ERROR_ARGUMENT,
              "attention: argument 0: data pointer is null");
}

TEST_F(RuntimeTest, MemrefOfOtherSize) {
  float data[8];
  Matrix matrix = {data, data, 0, {2, 4}, {4, 1}};
  int64_t sizes[] = {VCATTN_DYNAMIC, 8};
  vcattn_rt_check_memref(&call, "argument 0", &matrix, 2, 4, sizes, kAny,
                         VCATTN_DYNAMIC);
  expectError(VCATTN_ERROR_ARGUMENT, "attention: argument 0: size of dimension "
                                     "1 is 4, must be 8");
}

TEST_F(RuntimeTest, MemrefOfNegativeSize) {
  float data[8];
  Matrix matrix = {data, data, 0, {2, -4}, {4, 1}};
  vcattn_rt_check_memref(&call, "argument 0", &matrix, 2, 4, kAny, kAny,
                         VCATTN_DYNAMIC);
  expectError(VCATTN_ERROR_ARGUMENT, "attention: argument 0: size of dimension "
                                     "1 is negative, -4");
}

TEST_F(RuntimeTest, MemrefOfOtherStride) {
  float data[8];
  Matrix matrix = {data, data, 0, {2, 4}, {4, 2}};
  int64_t strides[] = {VCATTN_DYNAMIC, 1};
  vcattn_rt_check_memref(&call, "argument 0", &matrix, 2, 4, kAny, strides,
                         VCATTN_DYNAMIC);
  expectError(VCATTN_ERROR_ARGUMENT, "attention: argument 0: stride of "
                                     "dimension 1 is 2 elements, must be 1");
}

TEST_F(RuntimeTest, MemrefWithOffset) {
  float data[8];
  Matrix matrix = {data, data, 3, {2, 4}, {4, 1}};
  vcattn_rt_check_memref(&call, "argument 0", &matrix, 2, 4, kAny, kAny, 0);
  expectError(VCATTN_ERROR_ARGUMENT,
              "attention: argument 0: offset is 3 elements, must be 0");
}

TEST_F(RuntimeTest, MemrefMisaligned) {
  float data[8];
  Matrix matrix = {data, reinterpret_cast<char *>(data) + 1, 0, {2, 4}, {4, 1}};
  vcattn_rt_check_memref(&call, "argument 0", &matrix, 2, 4, kAny, kAny,
                         VCATTN_DYNAMIC);
  expectError(VCATTN_ERROR_ARGUMENT,
              "attention: argument 0: data pointer is not a multiple of the "
              "element's 4 bytes");
}

TEST_F(RuntimeTest, Workspace) {
  char *base = reinterpret_cast<char *>(0x1000);
  vcattn_rt_check_workspace(&call, nullptr, 0, 0);
  vcattn_rt_check_workspace(&call, base, 512, 512);
  EXPECT_EQ(vcattn_rt_status(&call), VCATTN_SUCCESS);
  vcattn_rt_check_workspace(&call, base, 511, 512);
  expectError(VCATTN_ERROR_WORKSPACE,
              "attention: workspace has 511 bytes, needs 512");
  SetUp();
  vcattn_rt_check_workspace(&call, base + 16, 512, 512);
  expectError(VCATTN_ERROR_WORKSPACE,
              "attention: workspace is not aligned to 256 bytes");
  SetUp();
  vcattn_rt_check_workspace(&call, nullptr, 512, 512);
  expectError(VCATTN_ERROR_WORKSPACE, "attention: workspace is null");
}

TEST_F(RuntimeTest, Assertion) {
  vcattn_rt_assert(&call, 1, "fine");
  vcattn_rt_assert(&call, 0, "keys and values differ in number");
  expectError(VCATTN_ERROR_ARGUMENT,
              "attention: keys and values differ in number");
}

//===----------------------------------------------------------------------===//
// Tensor maps
//===----------------------------------------------------------------------===//

class TensorMapTest : public RuntimeTest {
protected:
  void encode(int32_t elementBytes = 1) {
    vcattn_rt_enter(&call);
    vcattn_rt_encode_tensor_map(&call, map, data, elementBytes, 3, sizes,
                                strides, box);
  }

  alignas(64) unsigned char map[128] = {};
  void *data = reinterpret_cast<void *>(0x10000);
  int64_t sizes[3] = {6, 1000, 128}, strides[3] = {128, 768, 1},
          box[3] = {1, 64, 128};
};

TEST_F(TensorMapTest, Encodes) {
  encode();
  EXPECT_EQ(vcattn_rt_end(&call), VCATTN_SUCCESS) << vcattn_last_error();
  EXPECT_EQ(map[0], 0xAB);
  EXPECT_EQ(fake->map_type, 0);
  EXPECT_EQ(fake->map_swizzle, 3);
  EXPECT_EQ(fake->map_rank, 3);
  EXPECT_EQ(fake->map_address, data);
  EXPECT_EQ(fake->map_sizes[0], 128u);
  EXPECT_EQ(fake->map_sizes[1], 1000u);
  EXPECT_EQ(fake->map_sizes[2], 6u);
  EXPECT_EQ(fake->map_strides[0], 768u);
  EXPECT_EQ(fake->map_strides[1], 128u);
  EXPECT_EQ(fake->map_box[0], 128u);
  EXPECT_EQ(fake->map_box[1], 64u);
  EXPECT_EQ(fake->map_box[2], 1u);
}

TEST_F(TensorMapTest, StridesAreBytes) {
  box[2] = 32;
  encode(4);
  EXPECT_EQ(vcattn_rt_end(&call), VCATTN_SUCCESS) << vcattn_last_error();
  EXPECT_EQ(fake->map_type, 2);
  EXPECT_EQ(fake->map_strides[0], 4 * 768u);
}

TEST_F(TensorMapTest, UnusedStrideIsReplaced) {
  sizes[0] = 1;
  strides[0] = 7;
  encode();
  EXPECT_EQ(vcattn_rt_end(&call), VCATTN_SUCCESS) << vcattn_last_error();
  EXPECT_EQ(fake->map_strides[1], 768u);
}

TEST_F(TensorMapTest, NothingToCopy) {
  sizes[1] = 0;
  map[5] = 1;
  encode();
  EXPECT_EQ(vcattn_rt_end(&call), VCATTN_SUCCESS);
  EXPECT_EQ(map[5], 0);
  EXPECT_EQ(fake->map_rank, 0);
}

TEST_F(TensorMapTest, OddStride) {
  strides[1] = 772;
  encode();
  expectError(VCATTN_ERROR_ARGUMENT,
              "attention: tensor map: stride 1 (772 bytes) is not a multiple "
              "of 16 bytes");
}

TEST_F(TensorMapTest, InnermostStride) {
  strides[2] = 2;
  encode();
  expectError(VCATTN_ERROR_ARGUMENT, "attention: tensor map: innermost stride "
                                     "is 2 elements, must be 1");
}

TEST_F(TensorMapTest, MisalignedData) {
  data = reinterpret_cast<void *>(0x10004);
  encode();
  expectError(VCATTN_ERROR_ARGUMENT, "attention: tensor map: data pointer is "
                                     "not aligned to 16 bytes");
}

TEST_F(TensorMapTest, SwizzleSpansTheBox) {
  sizes[2] = 40; // less than the box
  for (auto [width, swizzle] : {std::pair(16, 1), std::pair(32, 1),
                                std::pair(64, 2), std::pair(128, 3)}) {
    box[2] = width;
    encode();
    EXPECT_EQ(vcattn_rt_end(&call), VCATTN_SUCCESS) << vcattn_last_error();
    EXPECT_EQ(fake->map_swizzle, swizzle) << width;
    EXPECT_EQ(fake->map_sizes[0], 40u);
  }
}

TEST_F(TensorMapTest, BoxWiderThanSwizzle) {
  encode(2);
  expectError(VCATTN_ERROR_ARGUMENT,
              "attention: tensor map: the box's innermost dimension has 256 "
              "bytes, the swizzle 128");
}

TEST_F(TensorMapTest, DriverRefuses) {
  fake->encode_result = 1;
  encode();
  expectError(VCATTN_ERROR_DRIVER,
              "attention: cuTensorMapEncodeTiled failed: "
              "CUDA_ERROR_INVALID_VALUE (invalid argument)");
}

} // namespace
