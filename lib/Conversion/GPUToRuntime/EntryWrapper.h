//===- EntryWrapper.h - The C functions callers see -------------*- C++ -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_LIB_CONVERSION_GPUTORUNTIME_ENTRYWRAPPER_H
#define VCATTN_LIB_CONVERSION_GPUTORUNTIME_ENTRYWRAPPER_H

#include "RuntimeBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace vcattn {

/// An entry function and the one that computes its workspace's size.
struct EntryPair {
  mlir::func::FuncOp entry, size;
};

/// Checks that `pair` has the arguments that vcattn-plan-workspace gives it,
/// renames both functions (the entry's stream becomes the vcattn_call), and
/// makes the C functions that have their names and call them.
mlir::LogicalResult wrapEntry(EntryPair pair, RuntimeBuilder &runtime,
                              const mlir::LLVMTypeConverter &converter);

} // namespace vcattn

#endif // VCATTN_LIB_CONVERSION_GPUTORUNTIME_ENTRYWRAPPER_H
