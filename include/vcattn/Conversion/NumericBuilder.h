//===- NumericBuilder.h - Arithmetic on scalars and vectors -------*- C++
//-*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Short names for the arithmetic that the lowerings emit. Every method takes
// scalars and vectors alike, and none sets a fast-math flag: an fma is one op,
// a multiplication and an addition are two (docs/Numerics.md).
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_CONVERSION_NUMERICBUILDER_H
#define VCATTN_CONVERSION_NUMERICBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace vcattn {

class NumericBuilder : public mlir::ImplicitLocOpBuilder {
public:
  using Value = mlir::Value;
  using mlir::ImplicitLocOpBuilder::ImplicitLocOpBuilder;

  /// `like` (a scalar or vector type) with another element type.
  static mlir::Type withElement(mlir::Type like, mlir::Type element);

  /// A float constant of scalar or vector type `type`.
  Value floatConstant(mlir::Type type, double value);
  /// An integer or index constant of scalar or vector type `type`.
  Value intConstant(mlir::Type type, int64_t value);
  Value index(int64_t value);

  Value addF(Value a, Value b);
  Value subF(Value a, Value b);
  Value mulF(Value a, Value b);
  Value divF(Value a, Value b);
  Value fma(Value a, Value b, Value c);
  Value absF(Value a);
  /// The larger one; NaN if either is NaN.
  Value maximum(Value a, Value b);
  /// The larger one; the other one if one is NaN.
  Value maxNum(Value a, Value b);
  Value minNum(Value a, Value b);
  Value isNaN(Value a);
  Value cmpF(mlir::arith::CmpFPredicate predicate, Value a, Value b);

  /// Integers and indices. Additions that cannot matter fold away.
  Value add(Value a, Value b);
  Value sub(Value a, Value b);
  Value mul(Value a, Value b);
  Value ceilDiv(Value a, int64_t b);
  Value minS(Value a, Value b);
  Value maxS(Value a, Value b);
  Value andI(Value a, Value b);
  Value orI(Value a, Value b);
  Value shl(Value a, int64_t bits);
  Value shrU(Value a, int64_t bits);
  Value cmpI(mlir::arith::CmpIPredicate predicate, Value a, Value b);

  Value select(Value condition, Value a, Value b);
  /// Reinterprets the bits as elements of type `element`.
  Value bitcast(Value a, mlir::Type element);
  Value extU(Value a, unsigned width);
  Value truncI(Value a, unsigned width);
  /// Signed integer (or index) to f32, rounded to nearest even.
  Value toF32(Value a);

  /// `a` in each of `lanes` lanes.
  Value splat(Value a, int64_t lanes);

  /// 2^x in FP32, within one unit in the last place: a polynomial, so that it
  /// vectorizes and gives the same bits wherever FP32 does. NaN stays NaN.
  Value exp2F32(Value x);
};

} // namespace vcattn

#endif // VCATTN_CONVERSION_NUMERICBUILDER_H
