//===- MergeKernels.cpp - One gpu.module for all kernels ------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One module is one image: one PTX file to read, one cubin to load.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/SymbolTable.h"
#include "vcattn/Conversion/Passes.h"

namespace vcattn {
#define GEN_PASS_DEF_VCATTNMERGEKERNELS
#include "vcattn/Conversion/Passes.h.inc"
} // namespace vcattn

using namespace mlir;

namespace {
struct MergeKernels
    : public vcattn::impl::VCAttnMergeKernelsBase<MergeKernels> {
  using VCAttnMergeKernelsBase::VCAttnMergeKernelsBase;

  void runOnOperation() override {
    auto modules = llvm::to_vector(getOperation().getOps<gpu::GPUModuleOp>());
    if (modules.empty())
      return;
    SymbolTable symbols(getOperation());
    if (Operation *taken = symbols.lookup(name);
        taken && !isa<gpu::GPUModuleOp>(taken)) {
      taken->emitError("has the name that the kernels' module is to have");
      return signalPassFailure();
    }

    OpBuilder builder(modules.front());
    auto merged = gpu::GPUModuleOp::create(builder, modules.front().getLoc(),
                                           "vcattn_merged");
    DenseMap<SymbolRefAttr, SymbolRefAttr> moved;
    auto moduleName = StringAttr::get(&getContext(), name);
    for (gpu::GPUModuleOp module : modules) {
      // All are renamed before the first moves, while their users are here.
      for (auto symbol : module.getOps<SymbolOpInterface>()) {
        auto oldName = FlatSymbolRefAttr::get(symbol.getNameAttr());
        if (failed(makeUnique(symbol, module, merged)))
          return signalPassFailure();
        moved[SymbolRefAttr::get(module.getNameAttr(), oldName)] =
            SymbolRefAttr::get(moduleName,
                               FlatSymbolRefAttr::get(symbol.getNameAttr()));
      }
      for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
        op.moveBefore(merged.getBody(), merged.getBody()->end());
      ++numModules;
    }
    getOperation().walk([&](gpu::LaunchFuncOp launch) {
      if (SymbolRefAttr kernel = moved.lookup(launch.getKernelAttr()))
        launch.setKernelAttr(kernel);
    });
    for (gpu::GPUModuleOp module : modules)
      symbols.erase(module);
    merged.setName(name);
  }

private:
  /// Renames `symbol`, still in `module`, if `merged` has one of its name.
  static LogicalResult makeUnique(SymbolOpInterface symbol,
                                  gpu::GPUModuleOp module,
                                  gpu::GPUModuleOp merged) {
    SmallString<64> name(symbol.getName());
    auto isTaken = [&](gpu::GPUModuleOp where) {
      Operation *found = SymbolTable::lookupSymbolIn(where, name);
      return found && found != symbol.getOperation();
    };
    for (unsigned i = 0; isTaken(merged) || isTaken(module); ++i) {
      name = symbol.getName();
      name += "_" + std::to_string(i);
    }
    if (name == symbol.getName())
      return success();
    auto newName = StringAttr::get(symbol.getContext(), name);
    if (failed(SymbolTable::replaceAllSymbolUses(symbol, newName, module)))
      return symbol.emitError("cannot be renamed to be unique");
    SymbolTable::setSymbolName(symbol, newName);
    return success();
  }
};
} // namespace
