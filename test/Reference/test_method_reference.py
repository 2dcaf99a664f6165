# ===- test_method_reference.py - The method's steps, checked on paper -----=== #
#
# Part of the vcattn project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""Each step of the method against a plain scalar loop, an identity or a bound that it must keep."""

import numpy as np
import pytest

from vcattn_reference import (
    BLOCK,
    F32,
    KINDS,
    attention,
    block_residual,
    bf16_round,
    center_keys,
    cluster,
    compensate_means,
    correct_lse,
    dequantize,
    e4m3_decode,
    f16_bits,
    fma32,
    gather_tokens,
    group_of_token,
    hadamard,
    inputs,
    pack_means,
    pack_values,
    quantize,
    stored_means,
    value_slot_order,
)

RNG = np.random.default_rng(5)
normal = lambda *shape: RNG.standard_normal(shape, F32)
swap = lambda x: x.transpose(0, 2, 1, 3)
equal = np.testing.assert_array_equal


def unruly(*shape):
    """Values whose sum depends on the order."""
    return (normal(*shape) * F32(2.0) ** RNG.integers(-12, 12, shape)).astype(F32)


# ===--- Order of sums -----------------------------------------------------=== #


@pytest.mark.parametrize("tokens", [1, 5, 127, 128, 129, 300])
def test_key_mean_is_summed_block_by_block(tokens):
    k = unruly(1, 2, tokens, 3)
    centred, mean = center_keys(k)
    for h, d in np.ndindex(2, 3):
        total = F32(0)
        for first in range(0, tokens, BLOCK):
            block = F32(0)
            for t in range(first, min(first + BLOCK, tokens)):
                block = block + k[0, h, t, d]
            total = total + block
        assert mean[0, h, d] == total / F32(tokens)
    equal(centred, k - mean[:, :, None])


def test_lse_correction_is_what_centring_took_away():
    q, k, v = inputs("video", 4, 20, kv_heads=2, kv_tokens=150, dim=32)
    centred, mean = center_keys(k)
    (_, want), (_, lse) = (attention(q, x, v, scale=0.3) for x in (k, centred))
    lse = lse.astype(F32)
    lse[0, 0, 0] = -np.inf
    got = correct_lse(q, mean, lse, 0.3)
    assert got[0, 0, 0] == -np.inf and np.abs(want - lse)[0, 1].max() > 1
    np.testing.assert_allclose(got[0, 1:], want[0, 1:], atol=1e-4)
    equal(correct_lse(swap(q), mean, lse, 0.3, "bthd"), got)
    dot = F32(0)
    for x, y in zip(q[0, 3, 7], mean[0, 1]):
        dot = fma32(x, y, dot)
    assert got[0, 3, 7] == lse[0, 3, 7] + F32(0.3) * dot


@pytest.mark.parametrize("tokens", [1, 5, 127, 128, 129, 300])
def test_block_means_count_the_last_block_alone(tokens):
    v = unruly(1, 2, tokens, 3)
    residual, means = block_residual(v)
    assert means.shape == (1, 2, -(-tokens // BLOCK), 3)
    for h, j, d in np.ndindex(means.shape[1:]):
        block = v[0, h, j * BLOCK : (j + 1) * BLOCK, d]
        total = F32(0)
        for x in block:
            total = total + x
        assert means[0, h, j, d] == total / F32(len(block))
    equal(residual, v - np.repeat(means, BLOCK, 2)[:, :, :tokens])


# ===--- Rotation ----------------------------------------------------------=== #


def test_compensated_means_make_up_for_the_mean_of_the_codes():
    v = inputs("gaussian", 1, 300)[2]
    residual, means = block_residual(v)
    v8 = quantize(residual, "f8E4M3FN", "channel", bound=means)
    decoded = e4m3_decode(v8.codes) * v8.scales[:, :, None]
    spread = lambda x: np.repeat(x, 128, 2)[:, :, :300]
    for x, holds in ((means, False), (compensate_means(means, v8.codes, v8.scales), True)):
        left = (decoded + spread(x) - v).astype(np.float64)
        for start in (0, 128, 256):
            assert (np.abs(left[:, :, start : start + 128].mean(2)).max() < 1e-6) == holds


@pytest.mark.parametrize("dim", [1, 2, 16, 64, 128])
def test_hadamard_is_orthogonal_and_its_own_inverse(dim):
    matrix = hadamard(np.eye(dim, dtype=F32)).astype(np.float64)
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(dim), atol=1e-6)
    sylvester = np.ones((1, 1))
    while len(sylvester) < dim:
        sylvester = np.kron([[1, 1], [1, -1]], sylvester)
    np.testing.assert_allclose(matrix, sylvester / np.sqrt(dim), rtol=1e-7)
    x = normal(1, 1, 7, dim)
    np.testing.assert_allclose(hadamard(hadamard(x)), x, atol=2e-6)


def test_hadamard_stages_run_from_neighbours_outwards():
    x = unruly(1, 1, 1, 8)
    y = [F32(a) for a in x[0, 0, 0]]
    for h in (1, 2, 4):
        for i in (i for i in range(8) if not i & h):
            y[i], y[i + h] = y[i] + y[i + h], y[i] - y[i + h]
    equal(hadamard(x)[0, 0, 0], np.array(y) * F32(1 / np.sqrt(8)))


@pytest.mark.parametrize("dim, block", [(40, 8), (80, 16), (96, 32), (192, 64), (7, 1)])
def test_hadamard_rotates_blocks_of_the_largest_power_of_two(dim, block):
    x = unruly(1, 2, 5, dim)
    blocks = hadamard(x.reshape(1, 2, 5 * dim // block, block))
    equal(hadamard(x), blocks.reshape(x.shape))


# ===--- Clustering --------------------------------------------------------=== #


def scalar_kmeans(x, clusters, iterations, chunk=1024):
    """One head, value by value."""
    n, dim = x.shape
    c = np.array([x[i * (n - 1) // max(clusters - 1, 1)] for i in range(clusters)])

    def label(row):
        best = None
        for j in range(clusters):
            dot = norm = F32(0)
            for d in range(dim):
                dot, norm = fma32(row[d], c[j, d], dot), fma32(c[j, d], c[j, d], norm)
            distance = norm - F32(2) * dot
            if best is None or distance < best[0]:
                best = distance, j
        return best[1]

    for _ in range(iterations):
        labels = [label(row) for row in x]
        for j in range(clusters):
            total = np.zeros(dim, F32)
            for first in range(0, n, chunk):
                partial = np.zeros(dim, F32)
                for t in range(first, min(first + chunk, n)):
                    if labels[t] == j:
                        partial = partial + x[t]
                total = total + partial
            if labels.count(j):
                c[j] = total / F32(labels.count(j))
    return [label(row) for row in x], c


@pytest.mark.parametrize(
    "tokens, clusters, iterations, dim",
    [(150, 5, 2, 3), (1100, 3, 1, 2), (3, 7, 2, 4), (1, 1, 0, 2), (9, 1, 1, 2)],
)
def test_kmeans_equals_a_scalar_loop(tokens, clusters, iterations, dim):
    v = unruly(1, 1, tokens, dim)
    got = cluster(v, clusters, iterations)
    labels, centroids = scalar_kmeans(v[0, 0], clusters, iterations)
    equal(got.labels[0, 0], labels)
    equal(got.centroids[0, 0], centroids)


def test_permutation_is_a_stable_order_of_labels():
    _, _, v = inputs("clustered", 2, 700)
    got = cluster(v, 64, 2)
    for h in range(2):
        p = got.permutation[0, h]
        equal(np.sort(p), np.arange(700))
        ordered = got.labels[0, h][p]
        assert (np.diff(ordered) >= 0).all()
        assert (np.diff(p)[np.diff(ordered) == 0] > 0).all()


def test_ties_go_to_the_lower_cluster_and_empty_clusters_keep_their_centroid():
    v = np.zeros((1, 1, 10, 4), F32)
    got = cluster(v, 3, 2)
    equal(got.labels, 0)
    equal(got.permutation[0, 0], np.arange(10))
    v[0, 0, -1] = 4  # the third centroid starts here; the second, equal to the first, stays empty
    got = cluster(v, 3, 2)
    equal(got.labels[0, 0], [0] * 9 + [2])
    equal(got.centroids[0, 0], [[0] * 4, [0] * 4, [4] * 4])


def test_nan_rows_go_to_the_first_cluster():
    v = normal(1, 1, 40, 4)
    v[0, 0, 7, 2] = np.nan
    assert cluster(v, 4, 0).labels[0, 0, 7] == 0


def test_clustering_finds_clusters():
    # Eight clusters that hold 80 % of the energy, in 16 blocks: the residual keeps little more than the rest.
    v = F32(0.8**0.5) * normal(8, 32)[RNG.integers(0, 8, 2048)][None, None] + F32(0.2**0.5) * normal(
        1, 1, 2048, 32
    )
    p = cluster(v, 16, 4).permutation
    before, after = (np.square(block_residual(x)[0]).mean() for x in (v, gather_tokens(v, p)))
    assert after < 0.5 * before


def test_gather_reads_the_nearest_token_out_of_range():
    x = normal(1, 1, 4, 2)
    equal(gather_tokens(x, np.int32([[[2, 9, -3, 1]]]))[0, 0], x[0, 0, [2, 3, 0, 1]])


# ===--- Quantization ------------------------------------------------------=== #

GRANULARITIES = [
    ("tensor", {}, (2, 3)),
    ("token", {}, (2, 3, 300)),
    ("channel", {}, (2, 3, 32)),
    ("block", {}, (2, 3, 3, 1)),
    ("block", {"groups": 4}, (2, 3, 3, 4)),
    ("block", {"block_size": 64, "groups": 2}, (2, 3, 5, 2)),
]


@pytest.mark.parametrize("granularity, options, shape", GRANULARITIES)
@pytest.mark.parametrize("format, top, bound", [("i8", 127, 0.5), ("f8E4M3FN", 448, 16)])
def test_quantization_error_is_half_a_step(format, top, bound, granularity, options, shape):
    x = normal(2, 3, 300, 32)
    got = quantize(x, format, granularity, **options)
    assert got.scales.shape == shape and got.codes.shape == x.shape
    back = dequantize(got, format, granularity, block_size=options.get("block_size", BLOCK))
    step = dequantize(
        got._replace(codes=np.full_like(got.codes, 1 if format == "i8" else 0x38)),
        format,
        granularity,
        block_size=options.get("block_size", BLOCK),
    )  # the scale of each element
    error = np.abs(back - x) / step
    assert error.max() <= bound * 1.0001
    assert np.abs(back / step).max() == pytest.approx(top)
    if format != "i8":  # in proportion to the value, down to E4M3's subnormals
        assert (error <= np.maximum(np.abs(x / step) / 16, 2.0**-10) * 1.0001).all()


def test_each_scale_is_its_groups_largest_magnitude():
    x = normal(1, 1, 300, 8)
    scales = quantize(x, "i8", "block", groups=4).scales[0, 0]
    for j, g in np.ndindex(3, 4):
        tokens = [t for t in range(128 * j, min(128 * j + 128, 300)) if t % 8 // 2 == g]
        assert scales[j, g] == np.abs(x[0, 0, tokens]).max() / F32(127)
    equal(group_of_token(10, 4), [0, 0, 1, 1, 2, 2, 3, 3, 0, 0])


def test_code_is_the_product_with_the_inverse_scale():
    x = unruly(1, 1, 50, 16)
    got = quantize(x, "i8", "token")
    amax = np.abs(x).max(3)
    equal(got.scales, amax / F32(127))
    equal(got.codes, np.rint(np.clip(x * (F32(127) / amax)[..., None], -127, 127)).astype(np.int8))


@pytest.mark.parametrize("format", ["i8", "f8E4M3FN", "f4E2M1FN"])
def test_zeros_have_zero_codes_and_a_normal_scale(format):
    got = quantize(np.zeros((1, 1, 3, 16), F32), format, "token")
    equal(got.codes, 0)
    assert (got.scales > 2.0**-126).all() and np.isfinite(1 / got.scales).all()
    assert got.scales[0, 0, 0] == F32(2.0**-96) / F32({"i8": 127, "f8E4M3FN": 448, "f4E2M1FN": 2688}[format])


def test_nan_spreads_over_its_scale_and_no_further():
    x = normal(1, 1, 5, 16)
    x[0, 0, 2, 3] = np.nan
    for format, code in (("i8", 0x81), ("f8E4M3FN", 0x7F), ("f4E2M1FN", 0x77)):
        got = quantize(x, format, "token")
        equal(np.isnan(got.scales[0, 0]), [False, False, True, False, False])
        equal(got.codes[0, 0, 2].view(np.uint8), code)
        assert not (got.codes[0, 0, 1].view(np.uint8) == code).all()


def test_bound_keeps_stored_means_finite_and_leaves_large_scales_alone():
    v = F32(3) + F32(1e-6) * normal(1, 1, 256, 16)
    v[..., 0] = normal(256)
    residual, means = block_residual(v)
    free, bounded = quantize(residual, "f8E4M3FN", "channel"), quantize(
        residual, "f8E4M3FN", "channel", bound=means
    )
    assert bounded.scales[0, 0, 0] == free.scales[0, 0, 0]
    assert (np.abs(stored_means(means, bounded.scales)) <= 32768).all()
    assert np.isinf(stored_means(means, free.scales)).any()
    equal(bounded.scales[0, 0, 1:], np.abs(means).max(2)[0, 0, 1:] * F32(7 / 512) / F32(448))


def test_e2m1_micro_scales():
    x = normal(2, 2, 30, 64) * np.exp2(RNG.integers(-8, 8, (2, 2, 30, 64))).astype(F32)
    x[0, 0, 0, :16] = 1e-9  # too small for a micro scale
    got = quantize(x, "f4E2M1FN", "tensor")
    assert got.codes.shape == (2, 2, 30, 32) and got.micro_scales.shape == (2, 2, 30, 4)
    outer = np.abs(x).max((2, 3)) / F32(2688)
    equal(got.scales, outer)
    assert got.micro_scales[0, 0, 0, 0] == 0 and (got.codes[0, 0, 0, :8] == 0).all()
    assert e4m3_decode(got.micro_scales).max() == 448
    back = dequantize(got, "f4E2M1FN", "tensor")
    micro = np.repeat(e4m3_decode(got.micro_scales), 16, -1) * outer[..., None, None]
    amax = np.repeat(np.abs(x).reshape(2, 2, 30, 4, 16).max(-1), 16, -1)
    # Half of E2M1's widest step, or what saturates because the micro scale was rounded down.
    assert (np.abs(back - x) <= np.maximum(micro, amax - 6 * micro) * 1.0001).all()


def test_e2m1_packs_even_channels_low():
    x = np.zeros((1, 1, 1, 16), F32)
    x[..., 0], x[..., 1], x[..., 15] = 6, -1, 0.5
    equal(quantize(x, "f4E2M1FN", "token").codes[0, 0, 0], [0x07 | 0xA0, 0, 0, 0, 0, 0, 0, 0x10])


def test_refusals():
    x = normal(1, 1, 4, 16)
    with pytest.raises(ValueError, match="one scale per channel"):
        quantize(x, "f4E2M1FN", "channel")
    with pytest.raises(ValueError, match="one scale per channel"):
        quantize(x, "f8E4M3FN", "token", bound=x)


# ===--- Layouts, packing, inputs ------------------------------------------=== #


def test_both_layouts_give_the_same_numbers():
    q, k, v = inputs("gaussian", 2, 150, dim=16)
    kt, vt = swap(k), swap(v)
    (a, m), (b, n) = center_keys(k), center_keys(kt, "bthd")
    equal(swap(b), a), equal(m, n)
    p = cluster(v, 4, 1).permutation
    equal(cluster(vt, 4, 1, "bthd").permutation, p)
    equal(swap(gather_tokens(vt, p, "bthd")), gather_tokens(v, p))
    (a, m), (b, n) = block_residual(v), block_residual(vt, "bthd")
    equal(swap(b), a), equal(m, n)
    for format in ("i8", "f8E4M3FN", "f4E2M1FN"):
        for granularity, options, _ in GRANULARITIES[: 2 if format == "f4E2M1FN" else None]:
            a, b = quantize(k, format, granularity, **options), quantize(
                kt, format, granularity, layout="bthd", **options
            )
            equal(a.scales, b.scales), equal(a.codes, swap(b.codes))
            if format == "f4E2M1FN":
                equal(a.micro_scales, swap(b.micro_scales))
    codes = quantize(v, "f8E4M3FN", "channel").codes
    equal(pack_values(swap(codes), "bthd"), pack_values(codes))


def test_value_slots_follow_the_score_fragment():
    # Register h of step k joins the codes of accumulator words i and i + 2, i = 8k + (h & 1) + 2 (h & 2);
    # words 2i and 2i + 1 of a row pair hold columns 8i + 2 quad + {0, 1}.
    want = np.full(128, -1)
    for step, quad, half in np.ndindex(4, 4, 2):
        word = 8 * step + 4 * half
        columns = [8 * (w // 2) + 2 * quad + e for w in (word, word + 2) for e in (0, 1)]
        want[32 * step + 16 * half + 4 * quad :][:4] = columns
    equal(value_slot_order(), want)
    equal(np.sort(value_slot_order()), np.arange(128))


@pytest.mark.parametrize("tokens", [1, 127, 128, 129, 1200])
def test_packed_values(tokens):
    codes = RNG.integers(0, 127, (1, 2, tokens, 16), np.uint8)
    packed = pack_values(codes)
    tiles = -(-tokens // 128)
    assert packed.shape == (1, 2, tiles, 24, 128)
    order = value_slot_order()
    for t, s in ((0, 0), (tiles - 1, 5), (tiles - 1, 127)):
        key = t * 128 + order[s]
        equal(packed[0, 1, t, :16, s], codes[0, 1, key] if key < tokens else 0)
    rows = packed[0, 0, :, 16:]
    equal(rows[np.arange(tiles), np.arange(tiles) % 8], 0x38)
    assert (rows == 0x38).sum() == tiles * 128 and (rows != 0).sum() == tiles * 128


@pytest.mark.parametrize("tiles", [1, 8, 16, 17])
def test_packed_means(tiles):
    means, scale = normal(1, 2, tiles, 16), np.abs(normal(1, 2, 16)) + F32(0.1)
    packed = pack_means(means, scale)
    assert packed.shape == (1, 2, -(-tiles // 16), 2, 2, 8, 8)
    for h, j, d in np.ndindex(2, packed.shape[2] * 16, 16):
        got = packed[0, h, j // 16, d // 8, j % 16 // 8, d % 8, j % 8]
        assert got == (f16_bits(means[0, h, j, d] / scale[0, h, d]) if j < tiles else 0)


@pytest.mark.parametrize("kind", KINDS)
def test_inputs_are_seeded_and_in_their_type(kind):
    a, b, c = (inputs(kind, 2, 50, seed=s, kv_heads=1, kv_tokens=70, value_dim=32) for s in (1, 1, 2))
    for x, y, z in zip(a, b, c):
        equal(x, y), equal(bf16_round(x), x)
        assert x.dtype == F32 and (x != z).any()
    assert [x.shape for x in a] == [(1, 2, 50, 128), (1, 1, 70, 128), (1, 1, 70, 32)]
    for x, y in zip(a, inputs(kind, 2, 50, seed=1, kv_heads=1, kv_tokens=70, value_dim=32, layout="bthd")):
        equal(swap(y), x)
