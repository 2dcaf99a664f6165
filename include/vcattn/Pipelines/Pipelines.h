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

/// Registers `vcattn-to-cpu`.
void registerToCPUPipeline();

} // namespace vcattn

#endif // VCATTN_PIPELINES_PIPELINES_H
