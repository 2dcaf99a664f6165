//===- GatherTokens.cpp - gather_tokens as a loop -------------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopBuilder.h"

using namespace mlir;
using namespace vcattn;

Lowered vcattn::lowerGatherTokens(LoopBuilder &b, GatherTokensOp op) {
  if (failed(checkStaticDim(op, op.getInput(), "input")))
    return failure();
  Value input = op.getInput();
  Layout layout = op.getLayout();
  TokenSizes n = b.sizes(input, layout);
  int64_t width = b.width(n.dim), lanes = LoopBuilder::lanes(width);
  Type element = cast<ShapedType>(input.getType()).getElementType();
  Value result = b.emptyLike(input, element);
  return b.forall(
      {n.batch, n.heads, n.tokens, b.index(n.dim / width)}, {result},
      [&](ArrayRef<Value> i, ArrayRef<Value> out) {
        TokenIndex at{i[0], i[1], i[2], b.mul(i[3], b.index(width))};
        Value source = arith::IndexCastOp::create(
            b, b.getIndexType(),
            b.extract(op.getPermutation(), {i[0], i[1], i[2]}));
        source =
            b.maxS(b.minS(source, b.sub(n.tokens, b.index(1))), b.index(0));
        TokenIndex from{i[0], i[1], source, at.channel};
        LoopBuilder::Slice slice = b.row(out[0], at.in(layout), width);
        SmallVector<Value> index = from.in(layout);
        for (int64_t offset = 0; offset < width; offset += lanes) {
          index.back() = b.add(at.channel, b.index(offset));
          slice.tensor = b.write(b.read(input, index, lanes), slice.tensor,
                                 {b.index(offset)});
        }
        return SmallVector<LoopBuilder::Slice>{slice};
      });
}
