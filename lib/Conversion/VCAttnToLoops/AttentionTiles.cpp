//===- AttentionTiles.cpp - Keys and values as FP32 tiles -----------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionLoops.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "vcattn/Conversion/NarrowFloat.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace vcattn;

using Slices = SmallVector<LoopBuilder::Slice>;

/// The slice [batch, head, tile, :, :] of a rank-5 tensor, as a matrix.
static LoopBuilder::Slice tileSlice(LoopBuilder &b, Value tensor,
                                    ArrayRef<Value> i) {
  auto type = cast<ShapedType>(tensor.getType());
  Value zero = b.index(0);
  return b.slice(tensor, {i[0], i[1], i[2], zero, zero},
                 {b.getIndexAttr(1), b.getIndexAttr(1), b.getIndexAttr(1),
                  b.getIndexAttr(type.getDimSize(3)),
                  b.getIndexAttr(type.getDimSize(4))},
                 /*keptDims=*/2);
}

/// Keys, transposed; those past the last key repeat it.
static Value packKeys(LoopBuilder &b, const AttentionOperands &p,
                      const AttentionTiles &t) {
  Value packed = b.empty(
      {t.k.batch, t.k.heads, t.tiles, b.index(t.k.dim), b.index(kTileKeys)},
      b.getF32Type());
  auto vector = VectorType::get({kLanes}, p.elementOf(p.key));
  Value last = b.sub(t.k.tokens, b.index(1));
  return b.forall(
      {t.k.batch, t.k.heads, t.tiles}, {packed},
      [&](ArrayRef<Value> i, ArrayRef<Value> out) {
        LoopBuilder::Slice slice = tileSlice(b, out[0], i);
        Value first = b.mul(i[2], b.index(kTileKeys));
        slice.tensor = b.loop(
            b.index(0), b.index(kTileKeys), {slice.tensor},
            [&](Value key, ArrayRef<Value> tile) {
              SmallVector<Value> tokens;
              for (int64_t lane = 0; lane < kLanes; ++lane)
                tokens.push_back(
                    b.minS(b.add(first, b.add(key, b.index(lane))), last));
              return b.loop(
                  b.index(0), b.index(t.k.dim), tile,
                  [&](Value d, ArrayRef<Value> tile) {
                    SmallVector<Value> lanes;
                    for (Value token : tokens) {
                      TokenIndex at{i[0], i[1], token, d};
                      lanes.push_back(b.extract(p.key, at.in(p.layout)));
                    }
                    Value x = vector::FromElementsOp::create(b, vector, lanes);
                    return SmallVector<Value>{
                        b.write(emitF32From(b, x), tile[0], {d, key})};
                  });
            },
            kLanes)[0];
        return Slices{slice};
      })[0];
}

/// Zeros in the channels past the last, in the row at `indices`.
static Value writePadding(LoopBuilder &b, const AttentionTiles &t, Value tensor,
                          ArrayRef<Value> indices) {
  int64_t rest = t.paddedDim - t.valueDim;
  if (rest == 0)
    return tensor;
  int64_t lanes = LoopBuilder::lanes(rest);
  auto vector = VectorType::get({lanes}, b.getF32Type());
  SmallVector<Value> zeros(rest / lanes, b.floatConstant(vector, 0.0));
  SmallVector<Value> at(indices);
  at.push_back(b.index(t.valueDim));
  return b.writeAll(zeros, tensor, at);
}

/// Values, zero past the last key and past the last channel; and which tiles
/// are finite, if asked for.
static std::pair<Value, Value> packValues(LoopBuilder &b,
                                          const AttentionOperands &p,
                                          const AttentionTiles &t) {
  SmallVector<Value> outputs{b.empty(
      {t.k.batch, t.k.heads, t.tiles, b.index(kTileKeys), b.index(t.paddedDim)},
      b.getF32Type())};
  if (p.hasFloatValues())
    outputs.push_back(b.empty({t.k.batch, t.k.heads, t.tiles}, b.getI8Type()));
  int64_t lanes = LoopBuilder::lanes(t.valueDim);
  Type f32 = b.getF32Type();
  Value zeros = b.floatConstant(VectorType::get({kLanes}, f32), 0.0);
  SmallVector<Value> results = b.forall(
      {t.k.batch, t.k.heads, t.tiles}, outputs,
      [&](ArrayRef<Value> i, ArrayRef<Value> out) {
        Slices slices{tileSlice(b, out[0], i)};
        Value first = b.mul(i[2], b.index(kTileKeys));
        Value count = b.minS(b.sub(t.k.tokens, first), b.index(kTileKeys));
        // x * 0 is 0 exactly if x is finite; the sum of that is NaN otherwise.
        auto vector = VectorType::get({lanes}, f32);
        SmallVector<Value> carried = b.loop(
            b.index(0), count, {slices[0].tensor, b.floatConstant(vector, 0.0)},
            [&](Value row, ArrayRef<Value> carried) {
              SmallVector<Value> result = b.steps(
                  t.valueDim, lanes, carried,
                  [&](Value d, ArrayRef<Value> carried) {
                    TokenIndex at{i[0], i[1], b.add(first, row), d};
                    Value x =
                        b.readF32(p.value, at.in(p.layout), lanes, lanes)[0];
                    Value probe = carried[1];
                    if (p.hasFloatValues())
                      probe = b.fma(x, b.floatConstant(vector, 0.0), probe);
                    return SmallVector<Value>{b.write(x, carried[0], {row, d}),
                                              probe};
                  });
              result[0] = writePadding(b, t, result[0], {row});
              return result;
            });
        slices[0].tensor =
            b.loop(count, b.index(kTileKeys), {carried[0]},
                   [&](Value row, ArrayRef<Value> tile) {
                     return b.steps(t.paddedDim, kLanes, tile,
                                    [&](Value d, ArrayRef<Value> tile) {
                                      return SmallVector<Value>{
                                          b.write(zeros, tile[0], {row, d})};
                                    });
                   })[0];
        if (p.hasFloatValues()) {
          Value probe = b.reduce(
              carried[1], [&](Value x, Value y) { return b.addF(x, y); });
          Value zero = b.floatConstant(f32, 0.0);
          Value finite =
              b.extU(b.cmpF(arith::CmpFPredicate::OEQ, probe, zero), 8);
          slices.push_back(b.row(out[1], i, 1));
          slices[1].tensor = b.insert(finite, slices[1].tensor, {b.index(0)});
        }
        return slices;
      });
  return {results[0], results.size() > 1 ? results[1] : Value()};
}

/// Means in the accumulator's unit: f16(mean / value scale), or as they are.
static Value packMeans(LoopBuilder &b, const AttentionOperands &p,
                       const AttentionTiles &t) {
  Type f32 = b.getF32Type();
  Value blocks = b.ceilDiv(t.k.tokens, kBlockTokens);
  Value packed =
      b.empty({t.k.batch, t.k.heads, blocks, b.index(t.paddedDim)}, f32);
  int64_t lanes = LoopBuilder::lanes(t.valueDim);
  return b.forall(
      {t.k.batch, t.k.heads, blocks}, {packed},
      [&](ArrayRef<Value> i, ArrayRef<Value> out) {
        LoopBuilder::Slice slice =
            b.row(out[0], {i[0], i[1], i[2], b.index(0)}, t.paddedDim);
        slice.tensor = b.steps(
            t.valueDim, lanes, {slice.tensor},
            [&](Value d, ArrayRef<Value> row) {
              Value mean =
                  b.readF32(p.means, {i[0], i[1], i[2], d}, lanes, lanes)[0];
              if (p.valueScale) {
                Value scale = b.read(p.valueScale, {i[0], i[1], d}, lanes);
                mean = emitF32From(
                    b, emitFromF32(b, b.divF(mean, scale), b.getF16Type()));
              }
              return SmallVector<Value>{b.write(mean, row[0], {d})};
            })[0];
        slice.tensor = writePadding(b, t, slice.tensor, {});
        return Slices{slice};
      })[0];
}

AttentionTiles vcattn::packTiles(LoopBuilder &b, const AttentionOperands &p) {
  AttentionTiles t;
  t.q = b.sizes(p.query, p.layout);
  t.k = b.sizes(p.key, p.layout);
  t.valueDim = b.sizes(p.value, p.layout).dim;
  t.paddedDim = llvm::alignTo(t.valueDim, kLanes);
  // Without key heads there are no query heads either, but the division is.
  t.group =
      b.createOrFold<arith::DivUIOp>(t.q.heads, b.maxS(t.k.heads, b.index(1)));
  t.tiles = b.ceilDiv(t.k.tokens, kTileKeys);
  t.keys = packKeys(b, p, t);
  std::tie(t.values, t.finite) = packValues(b, p, t);
  if (p.means)
    t.means = packMeans(b, p, t);
  return t;
}
