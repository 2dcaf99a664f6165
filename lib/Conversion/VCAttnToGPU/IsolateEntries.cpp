//===- IsolateEntries.cpp - A module for what is compiled -----------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "vcattn/Conversion/Passes.h"
#include "vcattn/Dialect/VCAttn/IR/EntryFunctions.h"
#include "vcattn/Dialect/VCAttn/IR/VCAttn.h"

namespace vcattn {
#define GEN_PASS_DEF_VCATTNISOLATEENTRIES
#include "vcattn/Conversion/Passes.h.inc"
} // namespace vcattn

using namespace mlir;

static bool holdsAttention(func::FuncOp function) {
  return function
      .walk([](Operation *op) {
        return isa_and_nonnull<vcattn::VCAttnDialect>(op->getDialect())
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {
struct IsolateEntries
    : public vcattn::impl::VCAttnIsolateEntriesBase<IsolateEntries> {
  using VCAttnIsolateEntriesBase::VCAttnIsolateEntriesBase;

  void runOnOperation() override {
    if (failed(undo ? dissolve() : isolate()))
      signalPassFailure();
  }

private:
  LogicalResult isolate() {
    ModuleOp module = getOperation();
    SmallVector<func::FuncOp> entries;
    for (func::FuncOp function : vcattn::getEntryFunctions(module))
      if (function->hasAttr(vcattn::kEntryAttrName) || holdsAttention(function))
        entries.push_back(function);
    if (entries.empty())
      return module.emitError("holds no attention that could be compiled");
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    auto inner =
        ModuleOp::create(builder, module.getLoc(), vcattn::kEntriesModuleName);
    for (func::FuncOp entry : entries) {
      entry->setAttr(vcattn::kEntryAttrName, builder.getUnitAttr());
      auto uses = SymbolTable::getSymbolUses(entry, module);
      if (!uses || !uses->empty()) {
        builder.setInsertionPoint(entry);
        auto declaration =
            func::FuncOp::create(builder, entry.getLoc(), entry.getSymName(),
                                 entry.getFunctionType());
        declaration.setPrivate();
      }
      entry->moveBefore(inner.getBody(), inner.getBody()->end());
      entry.setPublic();
      ++numEntries;
    }
    for (auto function : module.getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      function.emitRemark("@")
          << function.getSymName()
          << " is not compiled: it is no entry function, or holds more than "
             "attention";
      ++numLeft;
    }
    return success();
  }

  LogicalResult dissolve() {
    ModuleOp module = getOperation();
    auto inner = module.lookupSymbol<ModuleOp>(vcattn::kEntriesModuleName);
    if (!inner || !llvm::hasSingleElement(*module.getBody()))
      return success();
    for (NamedAttribute attribute : inner->getDiscardableAttrs())
      module->setAttr(attribute.getName(), attribute.getValue());
    for (Operation &op : llvm::make_early_inc_range(*inner.getBody()))
      op.moveBefore(inner);
    inner.erase();
    return success();
  }
};
} // namespace
