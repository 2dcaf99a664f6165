//===- Compile.h - From a module to an artefact -----------------*- C++ -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What vcattn-compile does, as one call.
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_TARGET_COMPILE_H
#define VCATTN_TARGET_COMPILE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "vcattn/Pipelines/Method.h"
#include "vcattn/Target/Emit.h"
#include <optional>
#include <string>
#include <vector>

namespace vcattn {

/// The forms an artefact can have, from readable to runnable.
enum class EmitKind { MLIR, LLVM, PTX, Cubin, Object, SharedLibrary };

struct CompileOptions {
  /// "cpu", or a chip as in #vcattn.target.
  std::string target = "sm_90a";
  EmitKind emit = EmitKind::SharedLibrary;
  /// Of kernels on a GPU: fields of the schedule, as ScheduleChoices reads
  /// them, and a ScheduleFile; empty without.
  std::string schedule, scheduleFile;
  /// Remark on the schedule of each attention.
  bool printSchedule = false;
  /// The steps of the method, or none of them: what runs is what the module
  /// says.
  MethodConfig method;
  bool runMethod = true;
  /// What the CPU's code is for, as clang's -mcpu; GPU targets have portable
  /// host code.
  std::string cpu = "native";
  /// Embed PTX instead of a cubin, which takes no ptxas; the driver compiles it
  /// when it is first used.
  bool embedPTX = false;
  /// Keys that one unit of a kernel's work handles, as vcattn-split-keys has
  /// it.
  int64_t splitKeys = 0;
  /// Kernels trap in waits that take seconds.
  bool debugWaits = false;
  /// Programs to run instead of those that are found.
  std::string ptxas, compiler;
};

/// A function of the artefact. On a GPU it is
///   int32_t NAME(inputs*..., results*..., void *workspace,
///                size_t workspace_size, void *stream)
/// with a pointer to a memref descriptor per input and result, data on the
/// device; `int64_t NAME_workspace_size(inputs*..., results*...)` goes with it.
/// On the CPU it is what Pipelines.h says of `vcattn-to-cpu`.
struct FunctionInfo {
  std::string name;
  std::vector<mlir::RankedTensorType> inputs, results;
  /// Bytes of workspace, if they do not depend on sizes that are open.
  std::optional<int64_t> workspaceSize;
};

struct Artifact {
  std::string bytes;
  /// The C header; empty unless an object or a library was made.
  std::string header;
  std::vector<FunctionInfo> functions;
  /// What ptxas says, if it ran.
  std::vector<KernelResources> kernels;
};

/// Registers the dialects, extensions and translations that compileModule
/// needs with the context's registry, before the module is parsed.
void registerCompiler(mlir::DialectRegistry &registry);

/// Compiles `module`, which is left as the last pass leaves it. Functions that
/// cannot be compiled for the target are diagnosed.
mlir::FailureOr<Artifact> compileModule(mlir::ModuleOp module,
                                        const CompileOptions &options);

} // namespace vcattn

#endif // VCATTN_TARGET_COMPILE_H
