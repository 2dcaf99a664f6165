//===- Method.h - What the compiler made of attention -----------*- C++ -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Watches the pipeline and notes, from the ops of the method just before they
// are lowered, which steps will run: what the report tells is what was
// compiled.
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_TOOLS_RUN_METHOD_H
#define VCATTN_TOOLS_RUN_METHOD_H

#include "mlir/IR/Operation.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/JSON.h"
#include <string>
#include <vector>

namespace vcattn::run {

/// The steps in the order in which they run, in words and for machines.
struct MethodSummary {
  struct Step {
    std::string operand, text;
  };
  std::vector<Step> steps;
  llvm::json::Object json;
  bool isEmpty() const { return steps.empty(); }
};

/// Reads the summary off the ops below `root`.
MethodSummary summarizeMethod(mlir::Operation *root);

/// Makes `passes` fill `summary` when the ops of the method are about to be
/// lowered.
void watchMethod(mlir::PassManager &passes, MethodSummary &summary);

} // namespace vcattn::run

#endif // VCATTN_TOOLS_RUN_METHOD_H
