//===- EntryFunctions.h - Functions that callers call -----------*- C++ -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An entry function is one that the artefact exports: host code that launches
// kernels. Passes below bufferization touch entry functions only.
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_DIALECT_VCATTN_IR_ENTRYFUNCTIONS_H
#define VCATTN_DIALECT_VCATTN_IR_ENTRYFUNCTIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace vcattn {

/// The unit attribute that marks an entry function.
inline constexpr llvm::StringLiteral kEntryAttrName = "vcattn.entry";

/// The unit attributes that mark the two arguments which vcattn-plan-workspace
/// adds to an entry function: its workspace and its CUDA stream.
inline constexpr llvm::StringLiteral kWorkspaceAttrName = "vcattn.workspace";
inline constexpr llvm::StringLiteral kStreamAttrName = "vcattn.stream";

/// The integer attribute of an argument that is a result's out-parameter: the
/// result's number.
inline constexpr llvm::StringLiteral kResultAttrName = "vcattn.result";

/// The module that vcattn-isolate-entries moves entry functions to.
inline constexpr llvm::StringLiteral kEntriesModuleName = "vcattn_entries";

/// What is appended to an entry's name to name the function that computes its
/// workspace's size.
inline constexpr llvm::StringLiteral kWorkspaceSizeSuffix = "_workspace_size";

/// The functions of `module` with the attribute `vcattn.entry`; if none has it,
/// all public functions with a body.
llvm::SmallVector<mlir::func::FuncOp> getEntryFunctions(mlir::ModuleOp module);

} // namespace vcattn

#endif // VCATTN_DIALECT_VCATTN_IR_ENTRYFUNCTIONS_H
