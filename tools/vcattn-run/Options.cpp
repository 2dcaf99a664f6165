//===- Options.cpp - vcattn-run's command line ----------------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"
#include "vcattn/Pipelines/MethodFlags.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"

using namespace vcattn;
using namespace vcattn::run;
using llvm::Error;
using llvm::StringRef;
namespace cl = llvm::cl;

static constexpr StringRef kOverview =
    R"(Compile a function for attention and run it here

The module may hold attention in any form that vcattn-opt can raise: linalg ops,
vcattn.attention, or the ops of the method. The function is compiled in memory,
called with inputs from .npy files or from a generator, and, if it is one
attention of its arguments, compared with exact attention in FP64.

  vcattn-run attention.mlir --input=all
  vcattn-run attention.mlir --input=clustered --scores=f8E4M3FN --json
  vcattn-run any.mlir --entry=f --arg x.npy --arg y.npy --out 0=result.npy
)";

static cl::OptionCategory whatCategory("What runs");
static cl::OptionCategory inputCategory("Inputs and outputs");
static cl::OptionCategory reportCategory("Timing and report");

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

static cl::opt<std::string> inputFile(cl::Positional, cl::desc("INPUT.mlir"),
                                      cl::cat(whatCategory));
static cl::opt<Device> device(
    "device", cl::desc("Where it runs:"), cl::init(Device::Cpu),
    cl::values(clEnumValN(Device::Cpu, "cpu", "this machine's processor"),
               clEnumValN(Device::Cuda, "cuda",
                          "its NVIDIA GPU (Hopper: H100, H200)")),
    cl::cat(whatCategory));
static cl::opt<std::string>
    entry("entry", cl::value_desc("name"),
          cl::desc("Function to run (default: the only public one)"),
          cl::cat(whatCategory));

static cl::list<std::string>
    argumentFiles("arg", cl::value_desc("x.npy"),
                  cl::desc("The next argument; bf16 as uint16, f8 as uint8"),
                  cl::cat(inputCategory));
static cl::list<std::string> inputKinds(
    "input", cl::CommaSeparated, cl::value_desc("kind"),
    cl::desc("Generate q, k and v: gaussian, clustered, outliers, constant, "
             "several of them with commas, or all (default: gaussian)"),
    cl::cat(inputCategory));
static cl::opt<uint64_t> seed("seed", cl::init(1),
                              cl::desc("Seed of the generator (default: 1)"),
                              cl::cat(inputCategory));
static cl::list<std::string>
    sizes("sizes", cl::CommaSeparated, cl::value_desc("Nq=1000,Nk=1000"),
          cl::desc("Sizes that the function leaves open: B, Hq, Hkv, Nq, Nk, "
                   "D, Dv"),
          cl::cat(inputCategory));
static cl::list<std::string>
    outputFiles("out", cl::value_desc("N=y.npy"),
                cl::desc("Write result N (counted from 0)"),
                cl::cat(inputCategory));
static cl::list<std::string> resultShapes(
    "result-shape", cl::value_desc("N=2x3x4"),
    cl::desc("Shape of result N of a function for the GPU, where its type "
             "leaves it open and it is not one attention"),
    cl::cat(inputCategory));

static MethodFlags method;

static cl::opt<int> repeat(
    "repeat", cl::init(-1), cl::value_desc("n"),
    cl::desc("Calls after the first (default: up to 3, within two seconds)"),
    cl::cat(reportCategory));
static cl::opt<int64_t>
    rows("rows", cl::init(1024), cl::value_desc("n"),
         cl::desc("Rows compared with exact attention, spread over the heads "
                  "(default: 1024; 0: none)"),
         cl::cat(reportCategory));
static cl::opt<bool> json("json", cl::desc("Print one JSON object instead"),
                          cl::cat(reportCategory));

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

template <typename... Ts>
static Error makeError(const char *format, Ts... values) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), format,
                                 values...);
}

static Error parseInputs(Options &options) {
  options.argumentFiles = {argumentFiles.begin(), argumentFiles.end()};
  options.seed = seed;
  if (!argumentFiles.empty() && !inputKinds.empty())
    return makeError("--arg and --input exclude each other");
  for (const std::string &name : inputKinds) {
    if (name == "all") {
      llvm::append_range(options.inputKinds, getInputKinds());
      continue;
    }
    std::optional<InputKind> kind = parseInputKind(name);
    if (!kind)
      return makeError("--input=%s is none of gaussian, clustered, outliers, "
                       "constant and all",
                       name.c_str());
    options.inputKinds.push_back(*kind);
  }
  for (const std::string &text : sizes)
    if (Error error = parseSize(options.sizes, text, "--sizes"))
      return error;
  return Error::success();
}

/// Splits "N=rest".
static Error parseNumbered(const char *option, StringRef text, unsigned &number,
                           StringRef &rest) {
  auto [first, second] = text.split('=');
  if (first.getAsInteger(10, number) || second.empty())
    return makeError("%s: '%s' does not start with a result's number and '='",
                     option, text.str().c_str());
  rest = second;
  return Error::success();
}

static Error parseOutputs(Options &options) {
  unsigned number;
  StringRef rest;
  for (const std::string &text : outputFiles) {
    if (Error error = parseNumbered("--out", text, number, rest))
      return error;
    options.outputFiles[number] = rest.str();
  }
  for (const std::string &text : resultShapes) {
    if (Error error = parseNumbered("--result-shape", text, number, rest))
      return error;
    llvm::SmallVector<StringRef> parts;
    rest.split(parts, 'x');
    llvm::SmallVector<int64_t> &shape = options.resultShapes[number];
    for (StringRef part : parts) {
      shape.emplace_back();
      if (part.getAsInteger(10, shape.back()) || shape.back() < 0)
        return makeError("--result-shape: '%s' is no shape like 2x3x4",
                         rest.str().c_str());
    }
  }
  return Error::success();
}

llvm::Expected<Options> vcattn::run::parseOptions(int argc, char **argv) {
  cl::HideUnrelatedOptions(
      {&whatCategory, &inputCategory, &method.category, &reportCategory});
  cl::ParseCommandLineOptions(argc, argv, kOverview);
  Options options;
  if (inputFile.empty())
    return makeError("no INPUT.mlir is given; --help explains");
  options.inputFile = inputFile;
  options.device = device;
  options.entry = entry;
  if (repeat.getNumOccurrences()) {
    if (repeat < 0)
      return makeError("--repeat must not be negative");
    options.repeat = repeat;
  }
  if (rows < 0)
    return makeError("--rows must not be negative");
  options.rows = rows;
  options.json = json;
  if (Error error = parseInputs(options))
    return std::move(error);
  if (Error error = parseOutputs(options))
    return std::move(error);
  options.method = method.getConfig();
  options.runMethod = method.runsMethod();
  return options;
}
