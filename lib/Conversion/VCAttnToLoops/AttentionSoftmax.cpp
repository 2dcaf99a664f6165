//===- AttentionSoftmax.cpp - One row, one tile ---------------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// docs/Numerics.md, "Quantized attention", steps 3 to 5, on the 4 vectors of a
// row; and the online softmax of exact attention, which differs in its unit
// (octaves instead of eighths of them) and in raising the maximum whenever it
// can.
//
//===----------------------------------------------------------------------===//

#include "AttentionLoops.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "vcattn/Conversion/LogSumExp.h"
#include "vcattn/Conversion/NarrowFloat.h"
#include "vcattn/Conversion/SoftmaxCasts.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

using namespace mlir;
using namespace vcattn;

/// Logarithm of the probability of a score equal to the reference maximum.
static constexpr double kTopOctave = 8.0;
static constexpr double kLog2E = 1.4426950408889634, kLn2 = 0.6931471805599453;
/// Code units per natural unit.
static constexpr double kCodeUnits = 8.0 * kLog2E;
/// A subnormal f16's bits are its value over this.
static constexpr double kStep = 0x1p-24, kSteps = 0x1p24;
/// What integer scores are counted from, so that their bits read as a float.
static constexpr double kIntegerBias = 12582912.0;
/// Beyond these, a code would exceed 126.
static constexpr double kLargestCode = 126.0, kCodeTie = 126.5,
                        kValueTie = 464.0;
static constexpr double kInfinity = std::numeric_limits<double>::infinity();

namespace {
class RowSoftmax {
public:
  RowSoftmax(LoopBuilder &b, const AttentionOperands &p,
             const AttentionTiles &t, const TileRow &row)
      : b(b), p(p), t(t), row(row), f32(b.getF32Type()),
        vector(VectorType::get({kLanes}, f32)) {}

  CastRow exact(ArrayRef<Value> scores, Value maximum);
  CastRow cast(ArrayRef<Value> scores, Value maximum);

private:
  using Vectors = SmallVector<Value>;

  Value constant(double value) { return b.floatConstant(vector, value); }
  Value splat(Value x) { return b.splat(x, kLanes); }
  Value maxNum(ArrayRef<Value> vectors);

  void readMask(double unit);
  Value maskAt(Value key);
  /// `x` where the key of vector `j` is seen, else `other`.
  Value whereSeen(int64_t j, Value x, double other);
  Vectors sumRow(CastRow &result);

  Value rowScale();
  /// Vector `j` of a row: lanes of keys that are cast exactly from `exact`, the
  /// others from `expCast`; what no lane needs is not emitted.
  Value byCast(int64_t j, function_ref<Value()> exact,
               function_ref<Value()> expCast);
  Vectors affine(ArrayRef<Value> scores, Value a, double top, double unit,
                 Value maximum);
  Vectors levels(ArrayRef<Value> scores, Value a, Value maximum);
  Value expCastProbability(Value code);
  Value probability(int64_t j, Value level);

  LoopBuilder &b;
  const AttentionOperands &p;
  const AttentionTiles &t;
  const TileRow &row;
  Type f32;
  VectorType vector;
  /// Per vector: which keys are seen (null: all), what the mask adds (null: 0).
  Vectors seen, added;
};
} // namespace

Value RowSoftmax::maxNum(ArrayRef<Value> vectors) {
  auto max = [&](Value x, Value y) { return b.maxNum(x, y); };
  return b.reduce(b.combine(vectors, max), max);
}

//===----------------------------------------------------------------------===//
// Which keys are seen
//===----------------------------------------------------------------------===//

/// The mask's entry for a key.
Value RowSoftmax::maskAt(Value key) {
  SmallVector<Value> at{row.batch, row.head, row.query, key};
  for (auto [i, index] : llvm::enumerate(at))
    index = b.broadcastIndex(p.mask, i, index);
  return b.extract(p.mask, at);
}

/// Fills `seen` and `added`; float masks are taken times `unit`.
void RowSoftmax::readMask(double unit) {
  seen.assign(kTileVectors, Value());
  added.assign(kTileVectors, Value());
  Type i32 = b.getI32Type();
  auto limit = [&](Value bound, arith::CmpIPredicate predicate) {
    if (!bound)
      return;
    Value limit = arith::IndexCastOp::create(b, i32, bound);
    SmallVector<int32_t> lanes(kLanes);
    for (int64_t j = 0; j < kTileVectors; ++j) {
      std::iota(lanes.begin(), lanes.end(), j * kLanes);
      Value keys = arith::ConstantOp::create(b, b.getI32VectorAttr(lanes));
      Value inside = b.cmpI(predicate, keys, splat(limit));
      seen[j] = seen[j] ? b.andI(seen[j], inside) : inside;
    }
  };
  limit(row.end, arith::CmpIPredicate::slt);
  limit(row.start, arith::CmpIPredicate::sge);
  if (!p.mask)
    return;
  Value first = b.mul(row.tile, b.index(kTileKeys));
  Value last = b.sub(t.k.tokens, b.index(1));
  bool isFloat = isa<FloatType>(p.elementOf(p.mask));
  for (int64_t j = 0; j < kTileVectors; ++j) {
    SmallVector<Value> lanes;
    for (int64_t i = 0; i < kLanes; ++i) {
      Value key = b.add(first, b.index(j * kLanes + i));
      Value entry = maskAt(b.minS(key, last));
      // Vectors of i1 are awkward to build for a CPU.
      lanes.push_back(isFloat ? entry : b.extU(entry, 8));
    }
    auto type = VectorType::get({kLanes}, lanes[0].getType());
    Value entries = vector::FromElementsOp::create(b, type, lanes);
    Value keeps;
    if (isFloat) {
      added[j] =
          b.mulF(emitF32From(b, entries), constant(static_cast<float>(unit)));
      keeps = b.cmpF(arith::CmpFPredicate::UNE, added[j], constant(-kInfinity));
    } else {
      keeps = b.cmpI(arith::CmpIPredicate::ne, entries, b.intConstant(type, 0));
    }
    seen[j] = seen[j] ? b.andI(seen[j], keeps) : keeps;
  }
}

Value RowSoftmax::whereSeen(int64_t j, Value x, double other) {
  return seen[j] ? b.select(seen[j], x, b.floatConstant(x.getType(), other))
                 : x;
}

//===----------------------------------------------------------------------===//
// Exact attention
//===----------------------------------------------------------------------===//

CastRow RowSoftmax::exact(ArrayRef<Value> scores, Value maximum) {
  readMask(kLog2E);
  // In octaves, so that exponentials are powers of two.
  Vectors x;
  Value unit = constant(static_cast<float>(p.scale * kLog2E));
  for (auto [j, score] : llvm::enumerate(scores)) {
    Value octaves = b.mulF(score, unit);
    if (added[j])
      octaves = b.addF(octaves, added[j]);
    x.push_back(whereSeen(j, octaves, -kInfinity));
  }
  CastRow result;
  result.maximum = b.maxNum(maximum, maxNum(x));
  Value nothing = b.floatConstant(f32, -kInfinity);
  Value zero = b.floatConstant(f32, 0.0);
  Value isFirst = b.cmpF(arith::CmpFPredicate::OEQ, maximum, nothing);
  result.factor =
      b.select(isFirst, zero, b.exp2F32(b.subF(maximum, result.maximum)));
  for (auto [j, octaves] : llvm::enumerate(x)) {
    Value y = b.exp2F32(b.subF(octaves, splat(result.maximum)));
    result.probabilities.push_back(whereSeen(j, y, -0.0));
  }
  return result;
}

//===----------------------------------------------------------------------===//
// 8-bit probabilities
//===----------------------------------------------------------------------===//

/// a: what a score is worth in code units times 2^-24, per key.
Value RowSoftmax::rowScale() {
  Value a =
      b.floatConstant(f32, static_cast<float>(p.scale * kCodeUnits * kStep));
  if (!p.queryScale)
    return splat(a);
  a = b.mulF(b.extract(p.queryScale, {row.batch, row.head, row.query}), a);
  Value groups =
      b.read(p.keyScale,
             {row.batch, row.keyHead, blockOfTile(b, row.tile), b.index(0)},
             kKeyScaleGroups);
  // Key t of a tile belongs to group (t mod 8) / 2.
  SmallVector<int64_t> groupOf;
  for (int64_t i = 0; i < kLanes; ++i)
    groupOf.push_back(i % (2 * kKeyScaleGroups) / 2);
  Value scales = vector::ShuffleOp::create(b, groups, groups, groupOf);
  return b.mulF(splat(a), scales);
}

Value RowSoftmax::byCast(int64_t j, function_ref<Value()> exact,
                         function_ref<Value()> expCast) {
  int64_t exactLanes =
      std::clamp<int64_t>(getExactKeys(*p.cast) - j * kLanes, 0, kLanes);
  if (exactLanes == kLanes)
    return exact();
  if (exactLanes == 0)
    return expCast();
  SmallVector<int64_t> lanes(kLanes);
  std::iota(lanes.begin(), lanes.end(), 0);
  for (int64_t i = exactLanes; i < kLanes; ++i)
    lanes[i] += kLanes;
  Value first = exact(), second = expCast();
  return vector::ShuffleOp::create(b, first, second, lanes);
}

/// Scores relative to the maximum, which becomes `top`, in units of `unit` code
/// units; `a` is what a score is worth in them.
SmallVector<Value> RowSoftmax::affine(ArrayRef<Value> scores, Value a,
                                      double top, double unit, Value maximum) {
  Value offset = b.mulF(b.subF(b.floatConstant(f32, top), maximum),
                        b.floatConstant(f32, unit));
  Value bias = constant(p.hasIntegerScores() ? -kIntegerBias : -0.0);
  Value origin = b.fma(bias, a, splat(offset));
  Vectors result;
  for (auto [j, score] : llvm::enumerate(scores)) {
    Value x = b.fma(score, a, origin);
    if (added[j])
      x = b.addF(x, b.mulF(added[j], constant(unit)));
    result.push_back(x);
  }
  return result;
}

/// What is rounded to E4M3 and compared with the largest code: code units
/// themselves, or exponentials.
SmallVector<Value> RowSoftmax::levels(ArrayRef<Value> scores, Value a,
                                      Value maximum) {
  int64_t exactKeys = getExactKeys(*p.cast);
  Vectors octaves, steps;
  if (exactKeys > 0)
    octaves = affine(scores, b.mulF(a, constant(kSteps / 8.0)),
                     8.0 * kTopOctave, 0.125, maximum);
  // The multiply-add yields a subnormal of f16.
  if (exactKeys < kTileKeys)
    steps = affine(scores, a, getTopCode(*p.cast), kStep, maximum);
  Vectors result;
  for (int64_t j = 0; j < kTileVectors; ++j)
    result.push_back(byCast(
        j, [&] { return b.exp2F32(octaves[j]); },
        [&] { return b.mulF(steps[j], constant(kSteps)); }));
  return result;
}

/// The decoded E4M3 code that `x` is before it is rounded.
Value RowSoftmax::expCastProbability(Value x) {
  // Clamped, rounded by adding 1.5 * 2^23, and read as an E4M3 byte.
  Value zero = constant(0.0), top = constant(kLargestCode);
  Value clamped = b.select(b.cmpF(arith::CmpFPredicate::OGT, x, zero), x, zero);
  clamped =
      b.select(b.cmpF(arith::CmpFPredicate::OLT, clamped, top), clamped, top);
  Value magic = constant(kIntegerBias);
  Value sum = b.addF(clamped, magic);
  Value code =
      b.sub(b.bitcast(sum, b.getI32Type()), b.bitcast(magic, b.getI32Type()));
  Type i32 = code.getType();
  Value normal = b.bitcast(
      b.add(b.shl(code, 20), b.intConstant(i32, int64_t(120) << 23)), f32);
  Value subnormal = b.mulF(b.subF(sum, magic), constant(0x1p-9));
  Value isSubnormal =
      b.cmpI(arith::CmpIPredicate::ult, code, b.intConstant(i32, 8));
  return b.select(b.isNaN(x), x, b.select(isSubnormal, subnormal, normal));
}

/// The decoded E4M3 code of a level.
Value RowSoftmax::probability(int64_t j, Value level) {
  return byCast(
      j, [&] { return emitF32FromE4M3(b, emitE4M3FromF32(b, level)); },
      [&] { return expCastProbability(level); });
}

CastRow RowSoftmax::cast(ArrayRef<Value> rawScores, Value maximum) {
  readMask(kCodeUnits);
  Vectors scores(rawScores);
  if (p.hasIntegerScores())
    for (Value &score : scores)
      score = b.addF(score, constant(kIntegerBias));
  Value a = rowScale();
  Vectors values = levels(scores, a, maximum);

  // NaN counts as too large.
  Vectors exceeds;
  for (auto [j, value] : llvm::enumerate(values)) {
    Value tie = byCast(
        j, [&] { return constant(kValueTie); },
        [&] { return constant(kCodeTie); });
    Value over = b.cmpF(arith::CmpFPredicate::UGT, value, tie);
    exceeds.push_back(seen[j] ? b.andI(over, seen[j]) : over);
  }
  Value any = vector::ReductionOp::create(
      b, vector::CombiningKind::OR,
      b.combine(exceeds, [&](Value x, Value y) { return b.orI(x, y); }));

  auto raise = [&]() -> SmallVector<Value> {
    Value unit = b.mulF(a, constant(kSteps));
    Vectors terms;
    for (auto [j, score] : llvm::enumerate(scores)) {
      Value term =
          p.hasIntegerScores() ? b.subF(score, constant(kIntegerBias)) : score;
      term = b.mulF(term, unit);
      if (added[j])
        term = b.addF(term, added[j]);
      terms.push_back(whereSeen(j, term, -kInfinity));
    }
    Value raised = b.maxNum(maximum, maxNum(terms));
    Value step = b.mulF(b.subF(maximum, raised), b.floatConstant(f32, 0.125));
    Value isFirst = b.cmpF(arith::CmpFPredicate::OEQ, maximum,
                           b.floatConstant(f32, -kInfinity));
    Value factor =
        b.select(isFirst, b.floatConstant(f32, 0.0), b.exp2F32(step));
    SmallVector<Value> results{raised, factor};
    results.append(levels(scores, a, raised));
    return results;
  };
  auto keep = [&]() -> SmallVector<Value> {
    SmallVector<Value> results{maximum, b.floatConstant(f32, 1.0)};
    results.append(values);
    return results;
  };
  SmallVector<Value> chosen = b.branch(any, raise, keep);

  CastRow result;
  result.maximum = chosen[0];
  result.factor = chosen[1];
  for (int64_t j = 0; j < kTileVectors; ++j)
    result.probabilities.push_back(
        whereSeen(j, probability(j, chosen[2 + j]), -0.0));
  return result;
}

CastRow vcattn::emitSoftmaxRow(LoopBuilder &b, const AttentionOperands &p,
                               const AttentionTiles &t, const TileRow &row,
                               ArrayRef<Value> scores, Value maximum) {
  RowSoftmax softmax(b, p, t, row);
  CastRow result =
      p.cast ? softmax.cast(scores, maximum) : softmax.exact(scores, maximum);
  // Of a tile's codes every sum is exact.
  auto sum = [&](Value x, Value y) { return b.addF(x, y); };
  result.sum = b.reduce(b.combine(result.probabilities, sum), sum);
  return result;
}

Value vcattn::emitLse(LoopBuilder &b, const AttentionOperands &p, Value maximum,
                      Value denominator) {
  Type f32 = b.getF32Type();
  auto constant = [&](double value) { return b.floatConstant(f32, value); };
  Value log = math::Log2Op::create(b, denominator);
  Value octaves = maximum;
  if (p.cast)
    octaves = b.mulF(octaves, constant(0.125));
  octaves = b.addF(octaves, log);
  if (p.cast)
    octaves =
        b.subF(octaves, constant(static_cast<float>(getLseOffset(*p.cast))));
  Value isEmpty = b.cmpF(arith::CmpFPredicate::OEQ, denominator, constant(0.0));
  return b.select(isEmpty, constant(-kInfinity),
                  b.mulF(octaves, constant(static_cast<float>(kLn2))));
}
