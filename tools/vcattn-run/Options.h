//===- Options.h - vcattn-run's command line --------------------*- C++ -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_TOOLS_RUN_OPTIONS_H
#define VCATTN_TOOLS_RUN_OPTIONS_H

#include "vcattn/Pipelines/Method.h"
#include "vcattn/Support/AttentionProblem.h"
#include "llvm/Support/Error.h"
#include <map>

namespace vcattn::run {

enum class Device { Cpu, Cuda };

/// Everything that the command line says.
struct Options {
  std::string inputFile;
  std::string entry;
  Device device = Device::Cpu;
  MethodConfig method;
  /// False: the module's ops are compiled as they are.
  bool runMethod = true;

  /// .npy files, one per argument; or kinds of generated inputs.
  std::vector<std::string> argumentFiles;
  std::vector<InputKind> inputKinds;
  uint64_t seed = 1;
  /// Sizes given by name: B, Hq, Hkv, Nq, Nk, D, Dv.
  std::map<std::string, int64_t> sizes;
  /// Where to write which result.
  std::map<unsigned, std::string> outputFiles;
  /// Shapes of results that the function's type leaves open and that the caller
  /// has to know.
  std::map<unsigned, llvm::SmallVector<int64_t>> resultShapes;

  /// Calls after the first; none: a few, within two seconds.
  std::optional<unsigned> repeat;
  /// How many rows of the result are compared with exact attention.
  int64_t rows = 1024;
  bool json = false;
};

/// Parses the command line; prints help and exits if asked to.
llvm::Expected<Options> parseOptions(int argc, char **argv);

} // namespace vcattn::run

#endif // VCATTN_TOOLS_RUN_OPTIONS_H
