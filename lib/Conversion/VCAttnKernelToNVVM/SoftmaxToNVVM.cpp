//===- SoftmaxToNVVM.cpp - ExpCast and the checked maximum ----------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Per score one fma, half a conversion, half a maximum and a quarter of a byte
// permutation (docs/Numerics.md).
//
//===----------------------------------------------------------------------===//

#include "KernelToNVVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace vcattn;

/// Code of a score that equals the reference maximum, and the largest finite
/// E4M3 code.
static constexpr double kTopCode = 119.65f;
static constexpr int64_t kMaxCode = 126;
/// An f16 subnormal of code n is n * 2^-24.
static constexpr double kSubnormal = 0x1p-24, kPerSubnormal = 0x1p24;
/// What scores read as floats have too much: 1.5 * 2^23 if integers.
static double getBias(FragmentType scores) {
  return scores.getElementType().isInteger() ? 12582912.0 : 0.0;
}

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Scores as floats.
static SmallVector<Value> getScores(KernelBuilder &b, Value registers) {
  SmallVector<Value> scores = b.unpack(registers);
  for (Value &score : scores)
    if (score.getType().isInteger())
      score = LLVM::BitcastOp::create(b, b.getF32Type(), score);
  return scores;
}

/// For the column with offset `column` to the thread's first one: is it valid?
/// `limit` is the number of valid keys less the thread's first column.
static Value isValid(KernelBuilder &b, Value limit, int64_t column) {
  return LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::sgt, limit,
                              b.i32(column));
}

/// Valid keys less the thread's first column; null if all keys are valid.
static Value getLimit(KernelBuilder &b, Value valid) {
  if (!valid)
    return {};
  Value first = LLVM::ShlOp::create(b, b.quadLane(), b.i32(1));
  return LLVM::SubOp::create(b, valid, first);
}

namespace {
/// What of an op's operands says which keys count: a number of them, a bit per
/// element of the thread, or nothing.
class Keeper {
public:
  template <typename Adaptor>
  Keeper(KernelBuilder &b, Adaptor adaptor)
      : b(b), limit(getLimit(b, adaptor.getValid())) {
    if (adaptor.getKeep())
      keep = b.unpack(adaptor.getKeep());
  }

  bool keepsAll() const { return !limit && keep.empty(); }
  /// Whether register i of a fragment of scores counts.
  Value operator()(size_t i) const {
    if (limit)
      return isValid(b, limit, 8 * (i / 4) + i % 2);
    return b.isKept(keep, i / 2 % kThreadRows, i / 4 * 2 + i % 2);
  }

private:
  KernelBuilder &b;
  Value limit;
  SmallVector<Value> keep;
};
} // namespace

static Value maxU16(KernelBuilder &b, Value x, Value y) {
  auto pair = VectorType::get({2}, b.getI16Type());
  Value max = LLVM::UMaxOp::create(b, LLVM::BitcastOp::create(b, pair, x),
                                   LLVM::BitcastOp::create(b, pair, y));
  return LLVM::BitcastOp::create(b, b.getI32Type(), max);
}

static Value maxF32(KernelBuilder &b, Value x, Value y) {
  return LLVM::MaxNumOp::create(b, x, y);
}

/// Codes above the largest finite one become it; NaN stays.
static Value saturate(KernelBuilder &b, Value pair) {
  auto type = cast<VectorType>(pair.getType());
  APFloat largest(APFloat::IEEEhalf(), APInt(16, kMaxCode));
  Value limit =
      LLVM::ConstantOp::create(b, type, SplatElementsAttr::get(type, largest));
  return LLVM::MinimumOp::create(b, pair, limit);
}

/// Is one of the two codes in a register above the largest finite one? Codes
/// are below 2^15, so that adding cannot carry from one to the other.
static Value isAbove(KernelBuilder &b, Value codes) {
  constexpr int64_t kUpToSign = 0x8000 - (kMaxCode + 1);
  Value sum = LLVM::AddOp::create(b, codes, b.i32(kUpToSign << 16 | kUpToSign));
  Value signs =
      LLVM::AndOp::create(b, sum, b.i32(static_cast<int32_t>(0x80008000)));
  return LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, signs, b.i32(0));
}

/// The largest codes of each of the thread's rows, two per register.
static SmallVector<Value> getLargestCodes(KernelBuilder &b, ValueRange codes) {
  SmallVector<Value> largest(codes.take_front(kThreadRows));
  for (size_t i = kThreadRows; i < codes.size(); ++i)
    largest[i % kThreadRows] = maxU16(b, largest[i % kThreadRows], codes[i]);
  return largest;
}

namespace {
struct FillPattern : OpConversionPattern<FillOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(FillOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    KernelBuilder b(op.getLoc(), rewriter);
    auto type = getRegisters(op.getResult().getType());
    Type element = type.getBody().front();
    Value value =
        element.isF32() ? b.f32(op.getValue().convertToDouble()) : b.i32(0);
    rewriter.replaceOp(
        op, b.pack(SmallVector<Value>(type.getBody().size(), value)));
    return success();
  }
};

struct LoadRowsPattern : OpConversionPattern<LoadRowsOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(LoadRowsOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    KernelBuilder b(op.getLoc(), rewriter);
    Value source = adaptor.getSource();
    Value end = memref::DimOp::create(b, source, 2);
    Value mine = arith::IndexCastOp::create(b, b.getIndexType(), b.row());
    Value first = arith::AddIOp::create(b, adaptor.getFirst(), mine);
    SmallVector<Value> rows;
    for (unsigned i = 0; i < kThreadRows; ++i) {
      Value row = arith::AddIOp::create(
          b, first, arith::ConstantIndexOp::create(b, 8 * i));
      Value inside =
          arith::CmpIOp::create(b, arith::CmpIPredicate::slt, row, end);
      auto load = scf::IfOp::create(
          b, inside,
          [&](OpBuilder &nested, Location loc) {
            KernelBuilder inner(loc, nested);
            Value x = memref::LoadOp::create(
                inner, source,
                ValueRange{adaptor.getBatch(), adaptor.getHead(), row});
            Value scaled = LLVM::FMulOp::create(inner, x, adaptor.getFactor());
            scf::YieldOp::create(inner, scaled);
          },
          [&](OpBuilder &nested, Location loc) {
            KernelBuilder inner(loc, nested);
            scf::YieldOp::create(inner, inner.f32(0));
          });
      rows.push_back(load.getResult(0));
    }
    rewriter.replaceOp(op, b.pack(rows));
    return success();
  }
};

struct LoadMultipliersPattern : OpConversionPattern<LoadMultipliersOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(LoadMultipliersOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    KernelBuilder b(op.getLoc(), rewriter);
    Value group = arith::IndexCastOp::create(b, b.getIndexType(), b.quadLane());
    Value address = b.address(
        adaptor.getKeyScales(),
        {adaptor.getBatch(), adaptor.getHead(), adaptor.getTile(), group});
    Value scale = LLVM::LoadOp::create(
        b, b.getF32Type(), address, /*alignment=*/4, /*isVolatile=*/false,
        /*isNonTemporal=*/false, /*isInvariant=*/true);
    SmallVector<Value> rows = b.unpack(adaptor.getRows());
    for (Value &row : rows)
      row = LLVM::FMulOp::create(b, row, scale);
    rewriter.replaceOp(op, b.pack(rows));
    return success();
  }
};

struct ExpCastPattern : OpConversionPattern<ExpCastOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(ExpCastOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    KernelBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> scores = getScores(b, adaptor.getScores());
    SmallVector<Value> multipliers = b.unpack(adaptor.getMultipliers());
    SmallVector<Value> maximum = b.unpack(adaptor.getMaximum());
    double bias = getBias(op.getScores().getType());
    SmallVector<Value> offsets;
    for (unsigned r = 0; r < kThreadRows; ++r) {
      Value below = LLVM::FSubOp::create(b, b.f32(kTopCode), maximum[r]);
      Value scaled = LLVM::FMulOp::create(b, below, b.f32(kSubnormal));
      offsets.push_back(bias == 0 ? scaled
                                  : LLVM::FMAOp::create(b, b.f32(-bias),
                                                        multipliers[r], scaled)
                                        .getResult());
    }

    Keeper keeps(b, adaptor);
    SmallVector<Value> added;
    if (adaptor.getAdded())
      added = b.unpack(adaptor.getAdded());
    auto halves = VectorType::get({2}, b.getF16Type());
    SmallVector<Value> codes;
    for (size_t i = 0; i < scores.size(); i += 2) {
      unsigned r = i / 2 % kThreadRows;
      auto value = [&](size_t i) -> Value {
        Value y = LLVM::FMAOp::create(b, scores[i], multipliers[r], offsets[r]);
        if (added.empty())
          return y;
        return LLVM::FAddOp::create(
            b, y, LLVM::FMulOp::create(b, added[i], b.f32(kSubnormal)));
      };
      Value high = value(i + 1), low = value(i);
      Value pair = NVVM::ConvertF32x2ToF16x2Op::create(
          b, halves, /*src_hi=*/high, /*src_lo=*/low, /*random_bits=*/Value(),
          NVVM::FPRoundingMode::RN, NVVM::SaturationMode::NONE, /*relu=*/true);
      if (op.getSaturate())
        pair = saturate(b, pair);
      Value bits = LLVM::BitcastOp::create(b, b.getI32Type(), pair);
      if (!keeps.keepsAll()) {
        Value lo = LLVM::SelectOp::create(b, keeps(i), b.i32(0xFFFF), b.i32(0));
        Value hi = LLVM::SelectOp::create(
            b, keeps(i + 1), b.i32(static_cast<int32_t>(0xFFFF0000)), b.i32(0));
        bits = LLVM::AndOp::create(b, bits, LLVM::OrOp::create(b, lo, hi));
      }
      codes.push_back(bits);
    }

    Value overflow;
    if (!op.getOverflow().use_empty()) {
      SmallVector<Value> largest = getLargestCodes(b, codes);
      Value above = isAbove(b, maxU16(b, largest[0], largest[1]));
      overflow = NVVM::VoteSyncOp::create(b, b.getI1Type(), b.i32(-1), above,
                                          NVVM::VoteSyncKind::any);
    } else {
      overflow = LLVM::PoisonOp::create(b, b.getI1Type());
    }
    rewriter.replaceOp(op, {b.pack(codes), overflow});
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
    SmallVector<Value> largest =
        getLargestCodes(b, b.unpack(adaptor.getCodes()));
    Keeper keeps(b, adaptor);
    SmallVector<Value> added;
    if (adaptor.getAdded())
      added = b.unpack(adaptor.getAdded());
    Value minusInfinity = b.f32(-kInfinity);
    double bias = getBias(op.getScores().getType());
    // A score in code units. The key group's multiplier is not negative: if
    // nothing is added, the largest score gives the largest of these.
    auto inCodeUnits = [&](Value score, unsigned r) -> Value {
      Value unbiased = LLVM::FSubOp::create(b, score, b.f32(bias));
      Value scale =
          LLVM::FMulOp::create(b, multipliers[r], b.f32(kPerSubnormal));
      return LLVM::FMulOp::create(b, unbiased, scale);
    };

    SmallVector<Value> tops(kThreadRows, minusInfinity);
    for (auto [i, score] : llvm::enumerate(scores)) {
      unsigned r = i / 2 % kThreadRows;
      if (!added.empty())
        score = LLVM::FAddOp::create(b, inCodeUnits(score, r), added[i]);
      if (!keeps.keepsAll())
        score = LLVM::SelectOp::create(b, keeps(i), score, minusInfinity);
      tops[r] = maxF32(b, tops[r], score);
    }

    SmallVector<Value> factors;
    for (unsigned r = 0; r < kThreadRows; ++r) {
      Value mine = added.empty() ? inCodeUnits(tops[r], r) : tops[r];
      Value top =
          b.reduceQuad(mine, [&](Value x, Value y) { return maxF32(b, x, y); });
      Value codes = b.reduceQuad(
          largest[r], [&](Value x, Value y) { return maxU16(b, x, y); });
      Value raised = LLVM::SelectOp::create(
          b, isAbove(b, codes), maxF32(b, maximum[r], top), maximum[r]);
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
    SmallVector<Value> codes = b.unpack(adaptor.getCodes()), result;
    // A 32-key step takes the codes of four neighbouring column pairs; its
    // registers are row r, row r + 8, row r, row r + 8 (PTX ISA, wgmma, A).
    for (size_t step = 0; step < codes.size(); step += 8)
      for (size_t i : {0, 1, 4, 5})
        result.push_back(NVVM::PermuteOp::create(
            b, b.getI32Type(), /*lo=*/codes[step + i],
            /*hi=*/codes[step + i + 2], /*selector=*/b.i32(0x6420),
            NVVM::PermuteMode::DEFAULT));
    rewriter.replaceOp(op, b.pack(result));
    return success();
  }
};
} // namespace

void vcattn::populateSoftmaxPatterns(const TypeConverter &converter,
                                     RewritePatternSet &patterns) {
  patterns.add<FillPattern, LoadRowsPattern, LoadMultipliersPattern,
               ExpCastPattern, RaiseMaximumPattern, PackProbabilitiesPattern>(
      converter, patterns.getContext());
}
