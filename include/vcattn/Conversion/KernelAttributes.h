//===- KernelAttributes.h - What kernels say about themselves ---*- C++ -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Discardable attributes on kernel functions, by which conversions tell later
// ones what types alone no longer say.
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_CONVERSION_KERNELATTRIBUTES_H
#define VCATTN_CONVERSION_KERNELATTRIBUTES_H

#include "llvm/ADT/StringRef.h"

namespace vcattn {

/// Bytes of dynamic shared memory that the kernel is launched with (i64).
inline constexpr llvm::StringLiteral kSharedMemoryAttrName =
    "vcattn.shared_memory";

/// Numbers of the arguments that are tensor maps (array of i32).
inline constexpr llvm::StringLiteral kTensorMapArgumentsAttrName =
    "vcattn.tensor_map_arguments";

} // namespace vcattn

#endif // VCATTN_CONVERSION_KERNELATTRIBUTES_H
