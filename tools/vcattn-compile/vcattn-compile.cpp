//===- vcattn-compile.cpp - From a module to a file that runs -------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The command line of compileModule. Files are written beside their place and
// moved there when they are whole.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "vcattn/Pipelines/MethodFlags.h"
#include "vcattn/Support/AttentionProblem.h"
#include "vcattn/Target/Compile.h"
#include "vcattn/Target/ScheduleChoices.h"
#include "vcattn/Tune/Tune.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;
using namespace vcattn;
namespace cl = llvm::cl;

static constexpr StringRef kOverview =
    R"(Compile attention to a library, an object file, or a stage before them

Every function of the module that is attention (linalg ops, vcattn.attention, or
the ops of the method) becomes a function of the artefact. Functions that hold
more than attention are left out, with a remark. An object or a library comes
with a C header of the same name.

  vcattn-compile attention.mlir -o libattention.so                # for Hopper
  vcattn-compile attention.mlir -o attention.ptx --scores=f8E4M3FN
  vcattn-compile attention.mlir -o attention.o --target=cpu
  vcattn-compile attention.mlir --tune --tune-file=schedules.json
)";

static cl::OptionCategory category("What is compiled, and to what");

static cl::opt<std::string> input(cl::Positional, cl::desc("INPUT"),
                                  cl::init(""), cl::cat(category));
static cl::opt<std::string>
    output("o", cl::value_desc("file"),
           cl::desc("Where it goes (-: to the terminal)"), cl::cat(category));
static cl::opt<std::string>
    target("target", cl::value_desc("sm_90a|cpu"), cl::init("sm_90a"),
           cl::desc("The chip (default: sm_90a), or cpu"), cl::cat(category));
static cl::opt<EmitKind> emit(
    "emit", cl::desc("What is made (default: as the output's name ends):"),
    cl::values(
        clEnumValN(EmitKind::MLIR, "mlir", "the module after the last pass"),
        clEnumValN(EmitKind::LLVM, "llvm",
                   "LLVM IR: of the kernels, or of the CPU's functions"),
        clEnumValN(EmitKind::PTX, "ptx", "the kernels as PTX"),
        clEnumValN(EmitKind::Cubin, "cubin",
                   "the kernels as ptxas assembles them"),
        clEnumValN(EmitKind::Object, "obj",
                   "an object file, to be linked with libvcattn_runtime"),
        clEnumValN(EmitKind::SharedLibrary, "so",
                   "a shared library that needs nothing else")),
    cl::cat(category));
static cl::opt<bool>
    embedPTX("embed-ptx",
             cl::desc("Put PTX instead of a cubin into objects and libraries"),
             cl::cat(category));
static cl::opt<int64_t> splitKeys(
    "split-keys", cl::value_desc("n"), cl::init(0),
    cl::desc("Keys that one unit of a kernel's work handles, a multiple of "
             "2048, so that few queries use the whole chip (default: by the "
             "shapes, where they are known; -1: all keys)"),
    cl::cat(category));
static cl::opt<bool> debugWaits(
    "debug-waits",
    cl::desc("Make kernels trap, instead of hanging, in waits that take "
             "seconds"),
    cl::cat(category));
static cl::opt<std::string> cpu(
    "cpu", cl::value_desc("name"), cl::init("native"),
    cl::desc("Processor that --target=cpu compiles for, as clang's -mcpu has "
             "it (default: native, this one)"),
    cl::cat(category));
static cl::opt<std::string> ptxas("ptxas", cl::value_desc("file"),
                                  cl::desc("The ptxas to run (default: from "
                                           "PATH, CUDA_HOME, CUDA_PATH, "
                                           "CUDA_ROOT or /usr/local/cuda)"),
                                  cl::cat(category));
static cl::opt<std::string>
    compiler("cc", cl::value_desc("file"),
             cl::desc("The C compiler that links (default: clang-22, clang, cc "
                      "or gcc)"),
             cl::cat(category));
static cl::opt<bool> verbose("verbose",
                             cl::desc("Say what was made, and what ptxas says "
                                      "of each kernel"),
                             cl::cat(category));
static MethodFlags method;

static cl::OptionCategory schedules("Schedules of kernels on a GPU");
static const std::string kScheduleHelp =
    "Fields of the schedule that replace those of the one that would be "
    "chosen, as stages=3,promotion=32:\n" +
    describeScheduleFields();
static cl::opt<std::string> schedule("schedule",
                                     cl::value_desc("field=value,..."),
                                     cl::desc(kScheduleHelp),
                                     cl::cat(schedules));
static cl::opt<std::string>
    scheduleFile("schedule-file", cl::value_desc("file"),
                 cl::desc("Take schedules from a file that --tune-file wrote, "
                          "for the attentions that it has one for"),
                 cl::cat(schedules));
static cl::opt<bool>
    printSchedule("print-schedule",
                  cl::desc("Remark on the schedule of each attention"),
                  cl::cat(schedules));
static cl::opt<bool> tuneSchedules(
    "tune",
    cl::desc("Instead of compiling, time schedules for each attention on this "
             "machine's GPU (the kernel alone, fields that --schedule names "
             "fixed) and print them, the fastest first"),
    cl::cat(schedules));
static cl::list<std::string>
    tuneSizes("tune-sizes", cl::CommaSeparated,
              cl::value_desc("B=4,Nq=1000,..."),
              cl::desc("Sizes to tune for, where the module leaves them open: "
                       "B, Hq, Hkv, Nq, Nk"),
              cl::cat(schedules));
static cl::opt<std::string>
    tuneFile("tune-file", cl::value_desc("file"),
             cl::desc("Store the fastest schedules in this JSON file, beside "
                      "those that it has"),
             cl::cat(schedules));
static cl::opt<double>
    tuneWarmup("tune-warmup", cl::init(0.7), cl::value_desc("seconds"),
               cl::desc("How long a kernel runs before it is timed (default: "
                        "0.7, after which a card is at its power limit)"),
               cl::cat(schedules));
static cl::opt<double>
    tuneWindow("tune-window", cl::init(2.0), cl::value_desc("seconds"),
               cl::desc("How long a kernel is timed (default: 2)"),
               cl::cat(schedules));

static int fail(const llvm::Twine &message) {
  llvm::WithColor::error(llvm::errs(), "vcattn-compile") << message << "\n";
  return 1;
}

/// The kind that `path` ends in.
static std::optional<EmitKind> getKind(StringRef path) {
  return llvm::StringSwitch<std::optional<EmitKind>>(
             llvm::sys::path::extension(path))
      .Case(".mlir", EmitKind::MLIR)
      .Case(".ll", EmitKind::LLVM)
      .Case(".ptx", EmitKind::PTX)
      .Case(".cubin", EmitKind::Cubin)
      .Case(".o", EmitKind::Object)
      .Case(".so", EmitKind::SharedLibrary)
      .Default(std::nullopt);
}

/// Writes a file that is whole or not there.
static bool write(StringRef path, StringRef bytes) {
  llvm::Error error = llvm::writeToOutput(path, [&](llvm::raw_ostream &os) {
    os << bytes;
    return llvm::Error::success();
  });
  if (!error)
    return true;
  fail("cannot write " + path + ": " + llvm::toString(std::move(error)));
  return false;
}

static void report(const Artifact &artifact) {
  for (const FunctionInfo &function : artifact.functions) {
    llvm::errs() << "function " << function.name;
    if (function.workspaceSize)
      llvm::errs() << ": " << *function.workspaceSize << " bytes of workspace";
    llvm::errs() << "\n";
  }
  for (const KernelResources &kernel : artifact.kernels)
    llvm::errs() << "kernel " << kernel.name << ": " << kernel.registers
                 << " registers, " << kernel.stackBytes << " bytes of stack, "
                 << kernel.spillStoreBytes << " bytes spilled\n";
}

int main(int argc, char **argv) {
  llvm::InitLLVM initLLVM(argc, argv);
  cl::HideUnrelatedOptions({&category, &method.category, &schedules});
  cl::ParseCommandLineOptions(argc, argv, kOverview);
  if (input.empty())
    return fail("no input; vcattn-compile --help says how to use it");
  if (tuneSchedules && !output.empty())
    return fail("--tune compiles to no output; compile afterwards, with "
                "--schedule-file");
  if (output.empty() && !tuneSchedules)
    return fail("no output; name a file with -o");
  CompileOptions options;
  options.target = target;
  options.method = method.getConfig();
  options.runMethod = method.runsMethod();
  options.cpu = cpu;
  options.embedPTX = embedPTX;
  options.splitKeys = splitKeys;
  options.debugWaits = debugWaits;
  options.schedule = schedule;
  options.scheduleFile = scheduleFile;
  options.printSchedule = printSchedule;
  if (auto choices = ScheduleChoices::parse(schedule); !choices)
    return fail("--schedule: " + llvm::toString(choices.takeError()));
  options.ptxas = ptxas;
  options.compiler = compiler;
  TuneOptions tuning;
  for (const std::string &text : tuneSizes)
    if (llvm::Error error = parseSize(tuning.sizes, text, "--tune-sizes"))
      return fail(llvm::toString(std::move(error)));
  std::optional<EmitKind> kind = getKind(output);
  if (emit.getNumOccurrences())
    kind = emit;
  if (tuneSchedules)
    kind = EmitKind::SharedLibrary;
  if (!kind)
    return fail("cannot tell from the name '" + output +
                "' what to make; say --emit=mlir|llvm|ptx|cubin|obj|so");
  options.emit = *kind;
  bool hasHeader =
      *kind == EmitKind::Object || *kind == EmitKind::SharedLibrary;
  if (hasHeader && output == "-")
    return fail("objects and libraries come with a header; name a file with "
                "-o");

  std::string problem;
  std::unique_ptr<llvm::MemoryBuffer> file = openInputFile(input, &problem);
  if (!file)
    return fail(problem);
  DialectRegistry registry;
  registerCompiler(registry);
  MLIRContext context(registry);
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  SourceMgrDiagnosticHandler diagnostics(sources, &context);
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
  if (!module)
    return 1;
  if (tuneSchedules) {
    tuning.compile = options;
    tuning.warmup = tuneWarmup;
    tuning.window = tuneWindow;
    tuning.file = tuneFile;
    return failed(tune(*module, tuning, llvm::outs(), llvm::errs()));
  }
  FailureOr<Artifact> artifact = compileModule(*module, options);
  if (failed(artifact))
    return 1;
  if (hasHeader) {
    SmallString<128> header(output);
    llvm::sys::path::replace_extension(header, ".h");
    if (!write(header, artifact->header))
      return 1;
  }
  if (!write(output, artifact->bytes))
    return 1;
  if (verbose)
    report(*artifact);
  return 0;
}
