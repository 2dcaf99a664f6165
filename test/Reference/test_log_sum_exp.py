# ===- test_log_sum_exp.py - The log-sum-exp of quantized attention ---------=== #
#
# Part of the vcattn project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""The constant that leaves the log-sum-exp, and what error stays: against FP64, of the scores as they were."""

import math

import numpy as np
import pytest

from attention_reference import CASTS, LSE_BIAS, TOP_CODE
from ir_text import Tensor, attention_op, value
from vcattn_reference import KINDS, attention, e4m3_decode, inputs, prepare, quantized_attention, vc_attention

SCALE = 128**-0.5
# Limits of |mean error| and of its standard deviation over rows, at 2048 tokens: of the cast alone, of the method with i8
# and with E4M3 scores. Peaked rows have mass among the smallest probabilities, which expcast makes too small.
LIMITS = {
    "expcast": {"even": ((5e-4, 3e-3), (1e-3, 5e-3), (3e-3, 0.012)), "peaked": ((6e-3, 8e-3), (6e-3, 0.016), (0.02, 0.06))},
    "exact": {"even": ((5e-4, 3e-3), (1e-3, 5e-3), (3e-3, 0.012)), "peaked": ((2e-3, 6e-3), (3e-3, 0.016), (0.015, 0.06))},
    "hybrid": {"even": ((5e-4, 3e-3), (1e-3, 5e-3), (3e-3, 0.012)), "peaked": ((2e-3, 7e-3), (3e-3, 0.016), (0.016, 0.06))},
}


def limits(kind, cast):
    return LIMITS[cast]["peaked" if kind in ("outliers", "peaked", "peaked-clustered", "video") else "even"]


def test_the_constants_are_the_means_of_the_ratio():
    # Of decoded code to exponential, over one octave of exponentials in even steps of their logarithm.
    units = np.arange(80, 88, 1e-5) + 5e-6
    exact = np.exp2((units - 55.65) / 8)
    ratio = e4m3_decode(np.rint(units).astype(np.uint8)) / exact
    assert LSE_BIAS["expcast"] == pytest.approx(math.log2(ratio.mean()), abs=1e-7)
    spacing = np.exp2(np.floor(np.log2(exact)) - 3)
    ratio = np.rint(exact / spacing) * spacing / exact
    assert LSE_BIAS["exact"] == pytest.approx(math.log2(ratio.mean()), abs=1e-7)


def test_the_hybrid_cast_has_one_bias():
    # Its top code moves ExpCast's bias onto that of exact codes, to what three decimals of a code unit leave.
    assert TOP_CODE["hybrid"] == pytest.approx(119.65 + 8 * (LSE_BIAS["exact"] - LSE_BIAS["expcast"]), abs=5e-4)
    units = np.arange(80, 88, 1e-5) + 5e-6
    ratio = e4m3_decode(np.rint(units).astype(np.uint8)) / np.exp2((units - (float(TOP_CODE["hybrid"]) - 64)) / 8)
    assert LSE_BIAS["hybrid"] == LSE_BIAS["exact"] == pytest.approx(math.log2(ratio.mean()), abs=4e-5)


def test_the_constants_have_closed_forms():
    c = np.arange(8)
    sum_of_codes = ((1 + c / 8) * 2.0 ** (-c / 8)).sum()
    expcast = 2 ** (-0.35 / 8) / math.log(2) * (2 ** (1 / 16) - 2 ** (-1 / 16)) * sum_of_codes
    assert LSE_BIAS["expcast"] == pytest.approx(math.log2(expcast), abs=1e-9)
    edges = np.concatenate([[1], 1 + (c + 0.5) / 8, [2]])  # where E4M3 rounds to the next of 1, 9/8, ... 2
    exact = ((1 + np.arange(9) / 8) * (1 / edges[:-1] - 1 / edges[1:])).sum() / math.log(2)
    assert LSE_BIAS["exact"] == pytest.approx(math.log2(exact), abs=1e-9)


@pytest.mark.parametrize("cast", CASTS)
@pytest.mark.parametrize("kind", KINDS)
def test_bias_and_spread(kind, cast):
    q, k, v = inputs(kind, 1, 2048)
    q = q[:, :, :128]
    want = attention(q, k, v, scale=SCALE)[1]
    errors = [quantized_attention(q, k, v, scale=SCALE, cast=cast).lse - want]
    for format in ("i8", "f8E4M3FN"):
        x = prepare(q, k, v, scores=format, smooth_values=False)
        errors.append(vc_attention(q, k, v, scale=SCALE, cast=cast, prepared=x)[1] - want)
    for error, (mean, spread) in zip(errors, limits(kind, cast)):
        assert abs(error.mean()) < mean and error.std() < spread


@pytest.mark.parametrize("cast", CASTS)
def test_it_is_that_of_the_keys_as_they_were(cast):
    q, k, v = inputs("gaussian", 2, 300)
    shift = np.linspace(-2, 2, 128, dtype=np.float32)
    want, moved = (attention(q, x, v, scale=SCALE)[1] for x in (k, k + shift))
    assert np.abs(moved - want).max() > 1
    got = vc_attention(q, k + shift, v, scale=SCALE, cast=cast)[1]
    assert np.abs(got - moved).max() < 0.02


@pytest.mark.parametrize("cast", CASTS)
@pytest.mark.parametrize("kind", KINDS)
def test_compiled_from_end_to_end(compiled, kind, cast):
    q, k, v = inputs(kind, 4, 300, kv_heads=2, kv_tokens=300)
    arguments = [value(x, "bf16") for x in (q, k, v)]
    roles = zip(("query", "key", "value"), (Tensor(x.array.shape, "bf16") for x in arguments))
    results = [Tensor(q.shape, "bf16"), Tensor((1, 4, 300), "f32")]
    text = attention_op("attention", list(roles), results, f"scale = {SCALE!r} : f64")
    _, lse = compiled(text, [x.array for x in arguments], results, (f"--cast={cast}",))
    error = lse - attention(q, k, v, scale=SCALE)[1]
    # Fewer keys average less than at 2048.
    mean, spread = limits(kind, cast)[1]
    assert abs(error.mean()) < 2 * mean and error.std() < 2 * spread
