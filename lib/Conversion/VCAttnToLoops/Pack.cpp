//===- Pack.cpp - Kernel operands as loops --------------------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopBuilder.h"
#include "vcattn/Conversion/NarrowFloat.h"
#include "vcattn/Target/Schedules.h"

using namespace mlir;
using namespace vcattn;

/// The E4M3 code of 1.
static constexpr int64_t kOne = 0x38;

/// The key, within a tile, whose value stands in slot `slot` of a row.
///
/// A thread of the score accumulator holds keys 8 i + 2 q and 8 i + 2 q + 1, q
/// its number in the quad; the 8-bit A operand of 32 keys wants its slots 4 q
/// to 4 q + 3 and 16 + 4 q to 16 + 4 q + 3 (PTX ISA, wgmma, register
/// fragments). Bits of the slot, from the top: step (2), half, quad (2), pair,
/// parity; of the key: step, half, pair, quad, parity.
static Value keyOfSlot(LoopBuilder &b, Value slot) {
  auto bits = [&](int64_t mask) { return b.andI(slot, b.index(mask)); };
  Value quad = b.shrU(bits(0b0001100), 1), pair = b.shl(bits(0b0000010), 2);
  return b.orI(bits(0b1110001), b.orI(quad, pair));
}

Lowered vcattn::lowerPackValues(LoopBuilder &b, PackValuesOp op) {
  if (failed(checkStaticDim(op, op.getCodes(), "codes")))
    return failure();
  Layout layout = op.getLayout();
  TokenSizes n = b.sizes(op.getCodes(), layout);
  Value tiles = b.ceilDiv(n.tokens, kBlockTokens);
  int64_t rows = getValueRows(n.dim);
  Type i8 = b.getI8Type(), f8 = b.getType<Float8E4M3FNType>();
  Value out = b.empty(
      {n.batch, n.heads, tiles, b.index(rows), b.index(kBlockTokens)}, f8);
  return b.forall(
      {n.batch, n.heads, tiles, b.index(rows)}, {out},
      [&](ArrayRef<Value> i, ArrayRef<Value> out) {
        Value zero = b.intConstant(i8, 0), tile = i[2], row = i[3];
        Value isChannel =
            b.cmpI(arith::CmpIPredicate::ult, row, b.index(n.dim));
        // The row of ones of a tile, and what a row that is no channel holds.
        Value ones =
            b.add(b.index(getValueChannels(n.dim)),
                  arith::RemUIOp::create(b, tile, b.index(kRowSumColumns)));
        Value filler = b.select(b.cmpI(arith::CmpIPredicate::eq, row, ones),
                                b.intConstant(i8, kOne), zero);
        auto slice =
            b.row(out[0], {i[0], i[1], tile, row, b.index(0)}, kBlockTokens);
        slice.tensor = b.loop(
            b.index(0), b.index(kBlockTokens), {slice.tensor},
            [&](Value slot, ArrayRef<Value> packed) {
              Value key =
                  b.add(b.mul(tile, b.index(kBlockTokens)), keyOfSlot(b, slot));
              Value isKey = b.cmpI(arith::CmpIPredicate::ult, key, n.tokens);
              auto load = [&] {
                TokenIndex at{i[0], i[1], key, row};
                Value code = b.extract(op.getCodes(), at.in(layout));
                return SmallVector<Value>{b.bitcast(code, i8)};
              };
              Value code = b.branch(b.andI(isChannel, isKey), load, [&] {
                Value other = b.select(isChannel, zero, filler);
                return SmallVector<Value>{other};
              })[0];
              return SmallVector<Value>{
                  b.insert(b.bitcast(code, f8), packed[0], {slot})};
            })[0];
        return SmallVector<LoopBuilder::Slice>{slice};
      });
}

Lowered vcattn::lowerPackMeans(LoopBuilder &b, PackMeansOp op) {
  Value means = op.getMeans();
  Value tiles = b.dim(means, 2);
  int64_t dim = cast<ShapedType>(means.getType()).getDimSize(3);
  Type f32 = b.getF32Type(), f16 = b.getF16Type();
  SmallVector<Value> sizes{b.dim(means, 0),
                           b.dim(means, 1),
                           b.ceilDiv(tiles, kMeanBlocks),
                           b.index(getValueChannels(dim) / kCoreEdge),
                           b.index(kMeanBlocks / kCoreEdge),
                           b.index(kCoreEdge),
                           b.index(kCoreEdge)};
  Value out = b.empty(sizes, f16);
  return b.forall(
      ArrayRef(sizes).drop_back(), {out},
      [&](ArrayRef<Value> i, ArrayRef<Value> out) {
        Value channel = b.add(b.mul(i[3], b.index(kCoreEdge)), i[5]);
        Value first = b.add(b.mul(i[2], b.index(kMeanBlocks)),
                            b.mul(i[4], b.index(kCoreEdge)));
        // Past the last channel the place is padding.
        Value isChannel =
            b.cmpI(arith::CmpIPredicate::ult, channel, b.index(dim));
        Value known = b.minS(channel, b.index(dim - 1));
        Value scale = b.extract(op.getValueScale(), {i[0], i[1], known});
        SmallVector<Value> at(i);
        at.push_back(b.index(0));
        auto slice = b.row(out[0], at, kCoreEdge);
        slice.tensor = b.loop(
            b.index(0), b.index(kCoreEdge), {slice.tensor},
            [&](Value column, ArrayRef<Value> packed) {
              Value tile = b.add(first, column);
              Value isMean = b.andI(
                  isChannel, b.cmpI(arith::CmpIPredicate::ult, tile, tiles));
              auto load = [&] {
                Value mean = b.extract(means, {i[0], i[1], tile, channel});
                return SmallVector<Value>{b.divF(mean, scale)};
              };
              Value mean = b.branch(isMean, load, [&] {
                return SmallVector<Value>{b.floatConstant(f32, 0.0)};
              })[0];
              return SmallVector<Value>{
                  b.insert(emitFromF32(b, mean, f16), packed[0], {column})};
            })[0];
        return SmallVector<LoopBuilder::Slice>{slice};
      });
}
