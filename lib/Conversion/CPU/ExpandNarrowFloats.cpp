//===- ExpandNarrowFloats.cpp - No FP8 arithmetic on the CPU --------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// arith.truncf and arith.extf on f8E4M3FN have no lowering to LLVM upstream,
// and bf16 ones reach instructions that flush subnormals. Both become integer
// arithmetic here, and whatever is left over is an error, not wrong code.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "vcattn/Conversion/NarrowFloat.h"
#include "vcattn/Conversion/Passes.h"

namespace vcattn {
#define GEN_PASS_DEF_VCATTNEXPANDNARROWFLOATS
#include "vcattn/Conversion/Passes.h.inc"
} // namespace vcattn

using namespace mlir;
using namespace vcattn;

/// Floats without arithmetic of their own on the CPU.
static bool isNarrow(Type type) {
  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
  return element && (element.isBF16() || element.getWidth() <= 8);
}

static bool isExpandable(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isBF16() || isa<Float8E4M3FNType>(element);
}

/// True if the op moves or reinterprets bits only.
static bool movesBits(Operation *op) {
  return isa<arith::ConstantOp, arith::BitcastOp, arith::SelectOp>(op);
}

/// arith.truncf to f8E4M3FN: like E4M3, but what rounds beyond 448 is NaN.
static Value emitTruncation(NumericBuilder &b, Value x, Type element) {
  if (!isa<Float8E4M3FNType>(element))
    return emitFromF32(b, x, element);
  Value code = emitE4M3FromF32(b, x);
  Value tie = b.floatConstant(x.getType(), 464.0);
  Value beyond = b.cmpF(arith::CmpFPredicate::UGT, b.absF(x), tie);
  code = b.select(beyond, b.intConstant(code.getType(), 0x7F), code);
  return b.bitcast(code, element);
}

namespace {
class ExpandNarrowFloats
    : public vcattn::impl::VCAttnExpandNarrowFloatsBase<ExpandNarrowFloats> {
public:
  void runOnOperation() override {
    SmallVector<Operation *> casts;
    getOperation()->walk([&](Operation *op) {
      if (isa<arith::ExtFOp, arith::TruncFOp>(op))
        casts.push_back(op);
    });
    for (Operation *op : casts)
      expand(op);

    WalkResult result = getOperation()->walk([](Operation *op) {
      Dialect *dialect = op->getDialect();
      if (!isa_and_nonnull<arith::ArithDialect, math::MathDialect>(dialect) ||
          movesBits(op))
        return WalkResult::advance();
      SmallVector<Type> types(op->getOperandTypes());
      llvm::append_range(types, op->getResultTypes());
      auto *narrow = llvm::find_if(types, isNarrow);
      if (narrow == types.end())
        return WalkResult::advance();
      op->emitOpError("computes on ")
          << *narrow << ", for which the CPU has no arithmetic";
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  void expand(Operation *op) {
    Value x = op->getOperand(0);
    Type from = x.getType(), to = op->getResult(0).getType();
    NumericBuilder b(op->getLoc(), op);
    Type f32 = b.getF32Type();
    Value wide;
    if (isExpandable(from)) {
      wide = emitF32From(b, x);
    } else if (isExpandable(to)) {
      // f64 would be rounded twice; it stays and is reported.
      if (getElementTypeOrSelf(from).isF64())
        return;
      wide = getElementTypeOrSelf(from).isF32()
                 ? x
                 : arith::ExtFOp::create(
                       b, NumericBuilder::withElement(from, f32), x);
    } else {
      return;
    }
    Type element = getElementTypeOrSelf(to);
    Value result = wide;
    if (isExpandable(to))
      result = emitTruncation(b, wide, element);
    else if (element.isF64())
      result = arith::ExtFOp::create(b, to, wide);
    else if (!element.isF32())
      result = arith::TruncFOp::create(b, to, wide);
    op->replaceAllUsesWith(ValueRange(result));
    op->erase();
    ++numExpanded;
  }
};
} // namespace
