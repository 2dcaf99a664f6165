//===- ScheduleFile.h - Schedules that were found by measuring --*- C++ -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The JSON file in which vcattn-compile --tune keeps the best schedules, one
// for each kind of attention:
//
//   {"version": 1,
//    "schedules": [
//      {"target": "sm_90a", "head_dim": 128, "value_dim": 128,
//       "cast": "expcast", "scores": "i8", "causal": "none",
//       "sizes": "medium",
//       "schedule": {"tile_q": "128", "stages": "4", ...},
//       "device": "NVIDIA H200", "milliseconds": 1.52}]}
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_TARGET_SCHEDULEFILE_H
#define VCATTN_TARGET_SCHEDULEFILE_H

#include "vcattn/Target/ScheduleChoices.h"
#include "vcattn/Target/Schedules.h"
#include <vector>

namespace vcattn {

/// What a schedule is chosen by.
struct ScheduleKey {
  std::string target;
  int64_t headDim = 0, valueDim = 0;
  /// As MLIR prints them: `expcast`, `i8`, `none`.
  std::string cast, scores, causal;
  SizeClass sizes = SizeClass::Open;

  /// The key of an attention that is to run on `chip`.
  static ScheduleKey of(QuantizedAttentionOp op, llvm::StringRef chip);

  bool operator==(const ScheduleKey &other) const;
  /// One line for people.
  std::string print() const;
};

struct TunedSchedule {
  ScheduleKey key;
  ScheduleChoices choices;
  /// Where it was the fastest, and how fast.
  std::string device;
  double milliseconds = 0;
};

class ScheduleFile {
public:
  /// Errors name the path and, as `path:line:column` or by the name of an
  /// entry, the place.
  static llvm::Expected<ScheduleFile> read(llvm::StringRef path);

  /// Writes a file that is whole or not there.
  llvm::Error write(llvm::StringRef path) const;

  const TunedSchedule *lookup(const ScheduleKey &key) const;
  /// Adds a schedule, or replaces the one with the same key.
  void set(TunedSchedule schedule);

private:
  std::vector<TunedSchedule> schedules;
};

} // namespace vcattn

#endif // VCATTN_TARGET_SCHEDULEFILE_H
