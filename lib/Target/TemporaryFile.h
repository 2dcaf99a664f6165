//===- TemporaryFile.h - Files for other programs ---------------*- C++ -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_LIB_TARGET_TEMPORARYFILE_H
#define VCATTN_LIB_TARGET_TEMPORARYFILE_H

#include "mlir/IR/Location.h"
#include "mlir/Support/LLVM.h"
#include "llvm/Support/FileUtilities.h"
#include <string>

namespace vcattn {

/// A file in the system's temporary directory, removed at the end of its scope.
class TemporaryFile {
public:
  /// Makes a file that ends in `suffix` and holds `contents`.
  static mlir::FailureOr<TemporaryFile>
  create(llvm::StringRef suffix, llvm::StringRef contents, mlir::Location loc);

  llvm::StringRef getPath() const { return path; }

  /// What the file holds now.
  mlir::FailureOr<std::string> read(mlir::Location loc) const;

private:
  explicit TemporaryFile(llvm::StringRef path)
      : path(path), remover(std::make_unique<llvm::FileRemover>(path)) {}

  std::string path;
  std::unique_ptr<llvm::FileRemover> remover;
};

/// Runs a program. Fails, with what the program printed, if it does; returns
/// what it printed otherwise.
mlir::FailureOr<std::string> runProgram(llvm::StringRef program,
                                        llvm::ArrayRef<std::string> arguments,
                                        mlir::Location loc);

} // namespace vcattn

#endif // VCATTN_LIB_TARGET_TEMPORARYFILE_H
