//===- Hadamard.cpp - hadamard as loops -----------------------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One iteration per row, which it keeps in registers. Strides of at least a
// vector pair whole vectors; shorter ones shuffle lanes.
//
//===----------------------------------------------------------------------===//

#include "LoopBuilder.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <cmath>

using namespace mlir;
using namespace vcattn;

/// One stage with stride `h` inside of one vector: lane i gets x_i + x_(i+h) if
/// bit h of i is clear, x_(i-h) - x_i if it is set.
static Value stageInVector(LoopBuilder &b, Value x, int64_t h) {
  int64_t lanes = cast<VectorType>(x.getType()).getNumElements();
  SmallVector<int64_t> partner, pick;
  for (int64_t i = 0; i < lanes; ++i) {
    partner.push_back(i ^ h);
    pick.push_back(i & h ? lanes + i : i);
  }
  Value y = vector::ShuffleOp::create(b, x, x, partner);
  return vector::ShuffleOp::create(b, b.addF(x, y), b.subF(y, x), pick);
}

/// The butterfly over a row cut into vectors, of which a block, the largest
/// power of two that divides the row's length, has one or several.
static void rotate(LoopBuilder &b, MutableArrayRef<Value> row) {
  int64_t lanes = cast<VectorType>(row[0].getType()).getNumElements();
  int64_t vectors = row.size(), block = getRotationBlock(lanes * vectors);
  for (int64_t h = 1; h < lanes; h *= 2)
    for (Value &x : row)
      x = stageInVector(b, x, h);
  for (int64_t step = 1; step < block / lanes; step *= 2)
    for (int64_t i = 0; i < vectors; ++i)
      if (!(i & step)) {
        Value x = row[i], y = row[i + step];
        row[i] = b.addF(x, y);
        row[i + step] = b.subF(x, y);
      }
  Value norm = b.floatConstant(row[0].getType(),
                               static_cast<float>(1.0 / std::sqrt(block)));
  for (Value &x : row)
    x = b.mulF(x, norm);
}

Lowered vcattn::lowerHadamard(LoopBuilder &b, HadamardOp op) {
  Value input = op.getInput();
  // The layout does not matter to a row.
  TokenSizes n = b.sizes(input, Layout::BHTD);
  int64_t lanes = LoopBuilder::lanes(b.width(n.dim));
  Value result = b.emptyLike(input, b.getF32Type());
  return b.forall({n.batch, n.heads, n.tokens}, {result},
                  [&](ArrayRef<Value> i, ArrayRef<Value> out) {
                    SmallVector<Value> at{i[0], i[1], i[2], b.index(0)};
                    SmallVector<Value> row = b.readF32(input, at, n.dim, lanes);
                    rotate(b, row);
                    LoopBuilder::Slice slice = b.row(out[0], at, n.dim);
                    slice.tensor = b.writeAll(row, slice.tensor, {b.index(0)});
                    return SmallVector<LoopBuilder::Slice>{slice};
                  });
}
