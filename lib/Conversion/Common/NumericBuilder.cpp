//===- NumericBuilder.cpp - Arithmetic on scalars and vectors
//---------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "vcattn/Conversion/NumericBuilder.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace vcattn;

Type NumericBuilder::withElement(Type like, Type element) {
  if (auto vector = dyn_cast<VectorType>(like))
    return vector.clone(element);
  return element;
}

/// A splat of `attr` if `type` is a vector.
static TypedAttr asConstant(Type type, TypedAttr attr) {
  if (auto vector = dyn_cast<VectorType>(type))
    return DenseElementsAttr::get(vector, attr);
  return attr;
}

Value NumericBuilder::floatConstant(Type type, double value) {
  TypedAttr attr = getFloatAttr(getElementTypeOrSelf(type), value);
  return arith::ConstantOp::create(*this, asConstant(type, attr));
}

Value NumericBuilder::intConstant(Type type, int64_t value) {
  Type element = getElementTypeOrSelf(type);
  TypedAttr attr = IntegerAttr::get(
      element, APInt(element.isIndex() ? 64 : element.getIntOrFloatBitWidth(),
                     value, /*isSigned=*/true, /*implicitTrunc=*/true));
  return arith::ConstantOp::create(*this, asConstant(type, attr));
}

Value NumericBuilder::index(int64_t value) {
  return arith::ConstantIndexOp::create(*this, value);
}

Value NumericBuilder::addF(Value a, Value b) {
  return arith::AddFOp::create(*this, a, b);
}
Value NumericBuilder::subF(Value a, Value b) {
  return arith::SubFOp::create(*this, a, b);
}
Value NumericBuilder::mulF(Value a, Value b) {
  return arith::MulFOp::create(*this, a, b);
}
Value NumericBuilder::divF(Value a, Value b) {
  return arith::DivFOp::create(*this, a, b);
}
Value NumericBuilder::fma(Value a, Value b, Value c) {
  return math::FmaOp::create(*this, a, b, c);
}
Value NumericBuilder::absF(Value a) { return math::AbsFOp::create(*this, a); }
Value NumericBuilder::maximum(Value a, Value b) {
  return arith::MaximumFOp::create(*this, a, b);
}
Value NumericBuilder::maxNum(Value a, Value b) {
  return arith::MaxNumFOp::create(*this, a, b);
}
Value NumericBuilder::minNum(Value a, Value b) {
  return arith::MinNumFOp::create(*this, a, b);
}
Value NumericBuilder::isNaN(Value a) {
  return cmpF(arith::CmpFPredicate::UNO, a, a);
}
Value NumericBuilder::cmpF(arith::CmpFPredicate predicate, Value a, Value b) {
  return arith::CmpFOp::create(*this, predicate, a, b);
}

Value NumericBuilder::add(Value a, Value b) {
  return createOrFold<arith::AddIOp>(a, b);
}
Value NumericBuilder::sub(Value a, Value b) {
  return createOrFold<arith::SubIOp>(a, b);
}
Value NumericBuilder::mul(Value a, Value b) {
  return createOrFold<arith::MulIOp>(a, b);
}
Value NumericBuilder::ceilDiv(Value a, int64_t b) {
  return createOrFold<arith::CeilDivUIOp>(a, intConstant(a.getType(), b));
}
Value NumericBuilder::minS(Value a, Value b) {
  return createOrFold<arith::MinSIOp>(a, b);
}
Value NumericBuilder::maxS(Value a, Value b) {
  return createOrFold<arith::MaxSIOp>(a, b);
}
Value NumericBuilder::andI(Value a, Value b) {
  return arith::AndIOp::create(*this, a, b);
}
Value NumericBuilder::orI(Value a, Value b) {
  return arith::OrIOp::create(*this, a, b);
}
Value NumericBuilder::shl(Value a, int64_t bits) {
  return arith::ShLIOp::create(*this, a, intConstant(a.getType(), bits));
}
Value NumericBuilder::shrU(Value a, int64_t bits) {
  return arith::ShRUIOp::create(*this, a, intConstant(a.getType(), bits));
}
Value NumericBuilder::cmpI(arith::CmpIPredicate predicate, Value a, Value b) {
  return createOrFold<arith::CmpIOp>(predicate, a, b);
}

Value NumericBuilder::select(Value condition, Value a, Value b) {
  return arith::SelectOp::create(*this, condition, a, b);
}
Value NumericBuilder::bitcast(Value a, Type element) {
  return arith::BitcastOp::create(*this, withElement(a.getType(), element), a);
}
Value NumericBuilder::extU(Value a, unsigned width) {
  return arith::ExtUIOp::create(
      *this, withElement(a.getType(), getIntegerType(width)), a);
}
Value NumericBuilder::truncI(Value a, unsigned width) {
  return arith::TruncIOp::create(
      *this, withElement(a.getType(), getIntegerType(width)), a);
}
Value NumericBuilder::toF32(Value a) {
  if (getElementTypeOrSelf(a.getType()).isIndex())
    a = arith::IndexCastOp::create(*this,
                                   withElement(a.getType(), getI64Type()), a);
  return arith::SIToFPOp::create(*this, withElement(a.getType(), getF32Type()),
                                 a);
}

Value NumericBuilder::splat(Value a, int64_t lanes) {
  return vector::BroadcastOp::create(*this,
                                     VectorType::get({lanes}, a.getType()), a);
}

Value NumericBuilder::exp2F32(Value x) {
  Type type = x.getType();
  auto constant = [&](double value) { return floatConstant(type, value); };
  // Beyond these bounds the result is 0 or infinity all the same.
  Value low = constant(-160.0), high = constant(130.0);
  Value nan = isNaN(x);
  Value clamped =
      select(cmpF(arith::CmpFPredicate::OLT, x, low), low,
             select(cmpF(arith::CmpFPredicate::OGT, x, high), high, x));
  // A NaN must not reach the conversion to an integer.
  clamped = select(nan, constant(0.0), clamped);
  Value whole = math::RoundEvenOp::create(*this, clamped);
  Value part = subF(clamped, whole);

  // Taylor coefficients ln(2)^k / k!: on [-1/2, 1/2] the remainder is 5e-9.
  static constexpr double kCoefficients[] = {1.0,
                                             0.69314718055994531,
                                             0.24022650695910072,
                                             0.055504108664821580,
                                             0.0096181291076284772,
                                             0.0013333558146428443,
                                             0.00015403530393381610,
                                             0.000015252733804059841};
  Value power = constant(kCoefficients[7]);
  for (int k = 6; k >= 0; --k)
    power = fma(power, part, constant(kCoefficients[k]));

  // 2^whole in two factors, so that neither leaves the normal range.
  Type i32 = withElement(type, getI32Type());
  Value exponent = arith::FPToSIOp::create(*this, i32, whole);
  Value half = arith::ShRSIOp::create(*this, exponent, intConstant(i32, 1));
  auto powerOfTwo = [&](Value e) {
    return bitcast(shl(add(e, intConstant(i32, 127)), 23), getF32Type());
  };
  Value scaled =
      mulF(mulF(power, powerOfTwo(half)), powerOfTwo(sub(exponent, half)));
  return select(nan, x, scaled);
}
