# ===- test_limits.py - Windows, lengths, block masks ----------------------=== #
#
# Part of the vcattn project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""What limits the keys that a query sees: by position, by length, by block.

The reference against masks, which say the same key by key; compiled code against
the reference; and padding, which may hold anything, against no padding at all.
"""

import numpy as np
import pytest

import vcattn_reference as ref
from attention_reference import Limits
from ir_text import Tensor, attention_op, function, join, method_op, value
from test_cpu_codes import (
    LAYOUTS,
    SCALE,
    attend,
    attend_to_identity,
    check_probabilities,
    equal,
    in_layout,
    layout_attribute,
    probabilities,
    scores_of,
)
from vcattn_reference import F32, inputs, relative_l2

RNG = np.random.default_rng(23)
CAUSALITIES = ["none", "top_left", "bottom_right"]
WINDOWS = [(-1, -1), (0, 0), (5, 3), (128, -1), (-1, 40), (1000, 1000)]


def sees(causal, window, length, queries, query, key):
    position = query + (length - queries if causal == "bottom_right" else 0)
    left, right = window
    return (
        key < length
        and (causal == "none" or key <= position)
        and (left < 0 or key >= position - left)
        and (right < 0 or key <= position + right)
    )


@pytest.mark.parametrize("causal", CAUSALITIES)
@pytest.mark.parametrize("window", WINDOWS)
def test_limits_are_what_they_say(causal, window):
    queries, keys, lengths = 9, 21, np.array([21, 0, 13])
    got = np.broadcast_to(Limits(causal, window, lengths).seen(queries, keys), (3, 1, queries, keys))
    want = [
        [[sees(causal, window, n, queries, i, j) for j in range(keys)] for i in range(queries)] for n in lengths
    ]
    equal(got[:, 0], np.array(want))


def test_blocks_have_128_queries_and_keys():
    blocks = RNG.random((2, 1, 2, 3)) < 0.5
    seen = Limits(blocks=blocks).seen(140, 300)
    for query, key in ((0, 0), (127, 128), (128, 127), (139, 299)):
        equal(seen[:, :, query, key], blocks[:, :, query // 128, key // 128])


# ===--- Compiled attention ------------------------------------------------=== #


@pytest.mark.parametrize("causal, window", [*zip(CAUSALITIES * 2, WINDOWS), ("bottom_right", (200, 130))])
@pytest.mark.parametrize("queries, keys", [(150, 300), (300, 150)])
def test_windows(compiled, queries, keys, causal, window):
    q, k, v = inputs("peaked", 2, queries, kv_heads=1, kv_tokens=keys)
    p = ref.prepare(q, k, v, smooth_values=False)
    options = {"cast": "expcast", "scale": SCALE, "causal": causal, "window": window}
    got, lse = attend_to_identity(compiled, scores_of(p), **options)
    want = probabilities(p.q, p.k, q_scale=p.q_scale, k_scale=p.k_scale, **options)
    check_probabilities(got, want.result, "expcast")
    np.testing.assert_allclose(lse, want.lse, rtol=1e-5, atol=2e-5)


LIMITS = {
    "lengths": {"lengths": np.array([300, 0, 129, 77], np.int32)},
    "lengths out of range": {"lengths": np.array([-5, 301, 1 << 30, 128], np.int32)},
    "causal": {"lengths": np.array([300, 0, 129, 77], np.int32), "causal": "bottom_right", "window": (60, -1)},
    "blocks": {"blocks": RNG.random((4, 4, 2, 3)) < 0.5},
    "blocks of all heads": {"blocks": np.array([[True, False, True], [False, False, False]])[None, None]},
    "all": {
        "lengths": np.array([299, 300, 129, 77], np.int32),
        "blocks": RNG.random((1, 4, 2, 3)) < 0.7,
        "causal": "top_left",
        "window": (100, -1),
        "mask": RNG.random((1, 4, 150, 300)) < 0.8,
    },
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", LIMITS)
def test_quantized_attention(compiled, name, layout):
    q, k, v = inputs("peaked", 4, 150, kv_heads=2, kv_tokens=300, batch=4, layout=layout)
    p = ref.prepare(q, k, v, smooth_values=False, layout=layout)
    operands = [*scores_of(p), ("value", value(p.v)), ("scale", value(p.v_scale))]
    options = {"cast": "expcast", "scale": SCALE, "layout": layout, **LIMITS[name]}
    got, lse = attend(compiled, operands, **options)
    scales = {"q_scale": p.q_scale, "k_scale": p.k_scale, "v_scale": p.v_scale}
    want = ref.quantized_attention(p.q, p.k, p.v, **scales, **options)
    assert relative_l2(got, want.result) < 1e-5
    equal(np.isneginf(lse), np.isneginf(want.lse))
    np.testing.assert_allclose(lse, want.lse, rtol=1e-5, atol=2e-5)


def exact(compiled, q, k, v, layout="bhtd", options=(), **limits):
    """Compiled vcattn.attention on float32: result and lse."""
    limits = dict(limits)
    causal, window = limits.pop("causal", "none"), limits.pop("window", (-1, -1))
    operands = [("query", value(q)), ("key", value(k)), ("value", value(v))]
    operands += [(r, value(limits[r])) for r in ("mask", "lengths", "blocks") if r in limits]
    results = [Tensor(q.shape, "f32"), Tensor(in_layout(q, layout).shape[:3], "f32")]
    text = attention_op(
        "attention",
        [(role, Tensor(x.array.shape, x.element)) for role, x in operands],
        results,
        f"scale = {SCALE!r} : f64, causal = #vcattn.causality<{causal}>, {layout_attribute(layout)}, "
        f"window = #vcattn.window<left = {window[0]}, right = {window[1]}>",
    )
    return compiled(text, [x.array for _, x in operands], results, options or ("--no-method",))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", LIMITS)
def test_exact_attention(compiled, name, layout):
    q, k, v = inputs("peaked", 4, 150, kv_heads=2, kv_tokens=300, batch=4, layout=layout)
    out, lse = exact(compiled, q, k, v, layout, **LIMITS[name])
    want, want_lse = ref.attention(q, k, v, scale=SCALE, layout=layout, **LIMITS[name])
    assert relative_l2(out, want) < 2e-6
    np.testing.assert_allclose(lse, want_lse, rtol=1e-5, atol=1e-5)


# ===--- Padding -----------------------------------------------------------=== #

COUNTED = np.array([300, 0, 129, 77], np.int32)


def padded(x, fill, layout="bhtd"):
    """x with anything in the tokens that do not count."""
    x = in_layout(x, layout).copy()
    for b, n in enumerate(COUNTED):
        x[b, :, n:] = fill
    return in_layout(x, layout)


METHOD_OPS = {
    "center_keys": ("", lambda x: ref.center_keys(x), ("f32", "f32")),
    "cluster": (
        "clusters = 8 : i64, iterations = 3 : i64, ",
        lambda x: ref.cluster(x, 8, 3)[:2],
        ("i32", "f32"),
    ),
    "block_residual": ("", lambda x: ref.block_residual(x), ("f32", "f32")),
    "quantize channel": (
        "format = #vcattn.format<f8E4M3FN>, granularity = #vcattn.granularity<channel>, ",
        lambda x: ref.quantize(x, "f8E4M3FN", "channel")[:2],
        ("f8E4M3FN", "f32"),
    ),
    "quantize block": (
        "format = #vcattn.format<i8>, granularity = #vcattn.granularity<block>, groups = 4 : i64, ",
        lambda x: ref.quantize(x, "i8", "block", groups=4)[:2],
        ("i8", "f32"),
    ),
    "quantize token": (
        "format = #vcattn.format<i8>, granularity = #vcattn.granularity<token>, ",
        lambda x: ref.quantize(x, "i8", "token")[:2],
        ("i8", "f32"),
    ),
    "quantize tensor": (
        "format = #vcattn.format<i8>, granularity = #vcattn.granularity<tensor>, ",
        lambda x: ref.quantize(x, "i8", "tensor")[:2],
        ("i8", "f32"),
    ),
}


@pytest.mark.parametrize("layout, fill", [("bhtd", np.nan), ("bthd", np.inf), ("bthd", 1e30)])
@pytest.mark.parametrize("name", METHOD_OPS)
def test_padding_does_not_count(compiled, name, fill, layout):
    attributes, op, elements = METHOD_OPS[name]
    x = inputs("clustered", 2, 300, dim=64, batch=4, layout=layout, dtype="f32")[2]
    want = ref.of_counted(op, x, COUNTED, layout)
    is_quantize = name.startswith("quantize")
    if is_quantize:  # no token has the least scale that there is
        least = op(np.zeros((1, 2, 300, 64), F32))[1]
        for b, n in enumerate(COUNTED):
            want[1][b] = np.where(want[1][b] == 0, least[0], want[1][b])
    results = [Tensor(y.shape, e) for y, e in zip(want, elements)]
    for i, y in enumerate(want):
        if y.ndim == 4 and y.shape[2] == 300:
            want[i] = in_layout(y, layout)
            results[i] = Tensor(want[i].shape, elements[i])
    text = method_op(
        name.split()[0],
        [Tensor(x.shape, "f32"), Tensor((4,), "i32")],
        results,
        attributes + layout_attribute(layout),
        "lengths" if is_quantize else "",
    )
    got = compiled(text, [padded(x, fill, layout), COUNTED], results)
    for y, z in zip(got, want):
        if elements == ("i32", "f32") and y.dtype == np.float32:
            y, z = y[COUNTED > 0], z[COUNTED > 0]  # no token, no centroid that means anything
        equal(y, z)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("options", [("--clusters=8",), ("--no-smooth-values", "--no-smooth-keys"), ("--no-method",)])
@pytest.mark.parametrize("fill", [np.nan])
def test_padded_batches_are_as_exact_as_batches_alone(compiled, fill, options, layout):
    q, k, v = inputs("clustered", 2, 140, kv_heads=1, kv_tokens=300, batch=4, layout=layout, dtype="f32")
    k, v = padded(k, fill, layout), padded(v, fill, layout)
    out, lse = exact(compiled, q, k, v, layout, options, lengths=COUNTED)
    for b, n in enumerate(COUNTED):
        if n == 0:
            assert not out[b].any() and np.isneginf(lse[b]).all()
            continue
        tokens = (slice(b, b + 1), slice(n)) if layout == "bthd" else (slice(b, b + 1), slice(None), slice(n))
        alone, alone_lse = exact(compiled, q[b : b + 1], k[tokens], v[tokens], layout, options)
        equal(out[b], alone[0])
        equal(lse[b], alone_lse[0])


# ===--- Sequences ---------------------------------------------------------=== #

BOUNDARIES = np.array([0, 130, 130, 131, 290], np.int32), np.array([5, 5, 205, 333, 460], np.int32)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("causal", ["none", "bottom_right"])
@pytest.mark.parametrize("options", [("--no-method",), ("--clusters=8",)])
def test_sequences_do_not_see_each_other(compiled, options, causal, layout):
    q, k, v = inputs("clustered", 2, 300, kv_heads=1, kv_tokens=460, layout=layout, dtype="f32")
    cu_q, cu_k = BOUNDARIES
    results = [Tensor(q.shape, "f32"), Tensor((1, 2, 300), "f32")]
    operands = [Tensor(x.shape, "f32") for x in (q, k, v)] + [Tensor(x.shape, "i32") for x in BOUNDARIES]
    text = function(
        f"vcattn.varlen_attention %a, %b, %c sequences %d, %e {{scale = {SCALE!r} : f64, "
        f"causal = #vcattn.causality<{causal}>, {layout_attribute(layout)}}} : ({join(operands)}) -> ({join(results)})",
        operands,
        results,
    )
    out, lse = compiled(text, [q, k, v, cu_q, cu_k], results, options)
    out = in_layout(out, layout)
    tokens = lambda x, first, end: np.ascontiguousarray(x[:, first:end] if layout == "bthd" else x[:, :, first:end])
    for s in range(len(cu_q) - 1):
        mine = slice(cu_q[s], cu_q[s + 1])
        if cu_q[s] == cu_q[s + 1]:
            continue
        if cu_k[s] == cu_k[s + 1]:
            assert not out[:, :, mine].any() and np.isneginf(lse[:, :, mine]).all()
            continue
        part = [tokens(q, *cu_q[s : s + 2])] + [tokens(x, *cu_k[s : s + 2]) for x in (k, v)]
        alone, alone_lse = exact(compiled, *part, layout, options, causal=causal)
        equal(out[:, :, mine], in_layout(alone, layout))
        equal(lse[:, :, mine], alone_lse)
    rest = np.arange(300) >= cu_q[-1]  # in no sequence
    assert not out[:, :, rest].any() and np.isneginf(lse[:, :, rest]).all()
