//===- Pipelines.h - From attention to something that runs ------*- C++ -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Pipelines string the project's passes and upstream's together.
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_PIPELINES_PIPELINES_H
#define VCATTN_PIPELINES_PIPELINES_H

#include "vcattn/Pipelines/Method.h"

namespace vcattn {

/// Options of `vcattn-to-cpu`.
struct ToCPUOptions : public MethodOptionsBase<ToCPUOptions> {
  Option<bool> method{
      *this, "method",
      llvm::cl::desc("Run vcattn-method first, with its options; otherwise "
                     "what runs is what the module says"),
      llvm::cl::init(false)};
  Option<int64_t> vectorWidth{
      *this, "vector-width",
      llvm::cl::desc("Channels that one iteration of the preprocessing loops "
                     "handles; 0: all of them"),
      llvm::cl::init(0)};
};

/// From tensors at any level to the LLVM dialect, for the JIT or for an object
/// file.
///
/// What a caller sees of a public function `f` with a body, `_mlir_ciface_f`:
/// - each tensor argument is a pointer to a memref descriptor (the MLIR C
///   interface), of any strides and offset;
/// - if the shapes of all results are static, f returns nothing and takes one
///   more descriptor per result, contiguous (identity layout), which it fills:
///   `_mlir_ciface_f(args..., result0*, result1*, ...)`;
/// - otherwise the results come back as descriptors, in one struct if there
///   are several, through a pointer before the arguments:
///   `_mlir_ciface_f(results*, args...)`. Each owns its memory, which is to be
///   released by free(descriptor.allocated).
/// Arguments are only read. f8E4M3FN elements are i8 in the LLVM dialect, bf16
/// and f16 have two bytes.
void buildToCPUPipeline(mlir::OpPassManager &pm, const ToCPUOptions &options);

/// Options of `vcattn-to-nvvm`.
struct ToNVVMOptions : public MethodOptionsBase<ToNVVMOptions> {
  Option<bool> method{
      *this, "method",
      llvm::cl::desc("Run vcattn-method first, with its options; otherwise "
                     "what runs is what the module says"),
      llvm::cl::init(true)};
  Option<std::string> target{*this, "target",
                             llvm::cl::desc("Chip, for example sm_90a"),
                             llvm::cl::init("sm_90a")};
  Option<std::string> schedule{
      *this, "schedule",
      llvm::cl::desc("Fields of the schedule, as stages=3,promotion=32 (see "
                     "vcattn-schedule)")};
  Option<std::string> scheduleFile{
      *this, "schedule-file",
      llvm::cl::desc("File of schedules (see vcattn-schedule)")};
  Option<bool> printSchedule{
      *this, "print-schedule",
      llvm::cl::desc("Remark on the schedule of each attention")};
  Option<int64_t> vectorWidth{
      *this, "vector-width",
      llvm::cl::desc("Channels that one thread of a preprocessing kernel "
                     "handles, where it can; 0: all of them"),
      llvm::cl::init(16)};
  Option<int64_t> splitKeys{
      *this, "split-keys",
      llvm::cl::desc("Keys that one unit of work handles, as "
                     "vcattn-split-keys has it"),
      llvm::cl::init(0)};
  Option<bool> debugWaits{
      *this, "debug-waits",
      llvm::cl::desc("Trap in kernels' waits that take seconds"),
      llvm::cl::init(false)};
};

/// From tensors at any level to kernels in the NVVM dialect, in one gpu.module,
/// and entry functions that launch them. Functions that hold more than
/// attention stay as they are, and entry functions are in a module
/// @vcattn_entries then.
void buildToNVVMPipeline(mlir::OpPassManager &pm, const ToNVVMOptions &options);

/// Options of `vcattn-to-runtime`, those of vcattn-serialize-kernels.
struct ToRuntimeOptions : public mlir::PassPipelineOptions<ToRuntimeOptions> {
  Option<std::string> chip{*this, "chip", llvm::cl::desc("The chip"),
                           llvm::cl::init("sm_90a")};
  Option<std::string> format{*this, "format", llvm::cl::desc("ptx or cubin"),
                             llvm::cl::init("cubin")};
  Option<std::string> ptxas{*this, "ptxas", llvm::cl::desc("The ptxas to run")};
  Option<bool> report{
      *this, "report",
      llvm::cl::desc("Remark on each kernel's registers, stack and spills")};
};

/// From what `vcattn-to-nvvm` gives to C functions (vcattn_runtime.h).
void buildToRuntimePipeline(mlir::OpPassManager &pm,
                            const ToRuntimeOptions &options);

/// Registers `vcattn-to-nvvm` and `vcattn-to-runtime`.
void registerToNVVMPipeline();

/// Registers `vcattn-to-cpu`.
void registerToCPUPipeline();

} // namespace vcattn

#endif // VCATTN_PIPELINES_PIPELINES_H
