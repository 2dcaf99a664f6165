# ===- method_reference.py - Reference of the method's steps ----------------=== #
#
# Part of the vcattn project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""Centring, rotation, clustering, gathering, block means and quantization (docs/Numerics.md)."""

import math
from typing import NamedTuple, Optional

import numpy as np

from number_formats import F32, e2m1_decode, e2m1_encode, e4m3_decode, e4m3_encode, fma32, i8_encode

BLOCK = 128  # tokens per block of means and per block of key scales
CHUNK = 1024  # tokens per partial sum of the clustering
TINY = F32(2.0**-96)  # least amax: scales and their inverses stay normal


def heads_first(x, layout):
    return x.transpose(0, 2, 1, 3) if layout == "bthd" else x


as_layout = heads_first  # swapping the same two dimensions back


def _sum_in_order(x, axis):
    """((0 + x0) + x1) + ... in float32 along `axis`."""
    x = np.moveaxis(np.asarray(x, F32), axis, 0)
    total = np.zeros(x.shape[1:], F32)
    for row in x:
        total = total + row
    return total


def _blocks(x, size):
    """[B, H, N, D] -> [B, H, ceil(N / size), size, D], zero past the last token."""
    b, h, n, d = x.shape
    count = -(-n // size)
    return np.pad(x, ((0, 0), (0, 0), (0, count * size - n), (0, 0))).reshape(b, h, count, size, d)


def _block_sums(x):
    # Zeros past the end do not change a sum that starts from +0.
    return _sum_in_order(_blocks(x, BLOCK), 3)


def of_counted(op, x, lengths, layout="bhtd"):
    """op(x) -> arrays, of the tokens of each batch that count alone; whatever the others hold.

    What has tokens, or blocks of them, in dimension 2 is filled up with zeros; a
    permutation (integers) with the other tokens in their order.
    """
    x = heads_first(x, layout)
    tokens = x.shape[2]
    whole = op(np.zeros_like(x))
    results = [np.zeros_like(y) for y in whole]
    for b, n in enumerate(np.clip(lengths, 0, tokens)):
        for result, part in zip(results, op(x[b : b + 1, :, : max(n, 1)])):
            if result.dtype == np.int32:
                result[b] = np.arange(tokens)
            if n == 0:
                continue
            if result.ndim > 2 and part.shape[2] != result.shape[2]:
                result[b, :, : part.shape[2]] = part[0]
            else:
                result[b] = part[0]
    return results


# ===--- Preparing keys, queries and values --------------------------------=== #


def center_keys(k, layout="bhtd"):
    """k -> (k - mean, mean [B, H, D]); the mean over tokens, summed block by block."""
    x = heads_first(np.asarray(k, F32), layout)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = _sum_in_order(_block_sums(x), 2) / F32(x.shape[2])
    return as_layout(x - mean[:, :, None], layout), mean


def correct_lse(q, mean, lse, scale, layout="bhtd"):
    """lse + scale * <q, mean>: what centring took away from every score of a query. An lse of -inf stays."""
    q = heads_first(np.asarray(q, F32), layout)
    mean = np.repeat(mean, q.shape[1] // mean.shape[1], 1)
    dot = np.zeros(q.shape[:3], F32)
    with np.errstate(invalid="ignore"):
        for d in range(q.shape[3]):
            dot = fma32(q[..., d], mean[..., d][:, :, None], dot)
        return np.where(lse == -np.inf, lse, lse + F32(scale) * dot)


def merge_attention(partial, lses, layout="bhtd"):
    """(result, lse) of attention to all keys from [shards, ...] results and lses of attention to shards, in float32."""
    partial, lses = np.asarray(partial, F32), np.asarray(lses, F32)
    with np.errstate(invalid="ignore", divide="ignore"):
        top = np.fmax.reduce(lses, 0, initial=F32(-np.inf))
        weights = np.exp2(((lses - top) * F32(math.log2(math.e))).astype(np.float64)).astype(F32)
        weights = np.where(lses == -np.inf, F32(0), weights)
        total, acc = np.zeros_like(top), np.zeros(partial.shape[1:], F32)
        for x, w in zip(partial, weights):
            total = total + w
            acc = fma32(as_layout(w[..., None], layout), x, acc)
        empty = total == 0
        log = np.log2(total.astype(np.float64)).astype(F32) * F32(math.log(2))
        lse = np.where(empty, F32(-np.inf), top + log)
        spread = as_layout(np.where(empty, F32(1), total)[..., None], layout)
        return np.where(as_layout(empty[..., None], layout), F32(0), acc / spread), lse


def hadamard(x):
    """x * H / sqrt(R) over blocks of R channels, R the largest power of two in D: log2(R) stages, one multiplication."""
    x = np.asarray(x, F32)
    d = x.shape[-1]
    block = math.gcd(d, 1 << 30)
    h = 1
    while h < block:
        pairs = x.reshape(*x.shape[:-1], d // (2 * h), 2, h)
        a, b = pairs[..., 0, :], pairs[..., 1, :]
        x = np.stack([a + b, a - b], -2).reshape(x.shape)
        h *= 2
    return x * F32(1 / math.sqrt(block))


class Clusters(NamedTuple):
    permutation: np.ndarray  # i32 [B, H, N]
    centroids: np.ndarray  # f32 [B, H, clusters, D]
    labels: np.ndarray  # [B, H, N], cluster of each token


def cluster(v, clusters=64, iterations=4, layout="bhtd"):
    """k-means over the tokens of each head, and the stable argsort of the labels."""
    x = heads_first(np.asarray(v, F32), layout)
    n = x.shape[2]
    start = [c * (n - 1) // (clusters - 1) if clusters > 1 else 0 for c in range(clusters)]
    centroids = x[:, :, start].copy()
    for _ in range(iterations):
        centroids = _update(x, _labels(x, centroids), centroids)
    labels = _labels(x, centroids)
    return Clusters(np.argsort(labels, axis=2, kind="stable").astype(np.int32), centroids, labels)


def _labels(x, centroids):
    dot = np.zeros((*x.shape[:3], centroids.shape[2]), F32)
    norm = np.zeros(centroids.shape[:3], F32)
    for d in range(x.shape[3]):
        c = centroids[..., d]
        dot = fma32(x[..., d][..., None], c[:, :, None], dot)
        norm = fma32(c, c, norm)
    distance = norm[:, :, None] - F32(2) * dot
    best, label = distance[..., 0], np.zeros(x.shape[:3], np.int64)
    for c in range(1, centroids.shape[2]):
        closer = distance[..., c] < best  # false for NaN; a tie keeps the lower index
        best, label = np.where(closer, distance[..., c], best), np.where(closer, c, label)
    return label


def _update(x, labels, centroids):
    b, h, n, d = x.shape
    at = np.ogrid[:b, :h]
    total = np.zeros_like(centroids)
    count = np.zeros(centroids.shape[:3], np.int64)
    for first in range(0, n, CHUNK):
        partial = np.zeros_like(centroids)
        for t in range(first, min(first + CHUNK, n)):
            partial[(*at, labels[:, :, t])] += x[:, :, t]
            count[(*at, labels[:, :, t])] += 1
        total = total + partial
    count = count[..., None]
    return np.where(count > 0, total / np.maximum(count, 1).astype(F32), centroids)


def gather_tokens(x, permutation, layout="bhtd"):
    """result[b, h, p] = x[b, h, permutation[b, h, p]]; an entry out of range reads the nearest token."""
    x = heads_first(np.asarray(x), layout)
    index = np.clip(permutation.astype(np.int64), 0, x.shape[2] - 1)
    return as_layout(np.take_along_axis(x, index[..., None], 2), layout)


def block_residual(v, layout="bhtd"):
    """v -> (v - mean of its block, means [B, H, ceil(N / 128), D])."""
    x = heads_first(np.asarray(v, F32), layout)
    n = x.shape[2]
    sums = _block_sums(x)
    count = np.minimum(n - BLOCK * np.arange(sums.shape[2]), BLOCK).astype(F32)
    means = sums / count[:, None]
    return as_layout(x - np.repeat(means, BLOCK, 2)[:, :, :n], layout), means


def compensate_means(means, codes, v_scale, layout="bhtd"):
    """means - v_scale * the mean of each block's decoded codes."""
    x = heads_first(e4m3_decode(codes), layout)
    sums = _block_sums(x)
    count = np.minimum(x.shape[2] - BLOCK * np.arange(sums.shape[2]), BLOCK).astype(F32)
    return means - sums / count[:, None] * v_scale[:, :, None]


# ===--- Quantization ------------------------------------------------------=== #


class Quantized(NamedTuple):
    codes: np.ndarray  # int8, or uint8 [..., D], or uint8 [..., D / 2] for E2M1
    scales: np.ndarray  # f32: tensor [B, H], token [B, H, N], channel [B, H, D], block [B, H, blocks, groups]
    micro_scales: Optional[np.ndarray] = None  # uint8 E4M3 [..., D / 16], E2M1 only


def group_of_token(tokens, groups):
    """Which of a block's scales token t uses: (t mod (2 * groups)) / 2, those of one lane of a quad."""
    return np.arange(tokens) % (2 * groups) // 2


def quantize(x, format, granularity, *, block_size=BLOCK, groups=1, bound=None, layout="bhtd"):
    """x -> codes and scales; `format` "i8", "f8E4M3FN" or "f4E2M1FN".

    `bound` are block means that will be stored as f16 after division by the same
    (per channel) scales; it keeps them within 32768.
    """
    x = heads_first(np.asarray(x, F32), layout)
    amax, spread = _amax(x, granularity, block_size, groups)
    amax = np.maximum(amax, TINY)  # like arith.maximumf, NaN wins
    if bound is not None:
        if granularity != "channel":
            raise ValueError("a bound needs one scale per channel")
        amax = np.maximum(amax, np.abs(bound).max(2, initial=0) * F32(448 / 32768))
    with np.errstate(invalid="ignore", over="ignore"):
        if format == "f4E2M1FN":
            return _quantize_e2m1(x, amax / F32(6 * 448), spread, layout)
        top = F32({"i8": 127, "f8E4M3FN": 448}[format])
        scaled = x * spread(top / amax)
    codes = i8_encode(scaled) if format == "i8" else e4m3_encode(scaled)
    return Quantized(as_layout(codes, layout), amax / top)


def _amax(x, granularity, block_size, groups):
    """(largest magnitudes in the shape of the scales, function that broadcasts scales to x)."""
    size, n = np.abs(x), x.shape[2]
    if granularity == "tensor":
        return size.max((2, 3), initial=0), lambda s: s[:, :, None, None]
    if granularity == "token":
        return size.max(3, initial=0), lambda s: s[..., None]
    if granularity == "channel":
        return size.max(2, initial=0), lambda s: s[:, :, None]
    if granularity != "block":
        raise ValueError(f"unknown granularity '{granularity}'")
    rows = _blocks(size, block_size).max(4, initial=0)
    group = group_of_token(block_size, groups)
    amax = np.stack([rows[..., group == g].max(3, initial=0) for g in range(groups)], 3)
    return amax, lambda s: scale_per_token(s, n, block_size)[..., None]


def scale_per_token(scales, tokens, block_size=BLOCK):
    """Block scales [B, H, blocks, groups] -> one per token [B, H, tokens]."""
    group = group_of_token(block_size, scales.shape[3])
    return scales[..., group].reshape(*scales.shape[:2], -1)[..., :tokens]


def _quantize_e2m1(x, scales, spread, layout):
    if spread(scales).shape[3] != 1:
        raise ValueError("E2M1 shares micro scales between channels and cannot take one scale per channel")
    *shape, d = x.shape
    groups = x.reshape(*shape, d // 16, 16)
    outer = spread(scales)
    micro = e4m3_encode(np.abs(groups).max(-1) / F32(6) / outer)
    step = (e4m3_decode(micro) * outer)[..., None]
    with np.errstate(divide="ignore"):
        codes = np.where(micro[..., None] == 0, 0, e2m1_encode(groups / step)).astype(np.uint8)
    codes = codes.reshape(*shape, d)
    packed = codes[..., 0::2] | (codes[..., 1::2] << 4)
    return Quantized(as_layout(packed, layout), scales, as_layout(micro, layout))


def dequantize(quantized, format, granularity, *, block_size=BLOCK, layout="bhtd"):
    """What the codes stand for, in float32 (tests and error measurements)."""
    codes = heads_first(quantized.codes, layout)
    s = quantized.scales
    spread = {
        "tensor": lambda: s[:, :, None, None],
        "token": lambda: s[..., None],
        "channel": lambda: s[:, :, None],
        "block": lambda: scale_per_token(s, codes.shape[2], block_size)[..., None],
    }[granularity]()
    if format == "f4E2M1FN":
        nibbles = np.stack([codes & 15, codes >> 4], -1).reshape(*codes.shape[:-1], -1)
        micro = np.repeat(e4m3_decode(heads_first(quantized.micro_scales, layout)), 16, -1)
        return as_layout(e2m1_decode(nibbles) * (micro * spread), layout)
    value = codes.astype(F32) if format == "i8" else e4m3_decode(codes)
    return as_layout(value * spread, layout)
