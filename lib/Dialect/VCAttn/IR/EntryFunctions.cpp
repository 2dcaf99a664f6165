//===- EntryFunctions.cpp - Functions that callers call -------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "vcattn/Dialect/VCAttn/IR/EntryFunctions.h"

using namespace mlir;

SmallVector<func::FuncOp> vcattn::getEntryFunctions(ModuleOp module) {
  SmallVector<func::FuncOp> marked, exported;
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func.isExternal())
      continue;
    if (func->hasAttr(kEntryAttrName))
      marked.push_back(func);
    else if (func.isPublic())
      exported.push_back(func);
  }
  return marked.empty() ? exported : marked;
}
