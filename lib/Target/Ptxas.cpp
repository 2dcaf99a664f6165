//===- Ptxas.cpp - From PTX to cubin --------------------------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TemporaryFile.h"
#include "mlir/IR/Diagnostics.h"
#include "vcattn/Target/Emit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Regex.h"

using namespace mlir;
using namespace vcattn;

FailureOr<std::string> vcattn::findPtxas(StringRef path, Location loc) {
  if (!path.empty()) {
    if (llvm::sys::fs::can_execute(path))
      return path.str();
    return emitError(loc, "cannot run ptxas: no executable file ") << path;
  }
  if (auto found = llvm::sys::findProgramByName("ptxas"))
    return *found;
  std::string looked = "PATH";
  auto lookIn = [&](StringRef root) -> std::optional<std::string> {
    SmallString<128> candidate(root);
    llvm::sys::path::append(candidate, "bin", "ptxas");
    looked += ", " + candidate.str().str();
    if (llvm::sys::fs::can_execute(candidate))
      return candidate.str().str();
    return std::nullopt;
  };
  for (StringRef variable : {"CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"})
    if (auto root = llvm::sys::Process::GetEnv(variable))
      if (auto found = lookIn(*root))
        return *found;
  if (auto found = lookIn("/usr/local/cuda"))
    return *found;
  return emitError(loc, "cannot find ptxas, which makes cubins; looked in ")
         << looked
         << ". Install the CUDA toolkit, or name it with --ptxas=, or emit ptx";
}

/// Reads the report of `ptxas -v`.
static std::vector<KernelResources> parseReport(StringRef report) {
  std::vector<KernelResources> kernels;
  llvm::Regex nameLine("Compiling entry function '([^']+)'");
  llvm::Regex stackLine("([0-9]+) bytes stack frame, ([0-9]+) bytes spill "
                        "stores, ([0-9]+) bytes spill loads");
  llvm::Regex registersLine("Used ([0-9]+) registers");
  SmallVector<StringRef> lines, match;
  report.split(lines, '\n');
  for (StringRef line : lines) {
    if (nameLine.match(line, &match))
      kernels.push_back({match[1].str()});
    if (kernels.empty())
      continue;
    KernelResources &kernel = kernels.back();
    if (stackLine.match(line, &match)) {
      match[1].getAsInteger(10, kernel.stackBytes);
      match[2].getAsInteger(10, kernel.spillStoreBytes);
      match[3].getAsInteger(10, kernel.spillLoadBytes);
    }
    if (registersLine.match(line, &match))
      match[1].getAsInteger(10, kernel.registers);
  }
  return kernels;
}

FailureOr<Cubin> vcattn::assemblePTX(StringRef ptx, StringRef chip,
                                     StringRef ptxas, Location loc) {
  FailureOr<TemporaryFile> input = TemporaryFile::create("ptx", ptx, loc);
  FailureOr<TemporaryFile> output = TemporaryFile::create("cubin", "", loc);
  if (failed(input) || failed(output))
    return failure();
  // LLVM writes mul.rn and add.rn, which ptxas does not fuse; -fmad says it
  // once more.
  FailureOr<std::string> report =
      runProgram(ptxas,
                 {"-arch=" + chip.str(), "-O3", "-v", "--fmad=false", "-o",
                  output->getPath().str(), input->getPath().str()},
                 loc);
  if (failed(report))
    return failure();
  if (llvm::Regex("C75[0-9][0-9]").match(*report))
    return emitError(loc, "ptxas serializes a kernel's wgmma instructions:\n")
           << StringRef(*report).rtrim();
  FailureOr<std::string> bytes = output->read(loc);
  if (failed(bytes))
    return failure();
  return Cubin{std::move(*bytes), parseReport(*report)};
}
