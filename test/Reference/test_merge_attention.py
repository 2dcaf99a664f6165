# ===- test_merge_attention.py - Attention over shards of keys --------------=== #
#
# Part of the vcattn project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""Merged shards are the whole: exact ones to rounding, quantized ones with their own smoothing to the method's error."""

import numpy as np
import pytest

from ir_text import Tensor, as_float, method_op, value
from vcattn_reference import F32, attention, inputs, merge_attention, relative_l2, vc_attention

RNG = np.random.default_rng(11)
SCALE = 128**-0.5
SHARDS = (2, 4, 8)
equal = np.testing.assert_array_equal


def shards_of(x, count, tokens=2):
    """`x` cut along its tokens, into parts that differ in length."""
    n = x.shape[tokens]
    edges = [n * i // count + (13 * i % 7 if 0 < i < count else 0) for i in range(count + 1)]
    return [np.take(x, range(a, b), tokens) for a, b in zip(edges, edges[1:])]


def merged(attend, q, k, v, count):
    """(result, lse) of `attend`, a function of q, k, v, over shards."""
    parts = [attend(q, *x) for x in zip(shards_of(k, count), shards_of(v, count))]
    return merge_attention(np.stack([x[0] for x in parts]), np.stack([x[1] for x in parts]))


@pytest.mark.parametrize("count", SHARDS)
@pytest.mark.parametrize("kind", ["gaussian", "peaked"])
def test_exact_shards_merge_to_the_whole(kind, count):
    q, k, v = inputs(kind, 2, 300)
    want, want_lse = attention(q, k, v, scale=SCALE)
    got, lse = merged(lambda *x: attention(*x, scale=SCALE), q, k, v, count)
    assert relative_l2(got, want) < 5e-7
    np.testing.assert_allclose(lse, want_lse, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("count", SHARDS)
@pytest.mark.parametrize("kind", ["gaussian", "clustered", "peaked", "video"])
def test_quantized_shards_merge_to_the_whole(kind, count):
    # Every shard has its own key mean, clusters, scales and codes.
    q, k, v = inputs(kind, 1, 1024)
    q = q[:, :, :100]
    want, want_lse = attention(q, k, v, scale=SCALE)
    attend = lambda *x: vc_attention(*x, scale=SCALE, result_type="f32")
    whole, whole_lse = attend(q, k, v)
    got, lse = merged(attend, q, k, v, count)
    # What differs is which roundings happen, and how many tokens 64 clusters share: 128 in the shortest shards.
    assert relative_l2(got, want) < 1.15 * relative_l2(whole, want)
    assert relative_l2(got, whole) < 1.5 * relative_l2(whole, want)
    assert (lse - want_lse).std() < 1.2 * (whole_lse - want_lse).std() + 1e-3
    assert abs((lse - want_lse).mean()) < 0.01


# ===--- Compiled ----------------------------------------------------------=== #


def merge_op(compiled, partial, lses, *, layout="bhtd", element="f32", result="f32", unknown=()):
    heads, tokens = (2, 3) if layout == "bhtd" else (3, 2)
    shape = tuple(partial.shape[1:])
    rows = (shape[0], shape[heads - 1], shape[tokens - 1])
    operands = [
        Tensor(partial.shape, element, unknown),
        Tensor(lses.shape, "f32", tuple({tokens: 3}.get(d, d) for d in unknown)),
    ]
    results = [
        Tensor(shape, result, tuple(d - 1 for d in unknown if d)),
        Tensor(rows, "f32", tuple({tokens: 2}.get(d, d - 1) for d in unknown if d)),
    ]
    text = method_op("merge_attention", operands, results, f"layout = #vcattn.layout<{layout}>")
    out, lse = compiled(text, [value(partial, element).array, lses], results)
    return as_float(out, result), lse


@pytest.mark.parametrize("layout", ["bhtd", "bthd"])
@pytest.mark.parametrize("element, result", [("f32", "f32"), ("f32", "bf16"), ("bf16", "f16")])
@pytest.mark.parametrize("count", [1, 3, 8])
def test_merge_attention(compiled, count, element, result, layout):
    partial = RNG.standard_normal((count, 2, 3, 20, 48), F32)
    lses = (5 * RNG.standard_normal((count, 2, 3, 20))).astype(F32)
    lses[0, :, :, ::3] = -np.inf  # a shard in which a query sees nothing
    lses[:, 1, 2, 5] = -np.inf  # a query that sees nothing at all
    lses[-1, 0, 0, 7] = np.nan
    partial[lses == -np.inf] = 0
    if layout == "bthd":
        partial = np.ascontiguousarray(partial.transpose(0, 1, 3, 2, 4))
    if element == "bf16":
        partial = as_float(value(partial, "bf16").array, "bf16")
    unknown = (0, 3) if result == "bf16" else ()
    got, lse = merge_op(
        compiled, partial, lses, layout=layout, element=element, result=result, unknown=unknown
    )
    want, want_lse = merge_attention(partial, lses, layout)
    tolerance = {"f32": 1e-6, "bf16": 2.0**-8, "f16": 2.0**-11}[result]
    np.testing.assert_allclose(got, want, rtol=2 * tolerance, atol=tolerance)
    np.testing.assert_allclose(lse, want_lse, rtol=1e-6, atol=1e-6)
    heads_first = got if layout == "bhtd" else got.transpose(0, 2, 1, 3)
    equal(heads_first[1, 2, 5], 0), equal(lse[1, 2, 5], -np.inf)
    assert np.isnan(heads_first[0, 0, 7]).all() and np.isnan(got).any(-1).sum() == 1


def test_no_shards(compiled):
    got, lse = merge_op(
        compiled, np.zeros((0, 1, 2, 3, 16), F32), np.zeros((0, 1, 2, 3), F32), unknown=(0,)
    )
    equal(got, 0), equal(lse, -np.inf)


SHARDED = """
func.func @main(%q: tensor<1x4x50x128xbf16>, %k: tensor<1x2xKx128xbf16>, %v: tensor<1x2xKx128xbf16>)
    -> (tensor<1x4x50x128xbf16>, tensor<1x4x50xf32>) {
  %x0 = tensor.empty() : tensor<Sx1x4x50x128xf32>
  %l0 = tensor.empty() : tensor<Sx1x4x50xf32>
BODY
  %r:2 = vcattn.merge_attention %xS, %lS
      : (tensor<Sx1x4x50x128xf32>, tensor<Sx1x4x50xf32>) -> (tensor<1x4x50x128xbf16>, tensor<1x4x50xf32>)
  return %r#0, %r#1 : tensor<1x4x50x128xbf16>, tensor<1x4x50xf32>
}
"""
SHARD = """
  %kI = tensor.extract_slice %k[0, 0, FROM, 0] [1, 2, N, 128] [1, 1, 1, 1] : tensor<1x2xKx128xbf16> to tensor<1x2xNx128xbf16>
  %vI = tensor.extract_slice %v[0, 0, FROM, 0] [1, 2, N, 128] [1, 1, 1, 1] : tensor<1x2xKx128xbf16> to tensor<1x2xNx128xbf16>
  %oI:2 = vcattn.attention %q, %kI, %vI {scale = 0.08838834764831845 : f64}
      : tensor<1x4x50x128xbf16>, tensor<1x2xNx128xbf16>, tensor<1x2xNx128xbf16> -> tensor<1x4x50x128xf32>, tensor<1x4x50xf32>
  %xJ = tensor.insert_slice %oI#0 into %xI[I, 0, 0, 0, 0] [1, 1, 4, 50, 128] [1, 1, 1, 1, 1] : tensor<1x4x50x128xf32> into tensor<Sx1x4x50x128xf32>
  %lJ = tensor.insert_slice %oI#1 into %lI[I, 0, 0, 0] [1, 1, 4, 50] [1, 1, 1, 1] : tensor<1x4x50xf32> into tensor<Sx1x4x50xf32>
"""


@pytest.mark.parametrize("count", SHARDS)
def test_shards_in_one_module(compiled, count):
    keys = 700
    q, k, v = inputs("clustered", 4, 50, kv_heads=2, kv_tokens=keys)
    k = k + np.linspace(-1, 1, 128, dtype=F32)  # a key mean, which each shard takes out for itself
    q, k, v = (as_float(value(x, "bf16").array, "bf16") for x in (q, k, v))
    edges = [keys * i // count for i in range(count + 1)]
    body = "".join(
        SHARD.replace("FROM", str(a)).replace("N,", f"{b - a},").replace("xNx", f"x{b - a}x")
        .replace("%kI", f"%k{i}").replace("%vI", f"%v{i}").replace("%oI", f"%o{i}")
        .replace("%xI", f"%x{i}").replace("%lI", f"%l{i}").replace("%xJ", f"%x{i + 1}").replace("%lJ", f"%l{i + 1}")
        .replace("[I,", f"[{i},")
        for i, (a, b) in enumerate(zip(edges, edges[1:]))
    )
    text = SHARDED.replace("BODY", body).replace("%xS", f"%x{count}").replace("%lS", f"%l{count}")
    text = text.replace("<Sx", f"<{count}x").replace("xKx", f"x{keys}x")
    results = [Tensor((1, 4, 50, 128), "bf16"), Tensor((1, 4, 50), "f32")]
    out, lse = compiled(text, [value(x, "bf16").array for x in (q, k, v)], results, ())
    want, want_lse = attention(q, k, v, scale=SCALE)
    whole, _ = vc_attention(q, k, v, scale=SCALE)
    assert relative_l2(as_float(out, "bf16"), want) < 1.1 * relative_l2(whole, want)
    assert abs((lse - want_lse).mean()) < 3e-3 and (lse - want_lse).std() < 8e-3
