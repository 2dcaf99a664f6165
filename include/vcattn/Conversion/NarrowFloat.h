//===- NarrowFloat.h - Conversions of narrow floats -------------*- C++ -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// FP32 to and from the formats that codes are stored in, by integer arithmetic
// that is the same on every machine (docs/Numerics.md states each rounding).
// Arguments are scalars or vectors.
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_CONVERSION_NARROWFLOAT_H
#define VCATTN_CONVERSION_NARROWFLOAT_H

#include "vcattn/Conversion/NumericBuilder.h"

namespace vcattn {

/// f32 -> i8 bits of E4M3: to nearest even, saturating to +-448; NaN is 0x7F.
mlir::Value emitE4M3FromF32(NumericBuilder &b, mlir::Value x);

/// i8 bits of E4M3 -> f32, exactly.
mlir::Value emitF32FromE4M3(NumericBuilder &b, mlir::Value code);

/// f32 -> i8 holding E2M1 in its low nibble: to nearest even, saturating to
/// +-6; NaN is +6.
mlir::Value emitE2M1FromF32(NumericBuilder &b, mlir::Value x);

/// f32 -> i8 in [-127, 127]: to nearest even, saturating; NaN is -127.
mlir::Value emitI8FromF32(NumericBuilder &b, mlir::Value x);

/// A float (f32, f16, bf16, f8E4M3FN) or an i8 code -> f32, exactly.
mlir::Value emitF32From(NumericBuilder &b, mlir::Value x);

/// f32 -> `element` (f32, f16, bf16) to nearest even.
mlir::Value emitFromF32(NumericBuilder &b, mlir::Value x, mlir::Type element);

} // namespace vcattn

#endif // VCATTN_CONVERSION_NARROWFLOAT_H
