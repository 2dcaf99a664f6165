//===- Entry.h - The function that runs -------------------------*- C++ -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds the function, says what tensors it takes and gives, and whether it is
// one attention of its arguments.
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_TOOLS_RUN_ENTRY_H
#define VCATTN_TOOLS_RUN_ENTRY_H

#include "Options.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace vcattn::run {

struct HostType {
  Element element;
  /// mlir::ShapedType::kDynamic where open.
  llvm::SmallVector<int64_t> shape;
};

struct Entry {
  std::string name;
  std::vector<HostType> arguments, results;
};

/// The function --entry names, or else the module's only public one; all of
/// its arguments and results must be ranked tensors that the tool can hold.
llvm::Expected<Entry> findEntry(mlir::ModuleOp module, llvm::StringRef name);

/// How the arguments and results of an entry are those of one attention.
struct AttentionRole {
  AttentionProblem problem; ///< sizes may be kDynamic
  unsigned query, key, value;
  std::optional<unsigned> mask;
  unsigned result;
  std::optional<unsigned> logSumExp;
  /// Argument whose shape differs from the attention's by a reshape.
  bool reshaped = false;
};

/// Looks for a single attention of the entry's arguments, raising a copy of the
/// module first. If there is none, `why` says what stands against it.
std::optional<AttentionRole>
findAttention(mlir::ModuleOp module, const Entry &entry, std::string &why);

/// Takes the problem's sizes from the arguments and checks that they agree.
llvm::Error takeSizes(AttentionRole &role,
                      llvm::ArrayRef<HostTensor> arguments);

} // namespace vcattn::run

#endif // VCATTN_TOOLS_RUN_ENTRY_H
