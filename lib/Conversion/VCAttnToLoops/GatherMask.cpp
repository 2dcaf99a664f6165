//===- GatherMask.cpp - gather_mask as a loop -----------------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopBuilder.h"

using namespace mlir;
using namespace vcattn;

Lowered vcattn::lowerGatherMask(LoopBuilder &b, GatherMaskOp op) {
  Value mask = op.getMask(), permutation = op.getPermutation();
  Value group = b.index(op.getGroup());
  Value batch = b.dim(permutation, 0), keyHeads = b.dim(permutation, 1);
  Value queries = b.dim(mask, 2), keys = b.dim(permutation, 2);
  Value heads = b.mul(keyHeads, group);
  Type element = cast<ShapedType>(mask.getType()).getElementType();
  // A dimension of the mask that is 1 is read at 0.
  auto clamp = [&](Value index, int64_t dim) -> Value {
    if (cast<ShapedType>(mask.getType()).getDimSize(dim) == 1)
      return b.index(0);
    return b.maxS(b.minS(index, b.sub(b.dim(mask, dim), b.index(1))),
                  b.index(0));
  };
  Value result = b.empty({batch, heads, queries, keys}, element);
  return b.forall(
      {batch, heads, queries}, {result},
      [&](ArrayRef<Value> i, ArrayRef<Value> out) {
        LoopBuilder::Slice row = b.slice(
            out[0], {i[0], i[1], i[2], b.index(0)},
            {OpFoldResult(b.getIndexAttr(1)), OpFoldResult(b.getIndexAttr(1)),
             OpFoldResult(b.getIndexAttr(1)), OpFoldResult(keys)},
            /*keptDims=*/1);
        Value keyHead = arith::DivUIOp::create(b, i[1], group);
        row.tensor =
            b.loop(b.index(0), keys, {row.tensor},
                   [&](Value key, ArrayRef<Value> carried) {
                     Value source = arith::IndexCastOp::create(
                         b, b.getIndexType(),
                         b.extract(permutation, {i[0], keyHead, key}));
                     Value x = b.extract(mask, {clamp(i[0], 0), clamp(i[1], 1),
                                                i[2], clamp(source, 3)});
                     return SmallVector<Value>{b.insert(x, carried[0], {key})};
                   })
                .front();
        return SmallVector<LoopBuilder::Slice>{row};
      });
}
