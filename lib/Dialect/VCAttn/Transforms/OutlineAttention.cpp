//===- OutlineAttention.cpp - One function per attention ------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the GPU pipeline compiles is a function of nothing but attention; what a
// caller wrote around it is not ours to touch.
//
//===----------------------------------------------------------------------===//

#include "AttentionRewrites.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "vcattn/Dialect/VCAttn/IR/EntryFunctions.h"
#include "vcattn/Dialect/VCAttn/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"

namespace vcattn {
#define GEN_PASS_DEF_OUTLINEATTENTION
#include "vcattn/Dialect/VCAttn/Transforms/Passes.h.inc"
} // namespace vcattn

using namespace mlir;
using namespace vcattn;

/// True if `op` only says how elements are counted, or computes sizes.
static bool isReshape(Operation &op) {
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp,
          tensor::DimOp>(op))
    return true;
  return isa<arith::ArithDialect>(op.getDialect()) &&
         llvm::all_of(op.getResultTypes(),
                      [](Type type) { return type.isIndex(); });
}

/// True if `func` does nothing but attention, and perhaps reshapes.
static bool isOnlyAttention(func::FuncOp func, bool keepReshapes) {
  return func.getBody().hasOneBlock() &&
         llvm::all_of(func.getBody().front(), [&](Operation &op) {
           return isa<AttentionOp, func::ReturnOp>(op) ||
                  (keepReshapes && isReshape(op));
         });
}

/// A private entry function with `op` as its body, placed after `last`.
static func::FuncOp createFunction(AttentionOp op, func::FuncOp last,
                                   ArrayRef<Value> operands, StringRef name,
                                   SymbolTable &symbols) {
  OpBuilder builder(op.getContext());
  auto type = builder.getFunctionType(TypeRange(ValueRange(operands)),
                                      op->getResultTypes());
  auto outlined = func::FuncOp::create(builder, op.getLoc(), name, type);
  outlined.setPrivate();
  outlined->setAttr(kEntryAttrName, builder.getUnitAttr());
  symbols.insert(outlined, std::next(Block::iterator(last)));

  Block *body = outlined.addEntryBlock();
  IRMapping mapping;
  mapping.map(operands, body->getArguments());
  builder.setInsertionPointToStart(body);
  Operation *clone = builder.clone(*op, mapping);
  func::ReturnOp::create(builder, op.getLoc(), clone->getResults());
  return outlined;
}

namespace {
class OutlineAttention
    : public vcattn::impl::OutlineAttentionBase<OutlineAttention> {
public:
  using OutlineAttentionBase::OutlineAttentionBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp func : functions) {
      SmallVector<AttentionOp> attentions = collect<AttentionOp>(func);
      if (attentions.empty())
        continue;
      if (isOnlyAttention(func, keepReshapes)) {
        func->setAttr(kEntryAttrName, UnitAttr::get(&getContext()));
        ++marked;
        continue;
      }
      // The functions follow their caller in the order of their calls.
      func::FuncOp last = func;
      for (auto [i, op] : llvm::enumerate(attentions))
        last =
            outline(op, last, (func.getName() + "_attention" + Twine(i)).str(),
                    symbols);
    }
  }

private:
  /// Moves `op` to a function after `last`, which it returns.
  func::FuncOp outline(AttentionOp op, func::FuncOp last, StringRef name,
                       SymbolTable &symbols) {
    // One argument per value: an attention of x with itself stays one.
    llvm::SetVector<Value> operands(op->operand_begin(), op->operand_end());
    func::FuncOp callee =
        createFunction(op, last, operands.getArrayRef(), name, symbols);
    IRRewriter rewriter(op);
    rewriter.replaceOpWithNewOp<func::CallOp>(op, callee,
                                              operands.getArrayRef());
    ++outlined;
    return callee;
  }
};
} // namespace
