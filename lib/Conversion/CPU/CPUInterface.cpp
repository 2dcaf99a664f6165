//===- CPUInterface.cpp - What callers see of a CPU function --------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "vcattn/Conversion/Passes.h"
#include "vcattn/Dialect/VCAttn/IR/EntryFunctions.h"

namespace vcattn {
#define GEN_PASS_DEF_VCATTNCPUINTERFACE
#include "vcattn/Conversion/Passes.h.inc"
} // namespace vcattn

using namespace mlir;
using namespace vcattn;

static bool returnsStaticBuffers(func::FuncOp function) {
  return llvm::all_of(function.getResultTypes(), [](Type type) {
    auto memref = dyn_cast<MemRefType>(type);
    return !memref || memref.hasStaticShape();
  });
}

namespace {
class CPUInterface : public vcattn::impl::VCAttnCPUInterfaceBase<CPUInterface> {
public:
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<func::FuncOp> functions = getEntryFunctions(module);
    for (func::FuncOp function : functions) {
      function->setAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(),
                        UnitAttr::get(&getContext()));
      ++numFunctions;
    }

    bufferization::BufferResultsToOutParamsOpts options;
    options.filterFn = [&](func::FuncOp *function) {
      return llvm::is_contained(functions, *function) &&
             returnsStaticBuffers(*function);
    };
    options.hoistStaticAllocs = true;
    options.modifyPublicFunctions = true;
    if (failed(bufferization::promoteBufferResultsToOutParams(module, options)))
      return signalPassFailure();

    // A copy between strided layouts would be a call into a runtime library
    // that artefacts do not link.
    SmallVector<memref::CopyOp> copies;
    module.walk([&](memref::CopyOp copy) { copies.push_back(copy); });
    for (memref::CopyOp copy : copies) {
      OpBuilder b(copy);
      linalg::makeMemRefCopyOp(b, copy.getLoc(), copy.getSource(),
                               copy.getTarget());
      copy.erase();
      ++numCopies;
    }
  }
};
} // namespace
