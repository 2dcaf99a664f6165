//===- Function.h - A compiled function, ready to be called -----*- C++ -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_TOOLS_RUN_FUNCTION_H
#define VCATTN_TOOLS_RUN_FUNCTION_H

#include "Entry.h"
#include "Method.h"
#include <memory>

namespace vcattn::run {

class Function {
public:
  virtual ~Function();

  /// Calls the function. `results` come with their shapes where the caller
  /// knows them. Returns the seconds that the call took, copies not counted.
  virtual llvm::Expected<double>
  call(llvm::ArrayRef<HostTensor> arguments,
       llvm::MutableArrayRef<HostTensor> results) = 0;

  /// Where it runs, for the report: "CPU (znver4)".
  virtual std::string getDeviceName() const = 0;
};

/// Compile `module`, which is used up, with the method that the options ask
/// for. Diagnostics go to the context; the error only says that there were
/// some.
llvm::Expected<std::unique_ptr<Function>> compileForCpu(mlir::ModuleOp module,
                                                        const Entry &entry,
                                                        const Options &options,
                                                        MethodSummary &summary);
llvm::Expected<std::unique_ptr<Function>>
compileForCuda(mlir::ModuleOp module, const Entry &entry,
               const Options &options, MethodSummary &summary);

} // namespace vcattn::run

#endif // VCATTN_TOOLS_RUN_FUNCTION_H
