//===- MethodFlags.h - The method's switches on a command line --*- C++ -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The same flags for every tool that compiles attention.
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_PIPELINES_METHODFLAGS_H
#define VCATTN_PIPELINES_METHODFLAGS_H

#include "vcattn/Pipelines/Method.h"
#include "llvm/Support/CommandLine.h"

namespace vcattn {

/// To be made once, as a static object of the tool.
class MethodFlags {
public:
  MethodFlags();

  /// What the command line says.
  MethodConfig getConfig() const;

  /// False if the module's ops are to be compiled as they are.
  bool runsMethod() const { return !noMethod; }

  llvm::cl::OptionCategory category;

private:
  llvm::cl::opt<ScoreFormat> scores;
  llvm::cl::opt<SoftmaxCast> cast;
  llvm::cl::opt<int64_t> clusters, iterations;
  llvm::cl::opt<bool> noSmoothKeys, noCenter, noRotate, noSmoothValues,
      noQuantizeValues, noMethod;
};

} // namespace vcattn

#endif // VCATTN_PIPELINES_METHODFLAGS_H
