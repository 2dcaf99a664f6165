//===- CorrectLse.cpp - correct_lse as a loop -----------------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopBuilder.h"
#include "vcattn/Conversion/NarrowFloat.h"
#include <limits>

using namespace mlir;
using namespace vcattn;

Lowered vcattn::lowerCorrectLse(LoopBuilder &b, CorrectLseOp op) {
  if (failed(checkStaticDim(op, op.getQuery(), "query")))
    return failure();
  Layout layout = op.getLayout();
  TokenSizes n = b.sizes(op.getQuery(), layout);
  // Without key heads there are no query heads either, but the division is.
  Value keyHeads = b.maxS(b.dim(op.getMean(), 1), b.index(1));
  Value group = b.createOrFold<arith::DivUIOp>(n.heads, keyHeads);
  Type f32 = b.getF32Type();
  Value scale =
      b.floatConstant(f32, static_cast<float>(op.getScale().convertToDouble()));
  Value nothing =
      b.floatConstant(f32, -std::numeric_limits<double>::infinity());
  Value result = b.empty({n.batch, n.heads, n.tokens}, f32);
  return b.forall(
      {n.batch, n.heads, n.tokens}, {result},
      [&](ArrayRef<Value> i, ArrayRef<Value> out) {
        Value keyHead = b.createOrFold<arith::DivUIOp>(i[1], group);
        Value dot = b.loop(
            b.index(0), b.index(n.dim), {b.floatConstant(f32, 0.0)},
            [&](Value d, ArrayRef<Value> sum) {
              TokenIndex at{i[0], i[1], i[2], d};
              Value q = emitF32From(b, b.extract(op.getQuery(), at.in(layout)));
              Value mean = b.extract(op.getMean(), {i[0], keyHead, d});
              return SmallVector<Value>{b.fma(q, mean, sum[0])};
            })[0];
        Value lse = b.extract(op.getLse(), i);
        Value isEmpty = b.cmpF(arith::CmpFPredicate::OEQ, lse, nothing);
        Value corrected = b.addF(lse, b.mulF(scale, dot));
        LoopBuilder::Slice slice = b.row(out[0], i, 1);
        slice.tensor = b.insert(b.select(isEmpty, lse, corrected), slice.tensor,
                                {b.index(0)});
        return SmallVector<LoopBuilder::Slice>{slice};
      });
}
