//===- CheckLowered.cpp - Nothing but the LLVM dialect --------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "vcattn/Conversion/Passes.h"

namespace vcattn {
#define GEN_PASS_DEF_VCATTNCHECKLOWERED
#include "vcattn/Conversion/Passes.h.inc"
} // namespace vcattn

using namespace mlir;

namespace {
class CheckLowered : public vcattn::impl::VCAttnCheckLoweredBase<CheckLowered> {
public:
  void runOnOperation() override {
    bool failed = false;
    getOperation().walk([&](Operation *op) {
      if (isa_and_nonnull<LLVM::LLVMDialect>(op->getDialect()) ||
          isa<ModuleOp>(op))
        return;
      // Casts are what ops that were left alone are wrapped in.
      if (failed && isa<UnrealizedConversionCastOp>(op))
        return;
      op->emitOpError("has no lowering to the CPU");
      failed = true;
      ++numLeft;
    });
    if (failed)
      signalPassFailure();
  }
};
} // namespace
