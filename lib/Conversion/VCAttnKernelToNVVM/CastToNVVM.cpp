//===- CastToNVVM.cpp - Softmax casts and the checked maximum -------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// ExpCast takes per score one fma, half a conversion, half a maximum of two and
// a quarter of a byte permutation; the exact cast one fma, one ex2, half a
// three-way maximum and half a conversion (docs/Numerics.md).
//
//===----------------------------------------------------------------------===//

#include "KernelToNVVM.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "vcattn/Conversion/SoftmaxCasts.h"
#include "vcattn/Dialect/VCAttn/IR/VCAttnShapes.h"

using namespace mlir;
using namespace vcattn;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Multipliers are code units times 2^-24, of which an octave has 8.
static constexpr double kPerSubnormal = 0x1p24;
/// What scores read as floats have too much: 1.5 * 2^23 if integers.
static double getBias(FragmentType scores) {
  return scores.getElementType().isInteger() ? 12582912.0 : 0.0;
}

/// Scores as floats.
static SmallVector<Value> getScores(KernelBuilder &b, Value registers) {
  SmallVector<Value> scores = b.unpack(registers);
  for (Value &score : scores)
    if (score.getType().isInteger())
      score = LLVM::BitcastOp::create(b, b.getF32Type(), score);
  return scores;
}

static Value maxF32(KernelBuilder &b, Value x, Value y) {
  return LLVM::MaxNumOp::create(b, x, y);
}

//===----------------------------------------------------------------------===//
// Which keys count, and what is added
//===----------------------------------------------------------------------===//

namespace {
/// What masks make of the scores that a thread has.
class ScoreMask {
public:
  ScoreMask(KernelBuilder &b, Value valid, Value keeps) : b(b) {
    if (keeps)
      keep = b.unpack(keeps);
    if (!valid)
      return;
    Value first = LLVM::ShlOp::create(b, b.quadLane(), b.i32(1));
    limit = LLVM::SubOp::create(b, valid, first);
  }
  template <typename Adaptor>
  ScoreMask(KernelBuilder &b, Adaptor adaptor)
      : ScoreMask(b, adaptor.getValid(), adaptor.getKeep()) {
    if (adaptor.getAdded())
      added = b.unpack(adaptor.getAdded());
  }

  bool keepsAll() const { return !limit && keep.empty(); }
  bool adds() const { return !added.empty(); }
  /// What is added to score `index`, in code units.
  Value addend(size_t index) const { return adds() ? added[index] : Value(); }
  /// `value` if the key of score `index` counts, else `other`.
  Value select(size_t index, Value value, Value other) const {
    if (keepsAll())
      return value;
    return LLVM::SelectOp::create(b, counts(index), value, other);
  }

private:
  Value counts(size_t index) const {
    // Registers are columns 2 * lane + {0, 1} of row r, the same of row r + 8,
    // then 8 columns on (PTX ISA, wgmma, D).
    auto group = static_cast<int64_t>(index / 4), column = int64_t(index % 2);
    if (limit)
      return LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::sgt, limit,
                                  b.i32(8 * group + column));
    return b.isKept(keep, index / 2 % kThreadRows, 2 * group + column);
  }

  KernelBuilder &b;
  /// Valid keys less the thread's first column.
  Value limit;
  SmallVector<Value> keep, added;
};
} // namespace

//===----------------------------------------------------------------------===//
// Casts
//===----------------------------------------------------------------------===//

namespace {
/// How scores become probabilities. The *level* of a score is the number that
/// is rounded to E4M3, as an i32 that grows with it and by which levels are
/// compared.
class ScoreCast {
public:
  virtual ~ScoreCast() = default;

  /// The level of a score of `row`, to which `added`, if it is not null, is
  /// added.
  virtual Value getLevel(Value score, unsigned row, Value added) = 0;
  /// The larger of two registers of levels.
  virtual Value max(Value x, Value y) = 0;
  /// Is a level in the register one that rounds beyond 448, or NaN?
  virtual Value isAbove(Value levels) = 0;
  /// The codes of two neighbouring scores of `row`, the first of which is
  /// number `first`, as bytes of a register. Updates the `largest` level, if
  /// there is one.
  virtual Value castPair(ArrayRef<Value> scores, size_t first, unsigned row,
                         const ScoreMask &mask, bool saturate,
                         Value &largest) = 0;

protected:
  /// `unit`: what the fma's result counts in, per code unit.
  ScoreCast(KernelBuilder &b, double unit, SmallVector<Value> multipliers)
      : b(b), unit(unit), multipliers(std::move(multipliers)) {}

  /// Addends of the fma, from those of scores without a bias.
  void setOffsets(ArrayRef<Value> unbiased, double bias) {
    offsets = SmallVector<Value>(unbiased);
    if (bias == 0)
      return;
    for (auto [multiplier, offset] : llvm::zip_equal(multipliers, offsets))
      offset = LLVM::FMAOp::create(b, b.f32(-bias), multiplier, offset);
  }
  Value scaled(Value score, unsigned row, Value added) {
    Value x = LLVM::FMAOp::create(b, score, multipliers[row], offsets[row]);
    if (!added)
      return x;
    return LLVM::FAddOp::create(b, x,
                                LLVM::FMulOp::create(b, added, b.f32(unit)));
  }
  Value bits(Value value) {
    return LLVM::BitcastOp::create(b, b.getI32Type(), value);
  }
  void update(Value &largest, Value level) {
    largest = largest ? max(largest, level) : level;
  }

  KernelBuilder &b;
  double unit;
  SmallVector<Value> multipliers, offsets;
};

/// The paper's: a rounded fma is the code.
class ExpCast : public ScoreCast {
public:
  ExpCast(KernelBuilder &b, ArrayRef<Value> multipliers,
          ArrayRef<Value> offsets, double bias)
      : ScoreCast(b, kUnit, SmallVector<Value>(multipliers)) {
    setOffsets(offsets, bias);
  }
  static constexpr double kUnit = 1 / kPerSubnormal;

  Value getLevel(Value score, unsigned row, Value added) override {
    return bits(convert(b.f32(0), scaled(score, row, added)));
  }
  Value max(Value x, Value y) override {
    auto pair = VectorType::get({2}, b.getI16Type());
    return bits(LLVM::UMaxOp::create(b, LLVM::BitcastOp::create(b, pair, x),
                                     LLVM::BitcastOp::create(b, pair, y)));
  }
  Value isAbove(Value levels) override {
    // Two codes, below 2^15, so that adding cannot carry to the other.
    constexpr int64_t kUpToSign = 0x8000 - (kMaxCode + 1);
    Value sum =
        LLVM::AddOp::create(b, levels, b.i32(kUpToSign << 16 | kUpToSign));
    Value signs =
        LLVM::AndOp::create(b, sum, b.i32(static_cast<int32_t>(0x80008000)));
    return LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, signs, b.i32(0));
  }
  Value castPair(ArrayRef<Value> scores, size_t first, unsigned row,
                 const ScoreMask &mask, bool saturate,
                 Value &largest) override {
    Value high = scaled(scores[first + 1], row, mask.addend(first + 1));
    Value low = scaled(scores[first], row, mask.addend(first));
    Value pair = convert(high, low);
    if (saturate)
      pair = LLVM::MinimumOp::create(b, pair, largestFinite());
    Value codes = bits(pair);
    if (!mask.keepsAll()) {
      codes = mask.select(first, codes, keep(codes, 0xFFFF0000));
      codes = mask.select(first + 1, codes, keep(codes, 0x0000FFFF));
    }
    update(largest, codes);
    return codes;
  }

private:
  /// The largest finite code.
  static constexpr int64_t kMaxCode = 126;

  Value keep(Value codes, uint32_t mask) {
    return LLVM::AndOp::create(b, codes, b.i32(static_cast<int32_t>(mask)));
  }
  /// The f16 subnormal of code n is n * 2^-24.
  Value convert(Value hi, Value lo) {
    auto halves = VectorType::get({2}, b.getF16Type());
    return NVVM::ConvertF32x2ToF16x2Op::create(
        b, halves, /*src_hi=*/hi, /*src_lo=*/lo, /*random_bits=*/Value(),
        NVVM::FPRoundingMode::RN, NVVM::SaturationMode::NONE, /*relu=*/true);
  }
  Value largestFinite() {
    APFloat largest(APFloat::IEEEhalf(), APInt(16, kMaxCode));
    auto halves = VectorType::get({2}, b.getF16Type());
    return LLVM::ConstantOp::create(b, halves,
                                    SplatElementsAttr::get(halves, largest));
  }
};

/// The exponential, then the hardware's conversion, which saturates.
class ExactCast : public ScoreCast {
public:
  ExactCast(KernelBuilder &b, ArrayRef<Value> codeMultipliers,
            ArrayRef<Value> offsets, double bias)
      : ScoreCast(b, kUnit, {}) {
    // From code units times 2^-24 to octaves.
    for (Value multiplier : codeMultipliers)
      multipliers.push_back(
          LLVM::FMulOp::create(b, multiplier, b.f32(kPerSubnormal * unit)));
    setOffsets(offsets, bias);
  }
  static constexpr double kUnit = 1.0 / 8;
  /// Code units from a probability of 1 to that at the reference maximum.
  static constexpr double kTop = 64;

  Value getLevel(Value score, unsigned row, Value added) override {
    return bits(b.exp2(scaled(score, row, added)));
  }
  Value max(Value x, Value y) override { return LLVM::UMaxOp::create(b, x, y); }
  Value isAbove(Value levels) override {
    return LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ugt, levels,
                                b.i32(kTieBits));
  }
  Value castPair(ArrayRef<Value> scores, size_t first, unsigned row,
                 const ScoreMask &mask, bool /*saturate: the conversion does*/,
                 Value &largest) override {
    SmallVector<Value> values;
    for (size_t i : {first, first + 1}) {
      Value value = b.exp2(scaled(scores[i], row, mask.addend(i)));
      values.push_back(mask.select(i, value, b.f32(0)));
      update(largest, bits(values.back()));
    }
    Value codes = NVVM::ConvertF32x2ToF8x2Op::create(
        b, b.getI16Type(), values[1], values[0], NVVM::FPRoundingMode::RN,
        NVVM::SaturationMode::SATFINITE, /*relu=*/false,
        Type(b.getType<Float8E4M3FNType>()));
    // Not extended, which would be an instruction: nobody reads the upper half.
    Value both =
        LLVM::PoisonOp::create(b, VectorType::get({2}, b.getI16Type()));
    return bits(LLVM::InsertElementOp::create(b, both, codes, b.i32(0)));
  }

private:
  /// 464, from where E4M3 rounds beyond 448.
  static constexpr int64_t kTieBits = 0x43E80000;
};
} // namespace

/// Whether score `index` is cast exactly.
static bool isExact(SoftmaxCast cast, size_t index) {
  // Four scores of a thread are in 8 columns of two rows.
  auto key = static_cast<int64_t>(index / 4 * 8 % kTileKeys);
  return key < getExactKeys(cast);
}

namespace {
/// What registers of a fragment of maxima hold, by rows: the maxima, and what
/// they contribute to the addends of ExpCast and of the exact cast. Those
/// change with the maxima alone, not with every tile.
class Maxima {
public:
  explicit Maxima(ArrayRef<Value> registers)
      : registers(registers.begin(), registers.end()) {}
  Maxima(KernelBuilder &b, SoftmaxCast cast, ArrayRef<Value> maxima)
      : registers(maxima.begin(), maxima.end()) {
    auto add = [&](double top, double unit) {
      for (Value maximum : maxima)
        registers.push_back(LLVM::FMulOp::create(
            b, LLVM::FSubOp::create(b, b.f32(top), maximum), b.f32(unit)));
    };
    // Without ExpCast nobody reads its part.
    add(cast == SoftmaxCast::Exact ? 0 : getTopCode(cast), ExpCast::kUnit);
    add(ExactCast::kTop, ExactCast::kUnit);
  }

  ArrayRef<Value> values() const { return registers; }
  ArrayRef<Value> maxima() const { return part(0); }
  ArrayRef<Value> expCastOffsets() const { return part(1); }
  ArrayRef<Value> exactOffsets() const { return part(2); }

private:
  ArrayRef<Value> part(size_t i) const {
    return ArrayRef(registers).slice(i * kThreadRows, kThreadRows);
  }
  SmallVector<Value> registers;
};

/// The casts of a tile's scores: one, or two that take turns by groups of keys.
class TileCast {
public:
  TileCast(KernelBuilder &b, SoftmaxCast cast, ArrayRef<Value> multipliers,
           const Maxima &maxima, double bias)
      : b(b), cast(cast) {
    if (cast != SoftmaxCast::ExpCast)
      casts.push_back(std::make_unique<ExactCast>(b, multipliers,
                                                  maxima.exactOffsets(), bias));
    if (cast != SoftmaxCast::Exact)
      casts.push_back(std::make_unique<ExpCast>(b, multipliers,
                                                maxima.expCastOffsets(), bias));
  }

  size_t size() const { return casts.size(); }
  ScoreCast &operator[](size_t i) { return *casts[i]; }
  /// Which of the casts is that of score `index`.
  size_t getCast(size_t index) const {
    return casts.size() == 1 || isExact(cast, index) ? 0 : 1;
  }
  /// Whether a warp has a level that rounds beyond 448, given the largest of
  /// each cast and of each of a thread's rows.
  Value anyAbove(ArrayRef<SmallVector<Value>> largest) {
    Value above;
    for (auto [cast, levels] : llvm::zip_equal(casts, largest)) {
      Value mine = cast->isAbove(cast->max(levels[0], levels[1]));
      above = above ? LLVM::OrOp::create(b, above, mine) : mine;
    }
    return NVVM::VoteSyncOp::create(b, b.getI1Type(), b.i32(-1), above,
                                    NVVM::VoteSyncKind::any);
  }

private:
  KernelBuilder &b;
  SoftmaxCast cast;
  SmallVector<std::unique_ptr<ScoreCast>> casts;
};
} // namespace

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {
struct CastScoresPattern : OpConversionPattern<CastScoresOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(CastScoresOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    KernelBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> scores = getScores(b, adaptor.getScores());
    TileCast cast(b, op.getCast(), b.unpack(adaptor.getMultipliers()),
                  Maxima(b.unpack(adaptor.getMaximum())),
                  getBias(op.getScores().getType()));
    ScoreMask mask(b, adaptor);

    SmallVector<Value> levels;
    SmallVector<SmallVector<Value>> largest(cast.size(),
                                            SmallVector<Value>(kThreadRows));
    for (size_t first = 0; first < scores.size(); first += 2) {
      unsigned row = first / 2 % kThreadRows;
      size_t which = cast.getCast(first);
      levels.push_back(cast[which].castPair(
          scores, first, row, mask, op.getSaturate(), largest[which][row]));
    }

    Value overflow = op.getOverflow().use_empty()
                         ? Value(LLVM::PoisonOp::create(b, b.getI1Type()))
                         : cast.anyAbove(largest);
    rewriter.replaceOp(op, {b.pack(levels), overflow});
    return success();
  }
};

struct CheckMaximumPattern : OpConversionPattern<CheckMaximumOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(CheckMaximumOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    KernelBuilder b(op.getLoc(), rewriter);
    // Integer scores are positive floats, whose bits are ordered as they are.
    // Not -inf, with which raise_maximum fills: masked scores would be the same
    // there, and all be held in registers until then.
    SmallVector<Value> scores = b.unpack(adaptor.getScores());
    bool isInteger = scores.front().getType().isInteger();
    Value least =
        isInteger ? b.i32(0) : b.f32(std::numeric_limits<float>::lowest());
    TileCast cast(b, op.getCast(), b.unpack(adaptor.getMultipliers()),
                  Maxima(b.unpack(adaptor.getMaximum())),
                  getBias(op.getScores().getType()));
    ScoreMask mask(b, adaptor.getValid(), adaptor.getKeep());
    SmallVector<SmallVector<Value>> levels(cast.size(),
                                           SmallVector<Value>(kThreadRows));
    for (auto [i, score] : llvm::enumerate(scores)) {
      Value &top = levels[cast.getCast(i)][i / 2 % kThreadRows];
      score = mask.select(i, score, least);
      if (!top)
        top = score;
      else if (isInteger)
        top = LLVM::SMaxOp::create(b, top, score);
      else
        top = LLVM::MaximumOp::create(b, top, score);
    }
    for (size_t which = 0; which < cast.size(); ++which)
      for (auto [row, level] : llvm::enumerate(levels[which])) {
        if (isInteger)
          level = LLVM::BitcastOp::create(b, b.getF32Type(), level);
        level = cast[which].getLevel(level, row, /*added=*/Value());
        // Without a valid key, none. A row that sees nothing may be taken for
        // one that overflows, which costs time and changes nothing.
        if (op.getValid())
          level = mask.select(2 * row, level, b.i32(0));
      }
    rewriter.replaceOp(op, cast.anyAbove(levels));
    return success();
  }
};

struct RaiseMaximumPattern : OpConversionPattern<RaiseMaximumOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(RaiseMaximumOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    KernelBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> scores = getScores(b, adaptor.getScores());
    SmallVector<Value> multipliers = b.unpack(adaptor.getMultipliers());
    Maxima before(b.unpack(adaptor.getMaximum()));
    SmallVector<Value> maximum(before.maxima());
    double bias = getBias(op.getScores().getType());
    TileCast cast(b, op.getCast(), multipliers, before, bias);
    ScoreMask mask(b, adaptor);
    Value minusInfinity = b.f32(-kInfinity);
    // A score in code units. The key group's multiplier is not negative: if
    // nothing is added, the largest score gives the largest of these, and by
    // the cast's own fma the largest level.
    auto inCodeUnits = [&](Value score, unsigned r) -> Value {
      Value unbiased = LLVM::FSubOp::create(b, score, b.f32(bias));
      Value scale =
          LLVM::FMulOp::create(b, multipliers[r], b.f32(kPerSubnormal));
      return LLVM::FMulOp::create(b, unbiased, scale);
    };

    // Of each cast and row.
    SmallVector<SmallVector<Value>> tops(
        cast.size(), SmallVector<Value>(kThreadRows, minusInfinity)),
        levels(cast.size(), SmallVector<Value>(kThreadRows));
    for (auto [i, score] : llvm::enumerate(scores)) {
      unsigned r = i / 2 % kThreadRows;
      size_t which = cast.getCast(i);
      Value &top = tops[which][r], &largest = levels[which][r], term = score;
      if (Value added = mask.addend(i)) {
        term = LLVM::FAddOp::create(b, inCodeUnits(score, r), added);
        Value level =
            mask.select(i, cast[which].getLevel(score, r, added), b.i32(0));
        largest = largest ? cast[which].max(largest, level) : level;
      }
      top = maxF32(b, top, mask.select(i, term, minusInfinity));
    }

    SmallVector<Value> factors;
    for (unsigned r = 0; r < kThreadRows; ++r) {
      Value top, isAbove;
      for (size_t which = 0; which < cast.size(); ++which) {
        Value mine = tops[which][r], level = levels[which][r];
        if (!mask.adds()) {
          level = cast[which].getLevel(mine, r, /*added=*/Value());
          mine = inCodeUnits(mine, r);
        }
        level = b.reduceQuad(
            level, [&](Value x, Value y) { return cast[which].max(x, y); });
        Value above = cast[which].isAbove(level);
        isAbove = isAbove ? LLVM::OrOp::create(b, isAbove, above) : above;
        top = top ? maxF32(b, top, mine) : mine;
      }
      top =
          b.reduceQuad(top, [&](Value x, Value y) { return maxF32(b, x, y); });
      Value raised = LLVM::SelectOp::create(
          b, isAbove, maxF32(b, maximum[r], top), maximum[r]);
      // The first tile starts from -inf, where the difference may be NaN.
      Value steps = LLVM::FMulOp::create(
          b, LLVM::FSubOp::create(b, maximum[r], raised), b.f32(0.125));
      Value isFirst = LLVM::FCmpOp::create(b, LLVM::FCmpPredicate::oeq,
                                           maximum[r], minusInfinity);
      factors.push_back(
          LLVM::SelectOp::create(b, isFirst, b.f32(0), b.exp2(steps)));
      maximum[r] = raised;
    }
    Maxima after(b, op.getCast(), maximum);
    rewriter.replaceOp(op, {b.pack(after.values()), b.pack(factors)});
    return success();
  }
};

struct PackProbabilitiesPattern : OpConversionPattern<PackProbabilitiesOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(PackProbabilitiesOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    KernelBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> levels = b.unpack(adaptor.getLevels()), result;
    // A 32-key step takes four neighbouring column pairs of both rows; its
    // registers are row r, row r + 8, row r, row r + 8 (PTX ISA, wgmma, A).
    for (size_t step = 0; step < levels.size(); step += 8)
      for (size_t i : {0, 1, 4, 5}) {
        size_t lo = step + i, hi = lo + 2;
        result.push_back(
            NVVM::PermuteOp::create(b, b.getI32Type(), levels[lo], levels[hi],
                                    b.i32(getSelector(op.getCast(), lo, hi)),
                                    NVVM::PermuteMode::DEFAULT));
      }
    rewriter.replaceOp(op, b.pack(result));
    return success();
  }

private:
  /// Selects the codes of two pairs of scores, of which bytes 0-3 and 4-7 are
  /// the registers (PTX ISA, prmt).
  static int64_t getSelector(SoftmaxCast cast, size_t lo, size_t hi) {
    // Two codes are neighbours, or each in 16 bits.
    auto getSecond = [&](size_t pair) {
      return isExact(cast, 2 * pair) ? 1 : 2;
    };
    return (4 + getSecond(hi)) << 12 | 4 << 8 | getSecond(lo) << 4;
  }
};
} // namespace

void vcattn::populateCastPatterns(const TypeConverter &converter,
                                  RewritePatternSet &patterns) {
  patterns.add<CastScoresPattern, CheckMaximumPattern, RaiseMaximumPattern,
               PackProbabilitiesPattern>(converter, patterns.getContext());
}
