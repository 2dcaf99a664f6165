//===- TuningCase.h - One attention, taken apart for timing -----*- C++ -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_LIB_TUNE_TUNINGCASE_H
#define VCATTN_LIB_TUNE_TUNINGCASE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "vcattn/Support/AttentionProblem.h"
#include "vcattn/Target/ScheduleFile.h"
#include "vcattn/Tune/Tune.h"

namespace vcattn {

/// An attention of static sizes as two modules of one function each.
struct TuningCase {
  mlir::Location loc;
  AttentionProblem problem;
  /// Element type of query, key and value.
  mlir::Type element;
  /// What later compilations of the module look up.
  ScheduleKey key;
  /// @pack makes the operands of @kernel, a vcattn.packed_attention.
  mlir::OwningOpRef<mlir::ModuleOp> pack, kernel;
  /// The schedule without tuning.
  ScheduleAttr schedule;

  mlir::func::FuncOp getPack();
  mlir::func::FuncOp getKernel();
  PackedAttentionOp getAttention();
};

/// The attentions of `module` that differ. Reports what cannot be tuned.
mlir::FailureOr<std::vector<TuningCase>>
collectTuningCases(mlir::ModuleOp module, const TuneOptions &options);

/// Schedules worth trying for a case, its own first: all that its target has
/// room for, with the fields fixed that the options choose.
mlir::FailureOr<std::vector<ScheduleAttr>>
getCandidates(TuningCase &x, const TuneOptions &options);

} // namespace vcattn

#endif // VCATTN_LIB_TUNE_TUNINGCASE_H
