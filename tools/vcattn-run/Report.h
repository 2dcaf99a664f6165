//===- Report.h - What vcattn-run tells -------------------------*- C++ -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_TOOLS_RUN_REPORT_H
#define VCATTN_TOOLS_RUN_REPORT_H

#include "Function.h"

namespace vcattn::run {

/// One input and what came of it.
struct RunReport {
  std::string input; ///< kind, or "files"
  double firstCall = 0;
  std::vector<double> calls; ///< the later ones
  std::optional<ErrorSummary> error;
  std::optional<double> logSumExpError;
  int64_t rowsCompared = 0;
  /// Elements that are NaN or infinite.
  int64_t nonFiniteInputs = 0, nonFiniteResults = 0;

  double getBest() const;
  double getMedian() const;
};

struct Report {
  Options options;
  Entry entry;
  std::string device;
  double compileSeconds = 0;
  MethodSummary method;
  std::optional<AttentionRole> attention;
  /// Why it is not compared with exact attention, if it is not.
  std::string whyNoAttention;
  std::vector<RunReport> runs;
};

void printReport(const Report &report, llvm::raw_ostream &stream);
void printJson(const Report &report, llvm::raw_ostream &stream);

} // namespace vcattn::run

#endif // VCATTN_TOOLS_RUN_REPORT_H
