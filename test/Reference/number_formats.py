# ===- number_formats.py - FP32 fma and narrow formats in NumPy ------------=== #
#
# Part of the vcattn project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""Correctly rounded number formats, from float64 arithmetic that is exact.

Nothing here relies on another implementation of a format: a value is rounded on
the format's grid (rint of an exactly scaled float64: to nearest, ties to even)
and codes are read off the rounded value. float64 holds every float32, every
product of two float32 and every point of these grids, so each function rounds
once. test_reference.py checks them against rational arithmetic.
"""

import numpy as np

F32 = np.float32


def fma32(a, b, c):
    """a * b + c for float32 arrays, rounded once to float32 (IEEE 754 fusedMultiplyAdd).

    The product is exact in float64 (48 bits); the sum is not, so that rounding
    it to float32 rounds twice. Twice is wrong only if the first rounding lands
    on a midpoint of float32; there, the error of the sum (TwoSum) says on which
    side the true value lies, and the float64 is moved one step to that side
    (rounding to odd), which keeps the second rounding honest.
    """
    a, b, c = (np.asarray(x, F32).astype(np.float64) for x in (a, b, c))
    with np.errstate(invalid="ignore", over="ignore"):
        p = a * b
        s = np.asarray(p + c)
        result = np.asarray(s.astype(F32))
        bits = s.view(np.int64)
        # The 29 bits that float32 drops are 100...0, or the result is subnormal
        # and it drops more.
        doubtful = (bits & 0x1FFFFFFF) == 0x10000000
        doubtful |= (np.abs(s) < 2.0**-126) & (s != 0)
        doubtful &= np.isfinite(s)
        if doubtful.any():
            p, c = (np.broadcast_to(x, s.shape)[doubtful] for x in (p, c))
            result[doubtful] = _to_odd(p, c).astype(F32)
    return result[()]


def _to_odd(p, c):
    """p + c in float64 rounded to odd: exact, or the neighbour with an odd last bit."""
    s = p + c
    t = s - p
    error = (p - (s - t)) + (c - t)  # Knuth's TwoSum: s + error == p + c
    bits = s.view(np.int64)
    away = (error > 0) == (s > 0)  # the true value is further from zero than s
    move = (error != 0) & ((bits & 1) == 0)
    return np.where(move, bits + np.where(away, 1, -1), bits).view(np.float64)


def _round_to_grid(x, fraction_bits, min_exponent):
    """x (float64) on the grid of a binary format without an upper bound."""
    exponent = np.frexp(np.where(np.isfinite(x), x, 0.0))[1] - 1
    quantum = np.ldexp(1.0, np.maximum(exponent, min_exponent) - fraction_bits)
    return np.rint(x / quantum) * quantum


def _codes_of(value, fraction_bits, min_exponent):
    """Exponent and fraction bits, as one integer, of finite values >= 0 on the grid."""
    exponent = np.where(value == 0, min_exponent, np.maximum(np.frexp(value)[1] - 1, min_exponent))
    fraction = np.ldexp(value, fraction_bits - exponent).astype(np.int64)
    # A normal number's hidden bit adds one to the biased exponent below.
    return ((exponent - min_exponent) << fraction_bits) + fraction


def _encode(x, fraction_bits, min_exponent, largest):
    """(sign, magnitude code) of float32 x: to nearest even, saturating; NaN reads 0."""
    x = np.asarray(x, F32).astype(np.float64)
    value = np.minimum(np.abs(_round_to_grid(x, fraction_bits, min_exponent)), largest)
    value = np.where(np.isnan(x), 0.0, np.where(np.isinf(x), largest, value))
    return np.signbit(x), _codes_of(value, fraction_bits, min_exponent)


def _decode(code, fraction_bits, min_exponent):
    """Value of a magnitude code (no special values)."""
    code = np.asarray(code, np.int64)
    exponent = np.maximum((code >> fraction_bits) - 1, 0) + min_exponent
    hidden = (code >> fraction_bits > 0).astype(np.int64) << fraction_bits
    return np.ldexp(
        (hidden + (code & ((1 << fraction_bits) - 1))).astype(np.float64), exponent - fraction_bits
    )


def e4m3_encode(x):
    """float32 -> E4M3 bytes: to nearest even, beyond 448 (infinities too) 448, NaN 0x7F; -0 stays -0."""
    sign, code = _encode(x, 3, -6, 448.0)
    return np.where(np.isnan(x), 0x7F, code | (sign.astype(np.int64) << 7)).astype(np.uint8)


def e4m3_decode(code):
    """E4M3 bytes -> float32, exact; 0x7F and 0xFF are NaN."""
    return _E4M3[np.asarray(code, np.uint8)]


def _e4m3_table():
    code = np.arange(256)
    value = np.where(code & 127 == 127, np.nan, _decode(code & 127, 3, -6))
    return np.where(code > 127, -value, value).astype(F32)


_E4M3 = _e4m3_table()


def e2m1_encode(x):
    """float32 -> E2M1 nibbles (0..15): to nearest even, beyond 6 (infinities too) 6, NaN +6; -0 stays -0."""
    sign, code = _encode(x, 1, 0, 6.0)
    return np.where(np.isnan(x), 7, code | (sign.astype(np.int64) << 3)).astype(np.uint8)


def e2m1_decode(code):
    """E2M1 nibbles -> float32, exact."""
    code = np.asarray(code, np.uint8).astype(np.int64)
    value = _decode(code & 7, 1, 0)
    return np.where(code > 7, -value, value).astype(F32)


def i8_encode(x):
    """float32 -> int8: clamped to [-127, 127] (NaN: -127), then to nearest even."""
    x = np.fmin(np.fmax(np.asarray(x, F32), F32(-127)), F32(127))
    return np.rint(x).astype(np.int8)


def f16_bits(x):
    """float32 -> binary16 bits (uint16): to nearest even, overflow to infinity, NaN 0x7FFF."""
    sign, code = _encode(x, 10, -14, 65536.0)  # 65536 has the code of infinity, 0x7C00
    return np.where(np.isnan(x), 0x7FFF, code | (sign.astype(np.int64) << 15)).astype(np.uint16)


def f16_round(x):
    """float32 -> the nearest binary16, as float32."""
    return f16_bits(x).view(np.float16).astype(F32)


def bf16_bits(x):
    """float32 -> bfloat16 bits (uint16): to nearest even, overflow to infinity, NaN 0x7FFF."""
    sign, code = _encode(x, 7, -126, 2.0**128)
    return np.where(np.isnan(x), 0x7FFF, code | (sign.astype(np.int64) << 15)).astype(np.uint16)


def bf16_value(bits):
    """bfloat16 bits (uint16) -> float32, exact."""
    return (np.asarray(bits, np.uint16).astype(np.uint32) << 16).view(F32)


def bf16_round(x):
    """float32 -> the nearest bfloat16, as float32."""
    return bf16_value(bf16_bits(x))


ROUND = {"f32": lambda x: np.asarray(x, F32), "f16": f16_round, "bf16": bf16_round}
