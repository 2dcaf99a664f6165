//===- vcattn-run.cpp - Compile a function and run it here ----------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads a module, compiles one function of it in memory, runs it on files or on
// generated inputs, and says what it did and how far the result is from exact
// attention.
//
//===----------------------------------------------------------------------===//

#include "Report.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "vcattn/InitAll.h"
#include "vcattn/Support/Npy.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/WithColor.h"
#include <chrono>

using namespace mlir;
using namespace vcattn;
using namespace vcattn::run;

static llvm::Error makeError(const llvm::Twine &text) {
  return llvm::createStringError(text);
}

/// Reads one file per argument.
static llvm::Expected<std::vector<HostTensor>>
readArguments(const Options &options, const Entry &entry) {
  if (options.argumentFiles.size() != entry.arguments.size())
    return makeError("@" + entry.name + " takes " +
                     llvm::Twine(entry.arguments.size()) + " arguments, but " +
                     llvm::Twine(options.argumentFiles.size()) +
                     " are given with --arg");
  std::vector<HostTensor> tensors;
  for (auto [file, type] :
       llvm::zip_equal(options.argumentFiles, entry.arguments)) {
    auto tensor = readNpy(file, type.element, type.shape);
    if (!tensor)
      return tensor.takeError();
    tensors.push_back(std::move(*tensor));
  }
  return std::move(tensors);
}

/// Checks that q, k and v can be made up, and settles their sizes.
static llvm::Error prepareGeneration(Report &report) {
  if (!report.attention)
    return makeError("@" + report.entry.name +
                     ": inputs are generated for "
                     "a function that is one attention of its arguments, but " +
                     report.whyNoAttention +
                     "; give every argument with --arg");
  AttentionRole &role = *report.attention;
  if (report.entry.arguments.size() != 3)
    return makeError("@" + report.entry.name + " takes " +
                     llvm::Twine(report.entry.arguments.size()) +
                     " arguments; only q, k and v are generated: give every "
                     "argument with --arg");
  Element element = report.entry.arguments[role.query].element;
  for (const HostType &type : report.entry.arguments)
    if (type.element != element)
      return makeError("q, k and v have different element types; give every "
                       "argument with --arg");
  return applySizes(role.problem, report.options.sizes, "--sizes");
}

static std::vector<HostTensor> generateArguments(const Report &report,
                                                 InputKind kind) {
  const AttentionRole &role = *report.attention;
  Element element = report.entry.arguments[role.query].element;
  AttentionInputs inputs =
      generateInputs(role.problem, kind, element, report.options.seed);
  std::vector<HostTensor> tensors(3);
  tensors[role.query] = std::move(inputs.query);
  tensors[role.key] = std::move(inputs.key);
  tensors[role.value] = std::move(inputs.value);
  if (role.reshaped)
    for (auto [tensor, type] : llvm::zip_equal(tensors, report.entry.arguments))
      tensor.shape = type.shape;
  return tensors;
}

/// Results with the shapes that are known before the call.
static llvm::Expected<std::vector<HostTensor>>
makeResults(const Report &report) {
  std::vector<HostTensor> results;
  for (auto [i, type] : llvm::enumerate(report.entry.results)) {
    SmallVector<int64_t> shape = type.shape;
    const auto &role = report.attention;
    auto given = report.options.resultShapes.find(i);
    if (given != report.options.resultShapes.end()) {
      shape = given->second;
    } else if (role && i == role->result && !role->reshaped) {
      shape = role->problem.getQueryShape();
      shape.back() = role->problem.valueDim;
    } else if (role && role->logSumExp == i && !role->reshaped) {
      shape = {role->problem.batch, role->problem.queryHeads,
               role->problem.queries};
    }
    // Functions for the CPU return what they could not know before.
    if (report.options.device == Device::Cpu)
      for (int64_t &size : shape)
        size = std::max<int64_t>(size, 0);
    if (ShapedType::isDynamicShape(shape))
      return makeError("the shape of result " + llvm::Twine(i) + " of @" +
                       report.entry.name +
                       " is open: give it with --result-shape");
    results.emplace_back(type.element, shape);
  }
  return std::move(results);
}

/// Compares with exact attention.
static void compare(const Report &report, ArrayRef<HostTensor> arguments,
                    ArrayRef<HostTensor> results, RunReport &run) {
  const AttentionRole &role = *report.attention;
  std::vector<RowIndex> rows = sampleRows(role.problem, report.options.rows);
  ReferenceRows reference =
      computeReference(role.problem, arguments[role.query], arguments[role.key],
                       arguments[role.value],
                       role.mask ? &arguments[*role.mask] : nullptr, rows);
  run.rowsCompared = rows.size();
  run.error = compareRows(role.problem, results[role.result], reference, rows);
  if (role.logSumExp)
    run.logSumExpError = compareLogSumExp(
        role.problem, results[*role.logSumExp], reference, rows);
}

static llvm::Error runOnce(Report &report, Function &function, StringRef input,
                           ArrayRef<HostTensor> arguments,
                           std::vector<HostTensor> &results) {
  static constexpr unsigned kDefaultRepeat = 3;
  static constexpr double kDefaultSeconds = 2.0;
  RunReport run;
  run.input = input.str();
  for (const HostTensor &tensor : arguments)
    run.nonFiniteInputs += tensor.countNonFinite();
  auto first = function.call(arguments, results);
  if (!first)
    return first.takeError();
  run.firstCall = *first;
  double spent = *first;
  for (unsigned i = 0; i < report.options.repeat.value_or(kDefaultRepeat);
       ++i) {
    if (!report.options.repeat && spent > kDefaultSeconds)
      break;
    auto seconds = function.call(arguments, results);
    if (!seconds)
      return seconds.takeError();
    run.calls.push_back(*seconds);
    spent += *seconds;
  }
  for (const HostTensor &tensor : results)
    run.nonFiniteResults += tensor.countNonFinite();
  if (report.attention && report.options.rows)
    compare(report, arguments, results, run);
  report.runs.push_back(std::move(run));
  return llvm::Error::success();
}

static llvm::Error checkOutputs(const Report &report) {
  auto check = [&](unsigned number, StringRef option) -> llvm::Error {
    if (number < report.entry.results.size())
      return llvm::Error::success();
    return makeError(option + ": @" + report.entry.name + " has " +
                     llvm::Twine(report.entry.results.size()) + " results");
  };
  for (auto &[number, file] : report.options.outputFiles)
    if (auto error = check(number, "--out " + std::to_string(number)))
      return error;
  for (auto &[number, shape] : report.options.resultShapes) {
    if (auto error = check(number, "--result-shape " + std::to_string(number)))
      return error;
    ArrayRef<int64_t> type = report.entry.results[number].shape;
    bool fits = shape.size() == type.size() &&
                llvm::all_of(llvm::zip_equal(shape, type), [](auto pair) {
                  auto [given, declared] = pair;
                  return ShapedType::isDynamic(declared) || given == declared;
                });
    if (!fits)
      return makeError("--result-shape " + llvm::Twine(number) +
                       " does not fit the function's type");
  }
  return llvm::Error::success();
}

static llvm::Error runAll(Report &report, ModuleOp module) {
  Options &options = report.options;
  auto entry = findEntry(module, options.entry);
  if (!entry)
    return entry.takeError();
  report.entry = std::move(*entry);
  if (llvm::Error error = checkOutputs(report))
    return error;
  report.attention = findAttention(module, report.entry, report.whyNoAttention);

  bool generates = options.argumentFiles.empty() &&
                   (!options.inputKinds.empty() || report.attention ||
                    !report.entry.arguments.empty());
  std::vector<HostTensor> arguments;
  if (generates) {
    if (options.inputKinds.empty())
      options.inputKinds = {InputKind::Gaussian};
    if (llvm::Error error = prepareGeneration(report))
      return error;
  } else {
    auto read = readArguments(options, report.entry);
    if (!read)
      return read.takeError();
    arguments = std::move(*read);
    if (report.attention)
      if (llvm::Error error = takeSizes(*report.attention, arguments))
        return error;
  }
  auto results = makeResults(report);
  if (!results)
    return results.takeError();

  auto start = std::chrono::steady_clock::now();
  auto compile = options.device == Device::Cpu ? compileForCpu : compileForCuda;
  auto function = compile(module, report.entry, options, report.method);
  if (!function)
    return function.takeError();
  report.compileSeconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  report.device = (*function)->getDeviceName();

  if (!generates) {
    if (llvm::Error error =
            runOnce(report, **function, "files", arguments, *results))
      return error;
  }
  for (InputKind kind : options.inputKinds) {
    arguments = generateArguments(report, kind);
    if (llvm::Error error =
            runOnce(report, **function, getName(kind), arguments, *results))
      return error;
  }
  for (auto &[number, file] : options.outputFiles)
    if (llvm::Error error = writeNpy(file, (*results)[number]))
      return error;
  return llvm::Error::success();
}

static void registerEverything(DialectRegistry &registry) {
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllToLLVMIRTranslations(registry);
  vcattn::registerAllDialects(registry);
  mlir::registerAllPasses();
  vcattn::registerAllPasses();
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  auto fail = [](llvm::Error error) {
    llvm::WithColor::error(llvm::errs(), "vcattn-run")
        << llvm::toString(std::move(error)) << "\n";
    return 1;
  };
  auto options = parseOptions(argc, argv);
  if (!options)
    return fail(options.takeError());
  auto file = llvm::MemoryBuffer::getFileOrSTDIN(options->inputFile);
  if (!file)
    return fail(
        makeError(options->inputFile + ": " + file.getError().message()));

  DialectRegistry registry;
  registerEverything(registry);
  MLIRContext context(registry);
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(*file), llvm::SMLoc());
  SourceMgrDiagnosticHandler diagnostics(sources, &context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module)
    return 1; // the parser has said why

  Report report;
  report.options = std::move(*options);
  if (llvm::Error error = runAll(report, *module))
    return fail(std::move(error));
  if (report.options.json)
    printJson(report, llvm::outs());
  else
    printReport(report, llvm::outs());
  return 0;
}
