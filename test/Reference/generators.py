# ===- generators.py - Seeded attention inputs -----------------------------=== #
#
# Part of the vcattn project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""Queries, keys and values of known statistics, a function of the seed alone.

The kinds differ in what makes attention hard to quantize:
  gaussian          nothing in common between tokens: no smoothing can help
  clustered         80 % of V's energy in 64 values that tokens share, keys too
  outliers          one element in a thousand 10 times larger, anywhere
  constant          V = 1 + 0.1 * noise: what every token has in common
  peaked            scores with standard deviation 3
  peaked-clustered  peaked, with V as in clustered
  video             peaked; four key channels far from zero; V partly clustered,
                    with large channels in a few tokens
"""

import numpy as np

from number_formats import F32, ROUND

KINDS = ("gaussian", "clustered", "outliers", "constant", "peaked", "peaked-clustered", "video")


def inputs(
    kind,
    heads,
    tokens,
    *,
    dim=128,
    seed=7,
    batch=1,
    kv_heads=None,
    kv_tokens=None,
    value_dim=None,
    dtype="bf16",
    layout="bhtd",
):
    """q [B, heads, tokens, dim], k and v for kv_heads and kv_tokens, as float32 rounded to `dtype`.

    With layout "bthd" the same numbers come with tokens before heads.
    """
    if kind not in KINDS:
        raise ValueError(f"unknown kind of input '{kind}'; there are {', '.join(KINDS)}")
    gen = np.random.default_rng(seed)
    kv_heads, kv_tokens, value_dim = kv_heads or heads, kv_tokens or tokens, value_dim or dim
    normal = lambda *shape: gen.standard_normal(shape, F32)
    chance = lambda *shape: gen.random(shape, F32)
    q, k, v = (
        normal(batch, heads, tokens, dim),
        normal(batch, kv_heads, kv_tokens, dim),
        normal(batch, kv_heads, kv_tokens, value_dim),
    )
    label = gen.integers(0, 64, (batch, kv_heads, kv_tokens, 1))
    clusters = lambda d: np.take_along_axis(normal(batch, kv_heads, 64, d), label, 2)
    if kind in ("clustered", "peaked-clustered"):
        v = F32(0.8**0.5) * clusters(value_dim) + F32(0.2**0.5) * v
    if kind == "clustered":
        k = k + F32(0.7) * clusters(dim)
    if kind == "outliers":
        q, k, v = (x + 10 * normal(*x.shape) * (chance(*x.shape) < 1e-3) for x in (q, k, v))
    if kind == "constant":
        v = 1 + F32(0.1) * v
    if kind in ("peaked", "peaked-clustered", "video"):
        q = 3 * q
    if kind == "video":
        offset = np.zeros(dim, F32)
        offset[[c * dim // 128 for c in (3, 40, 77, 100)]] = 12
        k = k + offset
        v = F32(0.6) * clusters(value_dim) + F32(0.8) * v
        large = (chance(batch, kv_heads, kv_tokens, 1) < 0.005) & (chance(*v.shape) < 0.1)
        v = np.where(large, 20 * v, v)
    result = [ROUND[dtype](x.astype(F32)) for x in (q, k, v)]
    return [np.ascontiguousarray(x.transpose(0, 2, 1, 3)) for x in result] if layout == "bthd" else result
