//===- NarrowFloat.cpp - Conversions of narrow floats ---------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All narrow formats round alike: on the FP32 bit pattern where the result is
// normal, by adding and subtracting a large power of two where it is subnormal
// (that power's unit in the last place is the format's smallest step).
//
//===----------------------------------------------------------------------===//

#include "vcattn/Conversion/NarrowFloat.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace vcattn;

namespace {
/// A format of sign, exponent and mantissa with subnormals.
struct NarrowFormat {
  unsigned mantissaBits;
  int bias;
  /// Largest finite magnitude's bits.
  int64_t maxCode;
};
} // namespace

static constexpr NarrowFormat kE4M3{3, 7, 0x7E};
static constexpr NarrowFormat kE2M1{1, 1, 0x7};

static constexpr int kF32Bias = 127, kF32MantissaBits = 23;
static constexpr int64_t kF32Magnitude = 0x7FFFFFFF, kF32Infinity = 0x7F800000;

/// `bits` plus what makes dropping its low `dropped` bits round to nearest
/// even.
static Value addRounding(NumericBuilder &b, Value bits, unsigned dropped) {
  Type type = bits.getType();
  Value odd = b.andI(b.shrU(bits, dropped), b.intConstant(type, 1));
  Value below = b.intConstant(type, (int64_t(1) << (dropped - 1)) - 1);
  return b.add(b.add(bits, below), odd);
}

/// The saturated magnitude bits of |x| in `format`, in i32; `magnitude` are
/// |x|'s own bits. NaN comes out as the largest code.
static Value roundMagnitude(NumericBuilder &b, Value magnitude,
                            const NarrowFormat &format) {
  Type type = magnitude.getType();
  unsigned dropped = kF32MantissaBits - format.mantissaBits;
  int64_t rebias = static_cast<int64_t>(kF32Bias - format.bias)
                   << kF32MantissaBits;
  Value normal = b.shrU(
      b.sub(addRounding(b, magnitude, dropped), b.intConstant(type, rebias)),
      dropped);
  // The smallest step is 2^(1 - bias - mantissaBits); 2^23 of it has it as its
  // unit in the last place.
  int64_t magic = static_cast<int64_t>(kF32Bias + 1 - format.bias -
                                       static_cast<int>(format.mantissaBits) +
                                       kF32MantissaBits)
                  << kF32MantissaBits;
  Value magicBits = b.intConstant(type, magic);
  Value sum = b.addF(b.bitcast(magnitude, b.getF32Type()),
                     b.bitcast(magicBits, b.getF32Type()));
  Value subnormal = b.sub(b.bitcast(sum, b.getI32Type()), magicBits);
  Value smallestNormal =
      b.intConstant(type, static_cast<int64_t>(kF32Bias + 1 - format.bias)
                              << kF32MantissaBits);
  Value isSubnormal =
      b.cmpI(arith::CmpIPredicate::ult, magnitude, smallestNormal);
  Value code = b.select(isSubnormal, subnormal, normal);
  return arith::MinUIOp::create(b, code, b.intConstant(type, format.maxCode));
}

Value vcattn::emitE4M3FromF32(NumericBuilder &b, Value x) {
  Value bits = b.bitcast(x, b.getI32Type());
  Type type = bits.getType();
  Value magnitude = b.andI(bits, b.intConstant(type, kF32Magnitude));
  Value code = roundMagnitude(b, magnitude, kE4M3);
  Value sign = b.andI(b.shrU(bits, 24), b.intConstant(type, 0x80));
  Value isNaN = b.cmpI(arith::CmpIPredicate::ugt, magnitude,
                       b.intConstant(type, kF32Infinity));
  code = b.select(isNaN, b.intConstant(type, 0x7F), b.orI(code, sign));
  return b.truncI(code, 8);
}

Value vcattn::emitF32FromE4M3(NumericBuilder &b, Value code) {
  Value wide = b.extU(code, 32);
  Type type = wide.getType();
  Value magnitude = b.andI(wide, b.intConstant(type, 0x7F));
  int64_t rebias = static_cast<int64_t>(kF32Bias - kE4M3.bias)
                   << kF32MantissaBits;
  Value normal = b.add(b.shl(magnitude, kF32MantissaBits - kE4M3.mantissaBits),
                       b.intConstant(type, rebias));
  Value steps = b.toF32(magnitude);
  Value subnormal = b.bitcast(
      b.mulF(steps, b.floatConstant(steps.getType(), 0x1p-9)), b.getI32Type());
  Value bits = b.select(
      b.cmpI(arith::CmpIPredicate::ult, magnitude, b.intConstant(type, 8)),
      subnormal, normal);
  Value isNaN =
      b.cmpI(arith::CmpIPredicate::eq, magnitude, b.intConstant(type, 0x7F));
  bits = b.select(isNaN, b.intConstant(type, 0x7FC00000), bits);
  Value sign = b.shl(b.andI(wide, b.intConstant(type, 0x80)), 24);
  return b.bitcast(b.orI(bits, sign), b.getF32Type());
}

Value vcattn::emitE2M1FromF32(NumericBuilder &b, Value x) {
  Value bits = b.bitcast(x, b.getI32Type());
  Type type = bits.getType();
  Value magnitude = b.andI(bits, b.intConstant(type, kF32Magnitude));
  Value code = roundMagnitude(b, magnitude, kE2M1);
  Value sign = b.andI(b.shrU(bits, 28), b.intConstant(type, 0x8));
  Value isNaN = b.cmpI(arith::CmpIPredicate::ugt, magnitude,
                       b.intConstant(type, kF32Infinity));
  code = b.select(isNaN, b.intConstant(type, kE2M1.maxCode), b.orI(code, sign));
  return b.truncI(code, 8);
}

Value vcattn::emitI8FromF32(NumericBuilder &b, Value x) {
  Type type = x.getType();
  Value clamped = b.minNum(b.maxNum(x, b.floatConstant(type, -127.0)),
                           b.floatConstant(type, 127.0));
  Value rounded = math::RoundEvenOp::create(b, clamped);
  Value wide = arith::FPToSIOp::create(
      b, NumericBuilder::withElement(type, b.getI32Type()), rounded);
  return b.truncI(wide, 8);
}

Value vcattn::emitF32From(NumericBuilder &b, Value x) {
  Type element = getElementTypeOrSelf(x.getType());
  if (element.isF32())
    return x;
  if (element.isInteger(8))
    return b.toF32(x);
  if (isa<Float8E4M3FNType>(element))
    return emitF32FromE4M3(b, b.bitcast(x, b.getI8Type()));
  if (element.isBF16())
    return b.bitcast(b.shl(b.extU(b.bitcast(x, b.getI16Type()), 32), 16),
                     b.getF32Type());
  return arith::ExtFOp::create(
      b, NumericBuilder::withElement(x.getType(), b.getF32Type()), x);
}

Value vcattn::emitFromF32(NumericBuilder &b, Value x, Type element) {
  if (element.isF32())
    return x;
  if (!element.isBF16())
    return arith::TruncFOp::create(
        b, NumericBuilder::withElement(x.getType(), element), x);
  // Machine instructions for bf16 flush subnormals, so it is done by hand.
  Value bits = b.bitcast(x, b.getI32Type());
  Value rounded = b.shrU(addRounding(b, bits, 16), 16);
  rounded =
      b.select(b.isNaN(x), b.intConstant(bits.getType(), 0x7FFF), rounded);
  return b.bitcast(b.truncI(rounded, 16), element);
}
