# ===- test_number_formats.py - Roundings against rational arithmetic ------=== #
#
# Part of the vcattn project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""fma32 and every narrow format against fractions, NumPy's binary16 and, if installed, ml_dtypes."""

import ctypes
import ctypes.util
from fractions import Fraction

import numpy as np
import pytest

from number_formats import (
    F32,
    bf16_bits,
    bf16_round,
    bf16_value,
    e2m1_decode,
    e2m1_encode,
    e4m3_decode,
    e4m3_encode,
    f16_bits,
    fma32,
    i8_encode,
)

RNG = np.random.default_rng(11)


def any_float32(count):
    """Finite float32 of every exponent, subnormals included."""
    x = RNG.integers(0, 2**32, count, np.uint32).view(F32)
    return x[np.isfinite(x)]


def to_float32(x):
    """A fraction, to the nearest float32, ties to even."""
    if x == 0:
        return F32(0)
    magnitude, exponent = abs(x), -149
    while magnitude >= Fraction(2) ** (exponent + 24):
        exponent += 1
    units = magnitude / Fraction(2) ** exponent
    whole, rest = units.numerator // units.denominator, units % 1
    whole += rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2 == 1)
    with np.errstate(over="ignore"):
        return F32(np.ldexp(float(whole), exponent) * (-1 if x < 0 else 1))


def check_fma(a, b, c):
    got = fma32(a, b, c)
    for x, y, z, r in zip(a, b, c, got):
        want = to_float32(Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z)))
        assert r == want, (x, y, z, r, want)


# ===--- fma ---------------------------------------------------------------=== #


def test_fma_where_rounding_twice_fails():
    # a * b = 2^-24 (1 - 2^-46): just below half a unit of c's last place, a tie once rounded to float64.
    a, b, c = (
        F32([2.0**-24 * (1 + 2.0**-23)] * 4),
        F32([1 - 2.0**-23] * 4),
        F32([1 + 2.0**-23, 1, -1 - 2.0**-23, 3]),
    )
    b[2] = -b[2]
    twice = (a.astype(np.float64) * b + c).astype(F32)
    assert twice[0] != to_float32(Fraction(float(a[0])) * Fraction(float(b[0])) + Fraction(float(c[0])))
    check_fma(a, b, c)


def test_fma_random_operands():
    a, b = RNG.standard_normal((2, 3000)).astype(F32)
    c = (RNG.standard_normal(3000) * 2.0 ** RNG.integers(-60, 60, 3000)).astype(F32)
    check_fma(a, b, c)


def test_fma_near_midpoints():
    # c + p, p within a few units of float64's last place of half a unit of c's.
    c = (1 + RNG.integers(0, 2**23, 3000) * 2.0**-23).astype(F32)
    a = (2.0**-24 * (1 + RNG.integers(0, 64, 3000) * 2.0**-23)).astype(F32)
    b = (1 - RNG.integers(0, 64, 3000) * 2.0**-24).astype(F32)
    sign = RNG.choice([-1, 1], 3000).astype(F32)
    check_fma(a * sign, b, c)


def test_fma_subnormal_results():
    a, b = (RNG.standard_normal(2000) * 2.0**-70).astype(F32), (
        RNG.standard_normal(2000) * 2.0**-66
    ).astype(F32)
    c = (RNG.integers(-64, 64, 2000) * 2.0**-149).astype(F32)
    check_fma(a, b, c)


def test_fma_special_values():
    inf, nan = np.inf, np.nan
    with np.errstate(invalid="ignore"):
        got = fma32(
            F32([1, 0, 2.0**127, -1, 1, 0]), F32([1, inf, 4, 1, 1, 5]), F32([inf, 1, 0, 1, nan, -0.0])
        )
    np.testing.assert_array_equal(got, F32([inf, nan, inf, 0, nan, 0]))
    assert np.signbit(fma32(F32(-0.0), F32(1), F32(-0.0))) and not np.signbit(got[3])


def test_fma_equals_the_c_library():
    name = ctypes.util.find_library("m")
    if not name:
        pytest.skip("no C library to compare with")
    fmaf = ctypes.CDLL(name).fmaf
    fmaf.argtypes, fmaf.restype = [ctypes.c_float] * 3, ctypes.c_float
    a, b, c = (x[:20000] for x in (any_float32(20500), any_float32(20500), any_float32(20500)))
    with np.errstate(over="ignore"):
        c = np.where(RNG.random(20000) < 0.5, a * b * RNG.choice(F32([-1, 0.5, 1, 2**20]), 20000), c)
    got = fma32(a, b, c)
    np.testing.assert_array_equal(got, F32([fmaf(*map(float, xyz)) for xyz in zip(a, b, c)]))


# ===--- E4M3, E2M1, f16, bf16, i8 -----------------------------------------=== #

NARROW = [
    pytest.param(e4m3_encode, e4m3_decode, 0x7E, 0x80, id="e4m3"),
    pytest.param(e2m1_encode, e2m1_decode, 7, 8, id="e2m1"),
]


@pytest.mark.parametrize("encode, decode, largest, sign", NARROW)
def test_every_code_comes_back(encode, decode, largest, sign):
    code = np.arange(largest + 1)
    for codes in (code, code | sign):
        np.testing.assert_array_equal(encode(decode(codes)), codes)


@pytest.mark.parametrize("encode, decode, largest, sign", NARROW)
def test_nearest_and_ties_to_even(encode, decode, largest, sign):
    code = np.arange(largest)
    low, high = decode(code).astype(np.float64), decode(code + 1).astype(np.float64)
    assert (high > low).all()
    middle = ((low + high) / 2).astype(F32)
    np.testing.assert_array_equal(encode(middle), code + code % 2)
    np.testing.assert_array_equal(encode(-middle), (code + code % 2) | sign)
    np.testing.assert_array_equal(encode(np.nextafter(middle, F32(0))), code)
    np.testing.assert_array_equal(encode(np.nextafter(middle, F32(np.inf))), code + 1)


@pytest.mark.parametrize("encode, decode, largest, sign", NARROW)
def test_saturation(encode, decode, largest, sign):
    top = decode(largest)
    beyond = F32([top, np.nextafter(top, F32(np.inf)), top * F32(1.2), 1e9, 3e38, np.inf])
    np.testing.assert_array_equal(encode(beyond), largest)
    np.testing.assert_array_equal(encode(-beyond), largest | sign)


def test_values_of_the_formats():
    assert e4m3_decode([0, 1, 7, 8, 0x38, 0x7E]).tolist() == [0, 2**-9, 7 * 2**-9, 2**-6, 1, 448]
    assert e2m1_decode(np.arange(8)).tolist() == [0, 0.5, 1, 1.5, 2, 3, 4, 6]


def test_nan_and_signed_zero():
    assert (
        e4m3_encode([np.nan, -np.nan]).tolist() == [0x7F, 0x7F] and np.isnan(e4m3_decode([0x7F, 0xFF])).all()
    )
    assert e2m1_encode([np.nan]).tolist() == [7]  # +6: E2M1 has no NaN
    assert e4m3_encode([0.0, -0.0, -1e-9]).tolist() == [0, 0x80, 0x80]
    assert e2m1_encode([0.0, -0.0, -0.2]).tolist() == [0, 8, 8]
    assert i8_encode([np.nan, np.inf, -np.inf]).tolist() == [-127, 127, -127]


def test_i8_ties_to_even_and_clamps_symmetrically():
    assert i8_encode([0.5, 1.5, -0.5, -2.5, 126.5, 127.4, 200, -128]).tolist() == [
        0,
        2,
        0,
        -2,
        126,
        127,
        127,
        -127,
    ]


def test_f16_equals_numpy():
    x = np.concatenate(
        [
            any_float32(300000),
            (RNG.standard_normal(300000) * 2.0 ** RNG.integers(-30, 18, 300000)).astype(F32),
            F32([65519, 65520, 65536, np.inf, -np.inf, 0, -0.0, 2**-25, 3 * 2**-25]),
        ]
    )
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(f16_bits(x), x.astype(np.float16).view(np.uint16))
    assert f16_bits(F32(np.nan)) == 0x7FFF


def test_bf16_drops_sixteen_bits_to_nearest_even():
    x = np.concatenate(
        [
            any_float32(300000),
            bf16_value(np.arange(0, 0x7F80, 7)) + F32(0),
            F32([0, -0.0, np.inf, -np.inf, 3.4e38]),
        ]
    )
    bits = x.view(np.uint32).astype(np.uint64)
    want = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    np.testing.assert_array_equal(bf16_bits(x), np.where(np.isfinite(x), want, bits >> 16))
    np.testing.assert_array_equal(bf16_round(bf16_value(np.arange(0x7F80))), bf16_value(np.arange(0x7F80)))


def test_formats_equal_ml_dtypes():
    ml = pytest.importorskip("ml_dtypes")
    x = (RNG.standard_normal(500000) * 2.0 ** RNG.integers(-14, 12, 500000)).astype(F32)
    in_range = x[np.abs(x) <= 448]
    np.testing.assert_array_equal(e4m3_encode(in_range), in_range.astype(ml.float8_e4m3fn).view(np.uint8))
    np.testing.assert_array_equal(e2m1_encode(x), x.astype(ml.float4_e2m1fn).view(np.uint8))
    np.testing.assert_array_equal(bf16_bits(x), x.astype(ml.bfloat16).view(np.uint16))
