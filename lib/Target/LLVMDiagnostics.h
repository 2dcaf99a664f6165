//===- LLVMDiagnostics.h - LLVM's diagnostics as MLIR's ---------*- C++ -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_LIB_TARGET_LLVMDIAGNOSTICS_H
#define VCATTN_LIB_TARGET_LLVMDIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/raw_ostream.h"

namespace vcattn {

/// While it lives, errors and warnings of an LLVM context are MLIR's, at `loc`;
/// LLVM's own handler would end the process.
class LLVMDiagnostics {
public:
  LLVMDiagnostics(llvm::LLVMContext &context, mlir::Location loc)
      : context(context), loc(loc) {
    context.setDiagnosticHandlerCallBack(&handle, this);
  }
  ~LLVMDiagnostics() { context.setDiagnosticHandlerCallBack(nullptr, nullptr); }
  LLVMDiagnostics(const LLVMDiagnostics &) = delete;
  LLVMDiagnostics &operator=(const LLVMDiagnostics &) = delete;

  bool hadError() const { return failed; }

private:
  static void handle(const llvm::DiagnosticInfo *info, void *self) {
    auto &diagnostics = *static_cast<LLVMDiagnostics *>(self);
    std::string text;
    llvm::raw_string_ostream stream(text);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info->print(printer);
    if (info->getSeverity() == llvm::DS_Error) {
      diagnostics.failed = true;
      mlir::emitError(diagnostics.loc, text);
    } else if (info->getSeverity() == llvm::DS_Warning) {
      mlir::emitWarning(diagnostics.loc, text);
    }
  }

  llvm::LLVMContext &context;
  mlir::Location loc;
  bool failed = false;
};

} // namespace vcattn

#endif // VCATTN_LIB_TARGET_LLVMDIAGNOSTICS_H
