# ===- test_attention_reference.py - Exact and quantized attention ---------=== #
#
# Part of the vcattn project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""The recurrence against a scalar loop, its bounds, its edges, and its error on every kind of input."""

import math

import numpy as np
import pytest

from vcattn_reference import (
    CASTS,
    EXACT_GROUPS,
    F32,
    TILE,
    TOP_CODE,
    attention,
    block_residual,
    e4m3_decode,
    fma32,
    inputs,
    prepare,
    quantized_attention,
    relative_l2,
    vc_attention,
)

RNG = np.random.default_rng(3)
normal = lambda *shape: RNG.standard_normal(shape, F32)
equal = np.testing.assert_array_equal
SCALE = 128**-0.5
UNIT = 1 / (8 * 1.4426950408889634)  # a scale at which a score is its code units


def run(x, cast="expcast", scale=SCALE, **options):
    return quantized_attention(
        x.q,
        x.k,
        x.v,
        scale=scale,
        cast=cast,
        q_scale=x.q_scale,
        k_scale=x.k_scale,
        v_scale=x.v_scale,
        means=x.means,
        **options
    )


def units(scores, values=None, **options):
    """Float attention of one row whose scores are given in code units; lists of one value per key."""
    k = F32(scores).reshape(1, 1, -1, 1)
    v = np.ones_like(k) if values is None else F32(values).reshape(k.shape)
    options = {"scale": UNIT, "cast": "expcast", **options}
    return quantized_attention(np.ones((1, 1, 1, 1), F32), k, v, **options)


# ===--- The recurrence ----------------------------------------------------=== #


def scalar_row(scores, bias, a, keep, cast):
    """(codes, raised, m, l) of one row; scores, a, keep per key."""
    m, l, all_codes, raised = F32(-np.inf), F32(0), [], []

    def units_of(s, x, top):
        b = fma32(-bias, x, (F32(top) - m) * F32(2.0**-24))
        return fma32(s, x, b) * F32(2.0**24)

    def codes_of(tile):
        codes = []
        for position, (s, x, valid) in enumerate(tile):
            if cast == "expcast" or cast == "hybrid" and position // 8 >= EXACT_GROUPS:
                t = units_of(s, x, 119.65 if cast == "expcast" else 119.535)
                codes.append(min(max(round(float(t)), 0), 1000) if np.isfinite(t) else 1000 * (t > 0))
            else:
                t = units_of(s, x, 119.65)
                value = F32(2.0 ** float((t - F32(55.65)) / F32(8)) if t < 1000 else np.inf)
                grid = [float(e4m3_decode(c)) for c in range(127)]
                codes.append(
                    1000 if value > 464 else min(range(127), key=lambda c: (abs(grid[c] - value), c % 2))
                )
            codes[-1] *= bool(valid)
        return codes

    for first in range(0, len(scores), 64):
        tile = list(zip(scores, a, keep))[first : first + 64]
        codes = codes_of(tile)
        raised.append(max(codes) > 126)
        if raised[-1]:
            new = max([m] + [(s - bias) * (x * F32(2.0**24)) for s, x, valid in tile if valid])
            l = l * F32(2.0 ** float((m - new) / F32(8)))
            m = new
            codes = codes_of(tile)
        l = l + F32(sum(float(e4m3_decode(c)) for c in codes))
        all_codes += codes
    return all_codes, raised, m, l


@pytest.mark.parametrize("cast", CASTS)
@pytest.mark.parametrize("format", ["i8", "f8E4M3FN"])
def test_quantized_attention_equals_a_scalar_loop(format, cast):
    q, k, v = inputs("peaked", 1, 300, seed=2)
    # Keys in the order of their score with one query, so that the maximum keeps growing.
    k = k[:, :, np.argsort(k[0, 0] @ q[0, 0, 0])]
    x = prepare(q[:, :, :3], k, v, scores=format, smooth_values=False)
    got = run(x, cast, causal="none")
    step = F32(SCALE * 8 * 1.4426950408889634 * 2.0**-24)
    for row in range(3):
        if format == "i8":
            bias = F32(12582912)
            scores = [bias + F32(int(s)) for s in x.k[0, 0].astype(int) @ x.q[0, 0, row].astype(int)]
        else:
            bias, scores = F32(0), []
            for key in e4m3_decode(x.k[0, 0]):
                s = F32(0)
                for y, z in zip(e4m3_decode(x.q[0, 0, row]), key):
                    s = s + y * z
                scores.append(s)
        a = [x.q_scale[0, 0, row] * step * x.k_scale[0, 0, t // 128, t % 8 // 2] for t in range(300)]
        codes, raised, m, l = scalar_row(scores, bias, a, [True] * 300, cast)
        equal(got.codes[0, 0, row], codes)
        equal(got.raised[0, 0, row], raised)
        assert got.maximum[0, 0, row] == m and got.denominator[0, 0, row] == pytest.approx(l, rel=1e-6)
    assert got.raised[0, 0, 0].all()  # the query by which the keys were ordered


@pytest.mark.parametrize("key", [0, 8 * EXACT_GROUPS - 1, 8 * EXACT_GROUPS, 63])
@pytest.mark.parametrize("cast", CASTS)
def test_raises_exactly_when_a_code_would_exceed_126(cast, key):
    # A score x against maximum 0 has the code 119.65 + x, rounded: 126.5 is the tie that goes to 126. Its exact
    # exponential rounds to 448 up to 464, which is 6.864 above the maximum. The hybrid cast's code is 119.535 + x, or
    # that of the exponential, by the key's place in the tile.
    rule = ("exact" if key < 8 * EXACT_GROUPS else "moved") if cast == "hybrid" else cast
    last, first = {"expcast": (6.849, 6.851), "exact": (6.863, 6.865), "moved": (6.964, 6.966)}[rule]
    for x, raised in ((last, False), (first, True), (7, True), (100, True)):
        scores = [0] * 64 + [-3] * 64
        scores[64 + key] = x
        got = units(scores, cast=cast)
        equal(got.raised[0, 0, 0], [True, raised])
        assert got.maximum[0, 0, 0] == (F32(x) * F32(UNIT * 8 * math.log2(math.e)) if raised else 0)
        assert got.codes[0, 0, 0, 64 + key] == (120 if raised else 126)


@pytest.mark.parametrize("cast", CASTS)
@pytest.mark.parametrize("format", ["i8", "f8E4M3FN"])
@pytest.mark.parametrize("kind", ["gaussian", "peaked", "outliers"])
def test_codes_stay_finite_and_the_maximum_sits_at_its_top(kind, format, cast):
    got = run(prepare(*inputs(kind, 1, 700), scores=format), cast)
    assert got.codes.max() <= 126 and got.raised[..., 0].all()
    tile_top = np.stack([got.codes[..., t : t + TILE].max(-1) for t in range(0, 700, TILE)], -1)
    # What a raised tile's largest code is: 119.65 or 119.535 rounded, up to the rounding of s * a + b, or that of 2^8.
    assert np.isin(tile_top[got.raised], (119, 120)).all()
    assert (got.denominator > 0).all()


@pytest.mark.parametrize("cast", CASTS)
def test_denominator_is_the_sum_of_decoded_codes(cast):
    got = run(prepare(*inputs("gaussian", 2, 64)), cast)  # one tile: no rescaling
    equal(got.denominator, e4m3_decode(got.codes).astype(np.float64).sum(-1).astype(F32))


def test_codes_of_a_tile_add_exactly_in_any_order():
    codes = RNG.integers(0, 127, (100, TILE), np.uint8)
    codes[0] = 126
    codes[0, 0] = 1  # the largest sum that takes the smallest code
    values = e4m3_decode(codes)
    total = F32(0)
    for i in RNG.permutation(TILE):
        total = total + values[:, i]
    equal(total.astype(np.float64), values.astype(np.float64).sum(-1))


@pytest.mark.parametrize("cast, low, high", [("expcast", 0.929, 1.0746), ("hybrid", 0.9197, 1.0639)])
def test_expcast_decodes_to_the_exponential_within_its_bounds(cast, low, high):
    x = np.linspace(8, 126.5, 200001).astype(
        F32
    )  # code units; below 8 lie the subnormals, which it flushes early
    ratio = e4m3_decode(np.rint(x).astype(np.uint8)) / np.exp2((x.astype(np.float64) + 64 - TOP_CODE[cast]) / 8)
    assert low <= ratio.min() < low + 1e-3 and high - 1e-3 < ratio.max() <= high
    scores = np.linspace(0, -106.5, 128)
    ratio = e4m3_decode(units(scores, cast=cast).codes[0, 0, 0]) / (np.exp2(scores / 8) * 256)
    assert low <= ratio.min() and ratio.max() <= high


def test_exact_cast_is_the_nearest_code():
    scores = np.linspace(0, -130, 128)
    got = units(scores, cast="exact")
    exact = np.exp2(scores / 8) * 256
    assert (
        np.abs(e4m3_decode(got.codes[0, 0, 0]) - exact) <= np.maximum(exact / 16, 2.0**-10) * 1.0001
    ).all()


def test_hybrid_casts_the_first_groups_of_a_tile_exactly():
    scores = np.concatenate([[0], np.linspace(-100, -1, 191)])
    got, exact = units(scores, cast="hybrid"), units(scores, cast="exact")
    assert got.raised[0, 0, 0].tolist() == exact.raised[0, 0, 0].tolist() == [True, False, False]
    is_exact = np.arange(192) % 64 < 8 * EXACT_GROUPS
    equal(got.codes[0, 0, 0, is_exact], exact.codes[0, 0, 0, is_exact])
    moved = np.rint(np.maximum(119.535 + scores[~is_exact], 0))
    equal(got.codes[0, 0, 0, ~is_exact], moved)
    assert (exact.codes[0, 0, 0, ~is_exact] != moved).any()


@pytest.mark.parametrize("cast", CASTS)
def test_a_row_does_not_depend_on_other_rows(cast):
    q, k, v = inputs("peaked", 2, 400)
    x = prepare(q, k, v)
    whole = run(x, cast)
    for rows in (slice(0, 1), slice(37, 101), slice(399, 400)):
        part = run(x._replace(q=x.q[:, :, rows], q_scale=x.q_scale[:, :, rows]), cast)
        for name in ("codes", "raised", "maximum", "denominator", "lse"):
            equal(getattr(part, name), getattr(whole, name)[:, :, rows], name)
        np.testing.assert_allclose(part.result, whole.result[:, :, rows], rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("cast", CASTS)
def test_scores_too_large_for_their_own_spacing_never_make_a_nan_code(cast):
    # Spacing of float32 at 2^30 code units is 64: codes of such scores cannot be right, but must stay finite.
    for offset in (2.0**30, -(2.0**30)):
        got = units(offset + np.arange(256) * 37.0, cast=cast)
        assert got.codes.max() <= 126 and np.isfinite(got.result).all()


# ===--- Values and means --------------------------------------------------=== #


@pytest.mark.parametrize("cast", CASTS)
@pytest.mark.parametrize("tokens", [1, 5, 127, 128, 129, 1000])
def test_ones_come_back_as_ones(tokens, cast):
    q, k, v = inputs("peaked", 1, tokens)
    got = run(prepare(q, k, np.ones_like(v)), cast)
    np.testing.assert_allclose(got.result, 1, rtol=3e-7)  # 1 / v_scale = 2^15 exactly; what remains is FP32
    out, _ = vc_attention(q, k, np.ones_like(v), scale=SCALE, cast=cast)
    equal(out, 1)
    got = run(prepare(q, k, np.full_like(v, 1.7)), cast)
    np.testing.assert_allclose(got.result, F32(1.7), rtol=2.0**-11)  # means are stored in f16


def test_means_and_residuals_are_the_values():
    q, k, v = inputs("clustered", 1, 300)
    residual, means = block_residual(v)
    a, b = (attention(q, k, *x, scale=SCALE, means=m) for x, m in (((v,), None), ((residual,), means)))
    assert relative_l2(b[0], a[0]) < 1e-6
    a, b = (
        quantized_attention(q, k, x, scale=SCALE, cast="expcast", means=m)
        for x, m in ((v, None), (residual, means))
    )
    equal(a.codes, b.codes)
    assert relative_l2(b.result, a.result) < 1e-6


# ===--- Shapes, masks and edges -------------------------------------------=== #

LENGTHS = [(1, 1), (5, 5), (63, 63), (64, 64), (65, 65), (127, 127), (129, 129), (3, 300), (300, 3), (1, 257), (64, 128)]


@pytest.mark.parametrize("heads, kv_heads", [(1, 1), (4, 1), (4, 2)])
@pytest.mark.parametrize("queries, keys", LENGTHS)
def test_lengths_and_grouped_queries(queries, keys, heads, kv_heads):
    q, k, v = inputs("gaussian", heads, queries, kv_heads=kv_heads, kv_tokens=keys, value_dim=64, batch=2)
    want, want_lse = attention(q, k, v, scale=SCALE)
    assert want.shape == (2, heads, queries, 64) and want_lse.shape == (2, heads, queries)
    naive = np.einsum("nd,kd->nk", *(x.astype(np.float64) for x in (q[1, -1], k[1, -1]))) * SCALE
    p = np.exp(naive) / np.exp(naive).sum(1, keepdims=True)
    np.testing.assert_allclose(want[1, -1], p @ v[1, -1], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(want_lse[1, -1], np.log(np.exp(naive).sum(1)), rtol=1e-9)
    for cast in CASTS:
        got, lse = vc_attention(q, k, v, scale=SCALE, cast=cast)
        assert relative_l2(got, want) < 0.07
        assert np.abs(lse - want_lse).max() < 0.12
        swapped = [x.transpose(0, 2, 1, 3) for x in (q, k, v)]
        other, other_lse = vc_attention(*swapped, scale=SCALE, cast=cast, layout="bthd")
        np.testing.assert_allclose(other.transpose(0, 2, 1, 3), got, rtol=1e-2, atol=1e-6)  # a bf16 step
        np.testing.assert_allclose(other_lse, lse, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("cast", CASTS)
@pytest.mark.parametrize("queries, keys", [(150, 150), (40, 200), (200, 40), (1, 130)])
@pytest.mark.parametrize("causal", ["top_left", "bottom_right"])
def test_causality_is_a_mask(causal, queries, keys, cast):
    q, k, v = inputs("gaussian", 1, queries, kv_tokens=keys)
    i, j = np.ogrid[:queries, :keys]
    keep = (j <= i if causal == "top_left" else j <= i + keys - queries)[None, None]
    for f in (
        lambda **x: attention(q, k, v, scale=SCALE, **x),
        lambda **x: run(prepare(q, k, v, smooth_values=False), cast, **x),
    ):
        a, b = f(causal=causal), f(mask=keep)
        equal(a[0], b[0]), equal(a[1], b[1])
    empty = ~keep[0, 0].any(1)
    assert empty.any() == (causal == "bottom_right" and queries > keys)
    assert (a[0][0, 0, empty] == 0).all() and (a[1][0, 0, empty] == -np.inf).all()


@pytest.mark.parametrize("cast", CASTS)
@pytest.mark.parametrize("shape", [(1, 1, 1, 300), (2, 1, 50, 300), (1, 4, 50, 1), (2, 4, 50, 300)])
def test_masks_broadcast(shape, cast):
    q, k, v = inputs("gaussian", 4, 50, kv_heads=2, kv_tokens=300, batch=2)
    x = prepare(q, k, v, smooth_values=False)
    keep = RNG.random(shape) < 0.6
    added = normal(*shape)
    dropped = np.where(keep, F32(0), F32(-np.inf))
    a, b = run(x, cast, mask=keep), run(x, cast, mask=dropped)
    for name in ("codes", "result", "lse"):
        equal(getattr(a, name), getattr(b, name))
    assert (a.codes[~np.broadcast_to(keep, a.codes.shape)] == 0).all()
    for mask in (keep, added, np.where(keep, added, F32(-np.inf))):
        got, (want, lse) = run(x, cast, mask=mask), attention(q, k, v, scale=SCALE, mask=mask)
        assert relative_l2(got.result, want) < 0.07
        seen = np.isfinite(lse)
        equal(got.lse[~seen], -np.inf), equal(got.result[~seen], 0)


@pytest.mark.parametrize("cast", CASTS)
@pytest.mark.parametrize("dropped", [False, -np.inf, np.finfo(F32).min])
def test_rows_that_see_nothing_at_first_or_at_all(dropped, cast):
    q, k, v = inputs("gaussian", 1, 3, kv_tokens=300)
    mask = np.full((1, 1, 3, 300), dropped, bool if dropped is False else F32)
    mask[0, 0, 1, 200:] = dropped is False
    mask[0, 0, 2, 299] = dropped is False
    got = run(prepare(q, k, v, smooth_values=False), cast, mask=mask)
    equal(got.result[0, 0, 0], 0), equal(got.lse[0, 0, 0], -np.inf)
    later = got.raised[0, 0, 1, 4]
    equal(got.raised[0, 0], [[False] * 5, [False] * 3 + [True, later], [False] * 4 + [True]])
    want, _ = attention(q, k, v, scale=SCALE, mask=mask)
    assert relative_l2(got.result[0, 0, 1:], want[0, 0, 1:]) < 0.07


def test_large_negative_mask_entries_weigh_nothing_beside_others():
    q, k, v = inputs("gaussian", 1, 4, kv_tokens=300)
    x = prepare(q, k, v, smooth_values=False)
    keep = RNG.random((1, 1, 4, 300)) < 0.5
    keep[..., :130] = False  # whole tiles of them come first
    a, b = run(x, mask=keep), run(x, mask=np.where(keep, F32(0), F32(-1e9)))
    np.testing.assert_allclose(b.result, a.result, rtol=1e-6, atol=1e-6)


def test_no_keys():
    q, k, v = inputs("gaussian", 2, 3, kv_tokens=4)
    for got in (
        attention(q, k[:, :, :0], v[:, :, :0], scale=SCALE),
        quantized_attention(q, k[:, :, :0], v[:, :, :0], scale=SCALE, cast="expcast"),
    ):
        equal(got[0], np.zeros((1, 2, 3, 128))), equal(got[1], np.full((1, 2, 3), -np.inf))


@pytest.mark.parametrize("cast", CASTS)
def test_nan_in_gives_nan_out(cast):
    q, k, v = inputs("gaussian", 1, 200)
    row = q.copy()
    row[0, 0, 5, 1] = np.nan
    equal(np.isnan(run(prepare(row, k, v), cast).result).any(-1)[0, 0], np.arange(200) == 5)
    key = k.copy()
    key[0, 0, 9, 1] = np.nan  # the mean carries it to every key
    assert np.isnan(run(prepare(q, key, v), cast).result).all()
    value = v.copy()
    value[0, 0, 9, 1] = np.nan  # the scale carries it through its channel
    equal(np.isnan(run(prepare(q, k, value), cast).result[0, 0]).any(0), np.arange(128) == 1)
    for x in ((row, k, v), (q, key, v), (q, k, value)):
        assert np.isnan(attention(*x, scale=SCALE)[0]).any()
        assert np.isnan(quantized_attention(*x, scale=SCALE, cast=cast).result).any()


def test_exact_attention_ignores_what_a_row_does_not_see():
    q, k, v = inputs("gaussian", 1, 6)
    k[0, 0, 5], v[0, 0, 4] = np.nan, np.nan
    out, _ = attention(q, k, v, scale=SCALE, causal="top_left")
    equal(np.isnan(out[0, 0]).any(1), [False] * 4 + [True] * 2)


# ===--- Accuracy ----------------------------------------------------------=== #

# Relative L2 error with 64 clusters: i8 scores with each cast, E4M3 scores with ExpCast; docs/Numerics.md has what they are.
LIMITS = {
    "gaussian": dict(expcast=0.045, hybrid=0.042, exact=0.041, e4m3=0.060),
    "clustered": dict(expcast=0.018, hybrid=0.017, exact=0.0165, e4m3=0.031),
    "outliers": dict(expcast=0.033, hybrid=0.032, exact=0.032, e4m3=0.052),
    "constant": dict(expcast=0.003, hybrid=0.003, exact=0.003, e4m3=0.003),
    "peaked": dict(expcast=0.042, hybrid=0.041, exact=0.041, e4m3=0.095),
    "peaked-clustered": dict(expcast=0.040, hybrid=0.039, exact=0.039, e4m3=0.090),
    "video": dict(expcast=0.038, hybrid=0.0375, exact=0.0375, e4m3=0.087),
}


@pytest.mark.parametrize("kind", LIMITS)
def test_error_of_the_method(kind):
    q, k, v = inputs(kind, 2, 1000)
    want, want_lse = attention(q, k, v, scale=SCALE)
    limits = LIMITS[kind]
    for format in ("i8", "f8E4M3FN"):
        x = prepare(q, k, v, scores=format)
        errors = {}
        for cast in CASTS:
            got, lse = vc_attention(q, k, v, scale=SCALE, cast=cast, prepared=x)
            errors[cast] = relative_l2(got, want)
            assert format != "i8" or errors[cast] < limits[cast]
        assert format == "i8" or errors["expcast"] < limits["e4m3"]
        assert errors["exact"] < errors["hybrid"] * 1.02 and errors["hybrid"] < errors["expcast"] * 1.02


@pytest.mark.parametrize("kind, limit", [("gaussian", 0.045), ("clustered", 0.015), ("constant", 0.003)])
def test_error_at_the_demonstrations_size(kind, limit):
    q, k, v = inputs(kind, 1, 2048)
    got, _ = vc_attention(q, k, v, scale=SCALE)
    assert relative_l2(got, attention(q, k, v, scale=SCALE)[0]) < limit


def test_value_smoothing_pays_where_values_share_something():
    for kind, factor in (("constant", 0.85), ("clustered", 1.0)):
        q, k, v = inputs(kind, 1, 2048)
        want = attention(q, k, v, scale=SCALE)[0]
        with_it, without = (
            relative_l2(vc_attention(q, k, v, scale=SCALE, smooth_values=s)[0], want) for s in (True, False)
        )
        assert with_it < factor * without
