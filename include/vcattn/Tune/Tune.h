//===- Tune.h - Finding schedules by measuring ------------------*- C++ -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What vcattn-compile --tune does. Only the attention kernel is timed, on
// operands that the method made of normal numbers: the preprocessing has no
// schedule. The promotion interval is no candidate, since it changes results.
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_TUNE_TUNE_H
#define VCATTN_TUNE_TUNE_H

#include "vcattn/Target/Compile.h"
#include <map>

namespace vcattn {

struct TuneOptions {
  /// Target, method, chosen fields of the schedule, ptxas and C compiler.
  CompileOptions compile;
  /// Sizes that the module leaves open, by name: B, Hq, Hkv, Nq, Nk, D, Dv.
  std::map<std::string, int64_t> sizes;
  /// Seconds for which a kernel runs before and while it is timed. A card is at
  /// its power limit, and a kernel at its lasting speed, after about 0.7 s.
  double warmup = 0.7, window = 2.0;
  /// Where the best schedules go, beside those that are there; empty: nowhere.
  std::string file;
};

/// Tries schedules for each attention of `module`, prints a table to `table`
/// and what it is doing to `progress`. Problems become diagnostics.
mlir::LogicalResult tune(mlir::ModuleOp module, const TuneOptions &options,
                         llvm::raw_ostream &table, llvm::raw_ostream &progress);

} // namespace vcattn

#endif // VCATTN_TUNE_TUNE_H
