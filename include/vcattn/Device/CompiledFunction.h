//===- CompiledFunction.h - A function of a library, to be called *- C++ -*-==//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What compileModule makes for a GPU, loaded into this process and called.
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_DEVICE_COMPILEDFUNCTION_H
#define VCATTN_DEVICE_COMPILEDFUNCTION_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace vcattn {

class CompiledFunction {
public:
  /// Loads `name` from the bytes of a shared library.
  static llvm::Expected<CompiledFunction> load(llvm::StringRef library,
                                               llvm::StringRef name);

  /// Bytes of workspace for these arguments, which are pointers to memref
  /// descriptors of inputs and results.
  llvm::Expected<int64_t>
  getWorkspaceSize(llvm::ArrayRef<void *> arguments) const;

  /// Enqueues the function on the default stream.
  llvm::Error launch(llvm::ArrayRef<void *> arguments, void *workspace,
                     int64_t size) const;

private:
  std::string name;
  void *function = nullptr, *workspaceSize = nullptr;
};

} // namespace vcattn

#endif // VCATTN_DEVICE_COMPILEDFUNCTION_H
