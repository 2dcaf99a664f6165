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
  ScoreMask(KernelBuilder &b, Value valid) : b(b) {
    if (!valid)
      return;
    Value first = LLVM::ShlOp::create(b, b.quadLane(), b.i32(1));
    limit = LLVM::SubOp::create(b, valid, first);
  }
  template <typename Adaptor>
  ScoreMask(KernelBuilder &b, Adaptor adaptor)
      : ScoreMask(b, Value(adaptor.getValid())) {
    if (adaptor.getKeep())
      keep = b.unpack(adaptor.getKeep());
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
/// How scores of a tile become probabilities. The *level* of a score is the
/// number that is rounded to E4M3, as an i32 that grows with it and by which
/// levels are compared.
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
  /// The registers of levels of two neighbouring scores of `row`, the first of
  /// which is number `first`. Updates the `largest` level, if there is one.
  virtual SmallVector<Value> castPair(ArrayRef<Value> scores, size_t first,
                                      unsigned row, const ScoreMask &mask,
                                      bool saturate, Value &largest) = 0;

protected:
  /// `unit`: what the fma's result counts in, per code unit.
  ScoreCast(KernelBuilder &b, double unit, SmallVector<Value> multipliers)
      : b(b), unit(unit), multipliers(std::move(multipliers)) {}

  /// Addends of the fma, by which a score at the maximum is `top` code units.
  void setOffsets(ArrayRef<Value> maxima, double top, double bias) {
    for (Value maximum : maxima)
      offsets.push_back(LLVM::FMulOp::create(
          b, LLVM::FSubOp::create(b, b.f32(top), maximum), b.f32(unit)));
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
  ExpCast(KernelBuilder &b, ArrayRef<Value> multipliers, ArrayRef<Value> maxima,
          double bias)
      : ScoreCast(b, 1 / kPerSubnormal, SmallVector<Value>(multipliers)) {
    setOffsets(maxima, kTopCode, bias);
  }

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
  SmallVector<Value> castPair(ArrayRef<Value> scores, size_t first,
                              unsigned row, const ScoreMask &mask,
                              bool saturate, Value &largest) override {
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
    return {codes};
  }

private:
  /// Code of a score that equals the reference maximum; the largest finite one.
  static constexpr double kTopCode = 119.65f;
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
            ArrayRef<Value> maxima, double bias)
      : ScoreCast(b, 1.0 / 8, {}) {
    // From code units times 2^-24 to octaves.
    for (Value multiplier : codeMultipliers)
      multipliers.push_back(
          LLVM::FMulOp::create(b, multiplier, b.f32(kPerSubnormal * unit)));
    setOffsets(maxima, 8 * kTopOctave, bias);
  }

  Value getLevel(Value score, unsigned row, Value added) override {
    return bits(b.exp2(scaled(score, row, added)));
  }
  Value max(Value x, Value y) override { return LLVM::UMaxOp::create(b, x, y); }
  Value isAbove(Value levels) override {
    return LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ugt, levels,
                                b.i32(kTieBits));
  }
  SmallVector<Value> castPair(ArrayRef<Value> scores, size_t first,
                              unsigned row, const ScoreMask &mask,
                              bool /*saturate: the conversion does*/,
                              Value &largest) override {
    SmallVector<Value> values;
    for (size_t i : {first, first + 1}) {
      Value value = b.exp2(scaled(scores[i], row, mask.addend(i)));
      values.push_back(mask.select(i, value, b.f32(0)));
      update(largest, bits(values.back()));
    }
    return values;
  }

private:
  /// Logarithm of the probability at the reference maximum.
  static constexpr double kTopOctave = 8;
  /// 464, from where E4M3 rounds beyond 448.
  static constexpr int64_t kTieBits = 0x43E80000;
};
} // namespace

static std::unique_ptr<ScoreCast> makeCast(KernelBuilder &b, SoftmaxCast cast,
                                           ArrayRef<Value> multipliers,
                                           ArrayRef<Value> maxima,
                                           double bias) {
  if (cast == SoftmaxCast::ExpCast)
    return std::make_unique<ExpCast>(b, multipliers, maxima, bias);
  return std::make_unique<ExactCast>(b, multipliers, maxima, bias);
}

/// Whether a warp has a level that rounds beyond 448, given the largest of each
/// of a thread's rows.
static Value anyAbove(KernelBuilder &b, ScoreCast &cast,
                      ArrayRef<Value> largest) {
  Value above = cast.isAbove(cast.max(largest[0], largest[1]));
  return NVVM::VoteSyncOp::create(b, b.getI1Type(), b.i32(-1), above,
                                  NVVM::VoteSyncKind::any);
}

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
    auto cast = makeCast(b, op.getCast(), b.unpack(adaptor.getMultipliers()),
                         b.unpack(adaptor.getMaximum()),
                         getBias(op.getScores().getType()));
    ScoreMask mask(b, adaptor);

    SmallVector<Value> levels;
    Value largest[kThreadRows];
    for (size_t first = 0; first < scores.size(); first += 2) {
      unsigned row = first / 2 % kThreadRows;
      llvm::append_range(levels,
                         cast->castPair(scores, first, row, mask,
                                        op.getSaturate(), largest[row]));
    }

    Value overflow = op.getOverflow().use_empty()
                         ? Value(LLVM::PoisonOp::create(b, b.getI1Type()))
                         : anyAbove(b, *cast, largest);
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
    ScoreMask mask(b, adaptor.getValid());
    SmallVector<Value> tops(kThreadRows);
    for (auto [i, score] : llvm::enumerate(scores)) {
      Value &top = tops[i / 2 % kThreadRows];
      score = mask.select(i, score, least);
      if (!top)
        top = score;
      else if (isInteger)
        top = LLVM::SMaxOp::create(b, top, score);
      else
        top = LLVM::MaximumOp::create(b, top, score);
    }

    auto cast = makeCast(b, op.getCast(), b.unpack(adaptor.getMultipliers()),
                         b.unpack(adaptor.getMaximum()),
                         getBias(op.getScores().getType()));
    SmallVector<Value> levels;
    for (auto [row, top] : llvm::enumerate(tops)) {
      if (isInteger)
        top = LLVM::BitcastOp::create(b, b.getF32Type(), top);
      Value level = cast->getLevel(top, row, /*added=*/Value());
      // Without a valid key, none.
      levels.push_back(mask.select(2 * row, level, b.i32(0)));
    }
    rewriter.replaceOp(op, anyAbove(b, *cast, levels));
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
    SmallVector<Value> maximum = b.unpack(adaptor.getMaximum());
    double bias = getBias(op.getScores().getType());
    auto cast = makeCast(b, op.getCast(), multipliers, maximum, bias);
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

    SmallVector<Value> tops(kThreadRows, minusInfinity), levels(kThreadRows);
    for (auto [i, score] : llvm::enumerate(scores)) {
      unsigned r = i / 2 % kThreadRows;
      Value term = score;
      if (Value added = mask.addend(i)) {
        term = LLVM::FAddOp::create(b, inCodeUnits(score, r), added);
        Value level = mask.select(i, cast->getLevel(score, r, added), b.i32(0));
        levels[r] = levels[r] ? cast->max(levels[r], level) : level;
      }
      tops[r] = maxF32(b, tops[r], mask.select(i, term, minusInfinity));
    }

    SmallVector<Value> factors;
    for (unsigned r = 0; r < kThreadRows; ++r) {
      if (!mask.adds()) {
        levels[r] = cast->getLevel(tops[r], r, /*added=*/Value());
        tops[r] = inCodeUnits(tops[r], r);
      }
      Value level = b.reduceQuad(
          levels[r], [&](Value x, Value y) { return cast->max(x, y); });
      Value top = b.reduceQuad(
          tops[r], [&](Value x, Value y) { return maxF32(b, x, y); });
      Value raised = LLVM::SelectOp::create(
          b, cast->isAbove(level), maxF32(b, maximum[r], top), maximum[r]);
      // The first tile starts from -inf, where the difference may be NaN.
      Value steps = LLVM::FMulOp::create(
          b, LLVM::FSubOp::create(b, maximum[r], raised), b.f32(0.125));
      Value isFirst = LLVM::FCmpOp::create(b, LLVM::FCmpPredicate::oeq,
                                           maximum[r], minusInfinity);
      factors.push_back(
          LLVM::SelectOp::create(b, isFirst, b.f32(0), b.exp2(steps)));
      maximum[r] = raised;
    }
    rewriter.replaceOp(op, {b.pack(maximum), b.pack(factors)});
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
    bool areCodes = op.getLevels().getType().getElementType().isInteger();
    // A 32-key step takes four neighbouring column pairs of both rows; its
    // registers are row r, row r + 8, row r, row r + 8 (PTX ISA, wgmma, A).
    size_t perPair = areCodes ? 1 : 2;
    for (size_t step = 0; step < levels.size(); step += 8 * perPair)
      for (size_t i : {0, 1, 4, 5}) {
        ArrayRef<Value> lo =
            ArrayRef(levels).slice(step + i * perPair, perPair);
        ArrayRef<Value> hi =
            ArrayRef(levels).slice(step + (i + 2) * perPair, perPair);
        result.push_back(areCodes ? takeLowBytes(b, lo[0], hi[0])
                                  : round(b, lo, hi));
      }
    rewriter.replaceOp(op, b.pack(result));
    return success();
  }

  static Value takeLowBytes(KernelBuilder &b, Value lo, Value hi) {
    return NVVM::PermuteOp::create(b, b.getI32Type(), lo, hi,
                                   /*selector=*/b.i32(0x6420),
                                   NVVM::PermuteMode::DEFAULT);
  }

  static Value round(KernelBuilder &b, ArrayRef<Value> lo, ArrayRef<Value> hi) {
    Value both = LLVM::UndefOp::create(b, VectorType::get({2}, b.getI16Type()));
    for (auto [i, pair] : llvm::enumerate(ArrayRef{lo, hi})) {
      Value codes = NVVM::ConvertF32x2ToF8x2Op::create(
          b, b.getI16Type(), pair[1], pair[0], NVVM::FPRoundingMode::RN,
          NVVM::SaturationMode::SATFINITE, /*relu=*/false,
          Type(b.getType<Float8E4M3FNType>()));
      both = LLVM::InsertElementOp::create(b, both, codes, b.i32(i));
    }
    return LLVM::BitcastOp::create(b, b.getI32Type(), both);
  }
};
} // namespace

void vcattn::populateCastPatterns(const TypeConverter &converter,
                                  RewritePatternSet &patterns) {
  patterns.add<CastScoresPattern, CheckMaximumPattern, RaiseMaximumPattern,
               PackProbabilitiesPattern>(converter, patterns.getContext());
}
