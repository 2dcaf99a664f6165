//===- Report.cpp - What vcattn-run tells ---------------------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include <algorithm>
#include <cmath>

using namespace vcattn;
using namespace vcattn::run;
using llvm::raw_ostream;
using llvm::StringRef;

double RunReport::getBest() const {
  double best = firstCall;
  for (double seconds : calls)
    best = std::min(best, seconds);
  return best;
}

double RunReport::getMedian() const {
  std::vector<double> sorted = calls;
  if (sorted.empty())
    return firstCall;
  std::sort(sorted.begin(), sorted.end());
  return sorted[sorted.size() / 2];
}

//===----------------------------------------------------------------------===//
// For people
//===----------------------------------------------------------------------===//

static std::string formatSeconds(double seconds) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (seconds < 1e-3)
    stream << llvm::format("%.1f us", seconds * 1e6);
  else if (seconds < 1)
    stream << llvm::format("%.1f ms", seconds * 1e3);
  else
    stream << llvm::format("%.2f s", seconds);
  return text;
}

static std::string formatType(const HostType &type) {
  std::string text;
  for (int64_t size : type.shape)
    text +=
        (mlir::ShapedType::isDynamic(size) ? "?" : llvm::itostr(size)) + "x";
  return text + getName(type.element).str();
}

static void printAttention(const Report &report, raw_ostream &stream) {
  const AttentionProblem &p = report.attention->problem;
  stream << "  attention of " << p.queries << " queries to " << p.keys
         << " keys, " << p.queryHeads << " heads";
  if (p.keyHeads != p.queryHeads)
    stream << " (" << p.keyHeads << " for keys and values)";
  if (p.batch != 1)
    stream << ", batch " << p.batch;
  stream << ", head dimension " << p.dim;
  if (p.valueDim != p.dim)
    stream << " (values " << p.valueDim << ")";
  stream << ", "
         << getName(report.entry.arguments[report.attention->query].element)
         << llvm::format(", scale %.6g", p.scale);
  if (p.causal != Causality::None)
    stream << ", causal ("
           << (p.causal == Causality::TopLeft
                   ? "query i sees keys up to i"
                   : "the last query sees the last key")
           << ")";
  if (report.attention->mask)
    stream << ", masked";
  stream << "\n";
}

static void printFunction(const Report &report, raw_ostream &stream) {
  stream << "@" << report.entry.name << " of " << report.options.inputFile
         << ", compiled for " << report.device << " in "
         << formatSeconds(report.compileSeconds) << "\n";
  if (report.attention) {
    printAttention(report, stream);
  } else {
    auto types = [&](llvm::ArrayRef<HostType> list) {
      llvm::interleaveComma(
          list, stream, [&](const HostType &t) { stream << formatType(t); });
    };
    stream << "  takes ";
    types(report.entry.arguments);
    stream << "; gives ";
    types(report.entry.results);
    stream << "\n";
  }
  if (report.method.isEmpty())
    return;
  stream << "What runs instead of plain attention:\n";
  for (const MethodSummary::Step &step : report.method.steps)
    stream << "  " << llvm::left_justify(step.operand, 17) << " " << step.text
           << "\n";
}

static void printRuns(const Report &report, raw_ostream &stream) {
  stream << llvm::left_justify("input", 12);
  if (report.attention)
    stream << llvm::left_justify("error", 12);
  stream << llvm::left_justify("first call", 13)
         << llvm::left_justify("best", 12) << "median\n";
  for (const RunReport &run : report.runs) {
    stream << llvm::left_justify(run.input, 12);
    if (report.attention) {
      std::string text = "-";
      if (run.error) {
        text.clear();
        llvm::raw_string_ostream(text)
            << llvm::format("%.5f", run.error->relativeL2);
      }
      stream << llvm::left_justify(text, 12);
    }
    stream << llvm::left_justify(formatSeconds(run.firstCall), 13)
           << llvm::left_justify(formatSeconds(run.getBest()), 12)
           << formatSeconds(run.getMedian()) << "\n";
  }
}

static void printNotes(const Report &report, raw_ostream &stream) {
  if (report.attention && report.runs.front().rowsCompared)
    stream << "error: relative L2 distance from exact attention in FP64, over "
           << report.runs.front().rowsCompared << " rows\n";
  if (!report.attention && !report.whyNoAttention.empty())
    stream << "Not compared with exact attention: " << report.whyNoAttention
           << "\n";
  for (const RunReport &run : report.runs) {
    if (run.logSumExpError)
      stream << run.input << ": log-sum-exp off by at most "
             << llvm::format("%.3g", *run.logSumExpError) << "\n";
    if (run.nonFiniteInputs)
      stream << run.input << ": " << run.nonFiniteInputs
             << " elements of the inputs are NaN or infinite\n";
    if (run.nonFiniteResults)
      stream << run.input << ": " << run.nonFiniteResults
             << " elements of the results are NaN or infinite\n";
    if (run.error && run.error->nonFiniteMismatches)
      stream << run.input << ": " << run.error->nonFiniteMismatches
             << " elements are NaN or infinite where exact attention is not, "
                "or the other way round\n";
  }
  for (auto &[number, file] : report.options.outputFiles)
    stream << "Wrote result " << number << " to " << file << "\n";
}

void vcattn::run::printReport(const Report &report, raw_ostream &stream) {
  printFunction(report, stream);
  printRuns(report, stream);
  printNotes(report, stream);
}

//===----------------------------------------------------------------------===//
// For machines
//===----------------------------------------------------------------------===//

/// JSON has no NaN and no infinity.
static llvm::json::Value number(double value) {
  if (std::isfinite(value))
    return value;
  return nullptr;
}

static llvm::json::Object makeRun(const RunReport &run) {
  llvm::json::Object json{{"input", run.input},
                          {"first_call_s", run.firstCall},
                          {"best_s", run.getBest()},
                          {"median_s", run.getMedian()},
                          {"calls", int64_t(run.calls.size() + 1)},
                          {"non_finite_inputs", run.nonFiniteInputs},
                          {"non_finite_results", run.nonFiniteResults}};
  if (run.error) {
    json["relative_l2_error"] = number(run.error->relativeL2);
    json["largest_difference"] = number(run.error->largestDifference);
    json["non_finite_mismatches"] = run.error->nonFiniteMismatches;
    json["rows_compared"] = run.rowsCompared;
  }
  if (run.logSumExpError)
    json["log_sum_exp_error"] = number(*run.logSumExpError);
  return json;
}

static llvm::json::Object makeAttention(const AttentionProblem &p) {
  return llvm::json::Object{{"batch", p.batch},
                            {"query_heads", p.queryHeads},
                            {"key_heads", p.keyHeads},
                            {"queries", p.queries},
                            {"keys", p.keys},
                            {"dim", p.dim},
                            {"value_dim", p.valueDim},
                            {"scale", p.scale},
                            {"causal", stringifyCausality(p.causal)},
                            {"layout", stringifyLayout(p.layout)}};
}

void vcattn::run::printJson(const Report &report, raw_ostream &stream) {
  llvm::json::Array runs;
  for (const RunReport &run : report.runs)
    runs.push_back(makeRun(run));
  llvm::json::Object json{{"function", report.entry.name},
                          {"device", report.device},
                          {"compile_s", report.compileSeconds},
                          {"seed", int64_t(report.options.seed)},
                          {"method", llvm::json::Object(report.method.json)},
                          {"runs", std::move(runs)}};
  if (report.attention)
    json["attention"] = makeAttention(report.attention->problem);
  else
    json["not_compared"] = report.whyNoAttention;
  stream << llvm::formatv("{0:2}\n", llvm::json::Value(std::move(json)));
}
