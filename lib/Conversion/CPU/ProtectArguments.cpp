//===- ProtectArguments.cpp - Callers' tensors are read-only --------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "vcattn/Conversion/Passes.h"
#include "vcattn/Dialect/VCAttn/IR/EntryFunctions.h"

namespace vcattn {
#define GEN_PASS_DEF_VCATTNPROTECTARGUMENTS
#include "vcattn/Conversion/Passes.h.inc"
} // namespace vcattn

using namespace mlir;
using namespace vcattn;

namespace {
class ProtectArguments
    : public vcattn::impl::VCAttnProtectArgumentsBase<ProtectArguments> {
public:
  void runOnOperation() override {
    StringRef writable = bufferization::BufferizationDialect::kWritableAttrName;
    for (func::FuncOp function : getEntryFunctions(getOperation()))
      for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
        // Who has said already what may be written knows better.
        if (!isa<TensorType>(type) || function.getArgAttr(i, writable))
          continue;
        function.setArgAttr(i, writable, BoolAttr::get(&getContext(), false));
        ++numProtected;
      }
  }
};
} // namespace
