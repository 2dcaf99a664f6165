# ===- test_cpu_codes.py - Compiled CPU code against the reference ---------=== #
#
# Part of the vcattn project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""Every level-2 op, compiled for the CPU, gives the reference's codes, scales, means and permutations bit for bit.

Probabilities are not results of an op. With the identity as values they are:
out[i, key] is then the decoded code over the denominator, and two codes differ
by a sixteenth at least, so that agreement to 1e-5 is agreement of the codes.
"""

import math

import numpy as np
import pytest

import vcattn_reference as ref
from ir_text import Tensor, Value, as_float, attention_op, method_op, value
from vcattn_reference import F32, inputs, relative_l2

equal = np.testing.assert_array_equal
RNG = np.random.default_rng(17)
TOKENS = [1, 5, 127, 128, 129, 1000]
LAYOUTS = ["bhtd", "bthd"]


def layout_attribute(layout):
    return f"layout = #vcattn.layout<{layout}>"


def in_layout(x, layout):
    return np.ascontiguousarray(x.transpose(0, 2, 1, 3)) if layout == "bthd" else x


def sample(tokens, *, heads=2, dim=64, kind="outliers", layout="bhtd", which=1, element="bf16"):
    """One of q, k, v of `inputs`, rounded to `element`."""
    return inputs(kind, heads, tokens, dim=dim, dtype=element, layout=layout, batch=2)[which]


def types_of(x, element, layout, dynamic):
    token_dim = 1 if layout == "bthd" else 2
    unknown = (token_dim,) if dynamic else ()
    return Tensor(x.shape, element, unknown), Tensor(x.shape, "f32", unknown)


# ===--- The steps of the method -------------------------------------------=== #


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("tokens", TOKENS)
@pytest.mark.parametrize("element", ["bf16", "f16", "f32"])
def test_center_keys(compiled, tokens, layout, element):
    x = sample(tokens, layout=layout, element=element)
    operand, result = types_of(x, element, layout, dynamic=tokens == 1000)
    results = [result, Tensor((2, 2, 64), "f32")]
    text = method_op("center_keys", [operand], results, layout_attribute(layout))
    centred, mean = compiled(text, [value(x, element).array], results)
    want, want_mean = ref.center_keys(x, layout)
    equal(mean, want_mean)
    equal(centred, want)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("element", ["bf16", "f32"])
def test_correct_lse(compiled, element, layout):
    q = inputs("gaussian", 4, 70, dim=48, dtype=element, layout=layout)[0]
    mean, lse = RNG.standard_normal((1, 2, 48), F32), RNG.standard_normal((1, 4, 70), F32)
    lse[0, 1, 3] = -np.inf
    operands = [Tensor(q.shape, element), Tensor(mean.shape, "f32"), Tensor(lse.shape, "f32")]
    text = method_op("correct_lse", operands, operands[2:], f"scale = 0.3 : f64, {layout_attribute(layout)}")
    (got,) = compiled(text, [value(q, element).array, mean, lse], operands[2:])
    equal(got, ref.correct_lse(q, mean, lse, 0.3, layout))


@pytest.mark.parametrize("dim", [1, 2, 8, 40, 64, 72, 96, 128, 192, 256])
@pytest.mark.parametrize("element", ["bf16", "f32"])
def test_hadamard(compiled, dim, element):
    x = sample(130, dim=dim, element=element)
    operand, result = types_of(x, element, "bhtd", dynamic=dim == 64)
    (got,) = compiled(method_op("hadamard", [operand], [result]), [value(x, element).array], [result])
    equal(got, ref.hadamard(x))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    "tokens, clusters, iterations", [(1, 1, 1), (5, 8, 2), (129, 16, 4), (1000, 64, 4), (2100, 10, 2)]
)
def test_cluster(compiled, tokens, clusters, iterations, layout):
    x = sample(tokens, kind="clustered", which=2, layout=layout, dim=32)
    operand, _ = types_of(x, "bf16", layout, dynamic=tokens == 1000)
    order = Tensor((2, 2, tokens), "i32", (2,) if tokens == 1000 else ())
    results = [order, Tensor((2, 2, clusters, 32), "f32")]
    text = method_op(
        "cluster",
        [operand],
        results,
        f"clusters = {clusters} : i64, iterations = {iterations} : i64, {layout_attribute(layout)}",
    )
    permutation, centroids = compiled(text, [value(x, "bf16").array], results)
    want = ref.cluster(x, clusters, iterations, layout)
    equal(centroids, want.centroids)
    equal(permutation, want.permutation)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("tokens", [1, 129])
@pytest.mark.parametrize("element", ["bf16", "f16", "f32"])
def test_gather_tokens(compiled, tokens, layout, element):
    x = sample(tokens, layout=layout, element=element)
    order = np.stack([RNG.permutation(tokens) for _ in range(4)]).reshape(2, 2, tokens).astype(np.int32)
    order[0, 0, 0], order[1, 1, -1] = -4, tokens + 3
    operand, _ = types_of(x, element, layout, dynamic=False)
    text = method_op(
        "gather_tokens", [operand, Tensor(order.shape, "i32")], [operand], layout_attribute(layout)
    )
    (got,) = compiled(text, [value(x, element).array, order], [operand])
    equal(as_float(got, element), ref.gather_tokens(x, order, layout))


@pytest.mark.parametrize("shape", [(1, 1, 1, 70), (2, 4, 9, 70), (2, 1, 9, 70)])
def test_gather_mask(compiled, shape):
    mask = RNG.standard_normal(shape, F32)
    order = np.stack([RNG.permutation(70) for _ in range(4)]).reshape(2, 2, 70).astype(np.int32)
    result = Tensor((2, 4, shape[2], 70), "f32")
    operands = [Tensor(mask.shape, "f32"), Tensor(order.shape, "i32")]
    text = method_op("gather_mask", operands, [result], "group = 2 : i64")
    (got,) = compiled(text, [mask, order], [result])
    full = np.broadcast_to(mask, result.shape)
    equal(got, np.take_along_axis(full, np.repeat(order, 2, 1)[:, :, None], 3))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("tokens", TOKENS)
def test_block_residual(compiled, tokens, layout):
    x = sample(tokens, layout=layout, which=2)
    dynamic = tokens == 1000
    operand, result = types_of(x, "bf16", layout, dynamic)
    means = Tensor((2, 2, -(-tokens // 128), 64), "f32", (2,) if dynamic else ())
    text = method_op("block_residual", [operand], [result, means], layout_attribute(layout))
    residual, means = compiled(text, [value(x, "bf16").array], [result, means])
    want, want_means = ref.block_residual(x, layout)
    equal(means, want_means)
    equal(residual, want)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("tokens", TOKENS)
def test_compensate_means(compiled, tokens, layout):
    residual, means = ref.block_residual(sample(tokens, layout=layout, which=2), layout)
    v8 = ref.quantize(residual, "f8E4M3FN", "channel", bound=means, layout=layout)
    dynamic = tokens == 1000
    operands = [
        Tensor(means.shape, "f32", (2,) if dynamic else ()),
        types_of(v8.codes, "f8E4M3FN", layout, dynamic)[0],
        Tensor(v8.scales.shape, "f32"),
    ]
    text = method_op("compensate_means", operands, [operands[0]], layout_attribute(layout))
    (got,) = compiled(text, [means, v8.codes, v8.scales], [operands[0]])
    equal(got, ref.compensate_means(means, v8.codes, v8.scales, layout))


GRANULARITIES = [
    ("tensor", {}),
    ("token", {}),
    ("channel", {}),
    ("block", {}),
    ("block", {"groups": 4}),
    ("block", {"block_size": 64, "groups": 2}),
]


def quantized(compiled, x, element, format, granularity, options, layout="bhtd", bound=None):
    """(what the compiled op gives, what the reference gives)."""
    want = ref.quantize(x, format, granularity, layout=layout, bound=bound, **options)
    stored = "f8E4M3FN" if format == "f8E4M3FN" else "i8"
    results = [Tensor(want.codes.shape, stored), Tensor(want.scales.shape, "f32")]
    if want.micro_scales is not None:
        results.append(Tensor(want.micro_scales.shape, "f8E4M3FN"))
    attributes = [
        f"format = #vcattn.format<{format}>",
        f"granularity = #vcattn.granularity<{granularity}>",
        layout_attribute(layout),
        *(f"{k} = {v} : i64" for k, v in options.items()),
    ]
    operands, arrays = [Tensor(x.shape, element)], [value(x, element).array]
    if bound is not None:
        operands.append(Tensor(bound.shape, "f32"))
        arrays.append(bound)
    text = method_op(
        "quantize", operands, results, ", ".join(attributes), "bound" if bound is not None else ""
    )
    return compiled(text, arrays, results), want


def check_quantized(got, want):
    equal(got[1], want.scales)
    equal(got[0].view(np.uint8), want.codes.view(np.uint8))
    if want.micro_scales is not None:
        equal(got[2].view(np.uint8), want.micro_scales)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    "format, granularity, options",
    [
        (format, *rest)
        for format in ("i8", "f8E4M3FN", "f4E2M1FN")
        for rest in GRANULARITIES
        if format != "f4E2M1FN" or rest[0] != "channel"  # its micro scales are shared by channels
    ],
)
def test_quantize(compiled, format, granularity, options, layout):
    x = sample(300, layout=layout, element="f32")
    x = (x * F32(2.0) ** RNG.integers(-20, 3, x.shape)).astype(F32)
    check_quantized(*quantized(compiled, x, "f32", format, granularity, options, layout))


@pytest.mark.parametrize("tokens", TOKENS)
@pytest.mark.parametrize("element", ["bf16", "f16"])
def test_quantize_keys_of_any_number(compiled, tokens, element):
    x = sample(tokens, element=element)
    check_quantized(*quantized(compiled, x, element, "i8", "block", {"groups": 4}))


@pytest.mark.parametrize("kind", ["gaussian", "constant"])
def test_quantize_bounded_by_means(compiled, kind):
    residual, means = ref.block_residual(sample(300, kind=kind, which=2))
    residual[:, :, :, 3] = 0
    check_quantized(*quantized(compiled, residual, "f32", "f8E4M3FN", "channel", {}, bound=means))


@pytest.mark.parametrize("format", ["i8", "f8E4M3FN", "f4E2M1FN"])
def test_quantize_special_values(compiled, format):
    x = np.zeros((1, 1, 12, 16), F32)
    x[0, 0, 1:8] = RNG.standard_normal((7, 16), F32)
    x[0, 0, 1, 4] = np.nan
    x[0, 0, 2, 5], x[0, 0, 3, 6] = np.inf, -np.inf
    x[0, 0, 4] *= 1e-40  # subnormal
    x[0, 0, 5] *= 1e37
    x[0, 0, 6, :8] = -0.0
    x[0, 0, 7] = np.arange(16) - 7.5  # ties of i8 and E4M3 once scaled
    x[0, 0, 8] = np.arange(16) * 0.5
    check_quantized(*quantized(compiled, x, "f32", format, "token", {}))


def test_every_rounding_to_e4m3(compiled):
    # A row whose scale is 1: its codes are the roundings of every value, midpoint and their neighbours.
    grid = ref.e4m3_decode(np.arange(127))
    middle = (grid[1:] + grid[:-1]) / 2
    points = np.concatenate([grid, middle, np.nextafter(middle, F32(0)), np.nextafter(middle, F32(1e9))])
    x = np.full((1, 1, 1, 1024), 448, F32)
    x[0, 0, 0, : 2 * len(points)] = np.concatenate([points, -points])
    got, want = quantized(compiled, x, "f32", "f8E4M3FN", "token", {})
    check_quantized(got, want)
    assert want.scales == 1 and len(np.unique(want.codes)) >= 254


# ===--- The kernel's operands ---------------------------------------------=== #


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("tokens", TOKENS)
@pytest.mark.parametrize("dim", [64, 50])
def test_pack_values(compiled, tokens, layout, dim):
    codes = in_layout(RNG.integers(0, 255, (2, 2, tokens, dim), np.uint8), layout)
    want = ref.pack_values(codes, layout)
    result = Tensor(want.shape, "f8E4M3FN")
    text = method_op("pack_values", [Tensor(codes.shape, "f8E4M3FN")], [result], layout_attribute(layout))
    (got,) = compiled(text, [codes], [result])
    equal(got.view(np.uint8), want)


@pytest.mark.parametrize("tiles, dim", [(1, 64), (8, 64), (17, 64), (9, 20)])
def test_pack_means(compiled, tiles, dim):
    means = RNG.standard_normal((2, 2, tiles, dim), F32)
    scale = np.abs(RNG.standard_normal((2, 2, dim), F32)) * F32(0.01)
    want = ref.pack_means(means, scale)
    result = Tensor(want.shape, "f16")
    text = method_op("pack_means", [Tensor(means.shape, "f32"), Tensor(scale.shape, "f32")], [result])
    (got,) = compiled(text, [means, scale], [result])
    equal(got.view(np.uint16), want)


# ===--- Attention ---------------------------------------------------------=== #


def attend(
    compiled,
    x,
    *,
    cast,
    scale,
    layout="bhtd",
    causal="none",
    window=(-1, -1),
    mask=None,
    lengths=None,
    blocks=None,
    result="f32",
    dynamic=False
):
    """Compiled quantized attention on operands (role, Value): result and lse."""
    q, v = (next(y.array for role, y in x if role == r) for r in ("query", "value"))
    token_dim = 1 if layout == "bthd" else 2
    if mask is not None:
        at = next((i for i, (role, _) in enumerate(x) if role == "means"), len(x))
        x = x[:at] + [("mask", value(mask))] + x[at:]
    for role, limit in (("lengths", lengths), ("blocks", blocks)):
        x = x + ([(role, value(limit))] if limit is not None else [])
    operands = [
        (
            role,
            Tensor(
                y.array.shape,
                y.element,
                (token_dim,) if dynamic and role in ("query", "key", "value") else (),
            ),
        )
        for role, y in x
    ]
    shape = (*q.shape[:3], v.shape[3])
    rows = in_layout(q, layout).shape[:3]
    results = [
        Tensor(shape, result, (token_dim,) if dynamic else ()),
        Tensor(rows, "f32", (2,) if dynamic else ()),
    ]
    text = attention_op(
        "quantized_attention",
        operands,
        results,
        f"scale = {scale!r} : f64, cast = #vcattn.cast<{cast}>, causal = #vcattn.causality<{causal}>, "
        + f"window = #vcattn.window<left = {window[0]}, right = {window[1]}>, "
        + layout_attribute(layout),
    )
    out, lse = compiled(text, [y.array for _, y in x], results)
    return as_float(out, result), lse


def scores_of(p):
    """Queries and keys of a prepared attention."""
    return [
        ("query", value(p.q)),
        ("scale", value(p.q_scale)),
        ("key", value(p.k)),
        ("scale", value(p.k_scale)),
    ]


def operands_of(p):
    means = [("means", value(p.means))] if p.means is not None else []
    return [*scores_of(p), ("value", value(p.v)), ("scale", value(p.v_scale)), *means]


def attend_to_identity(compiled, x, **options):
    """Compiled attention whose result is each key's probability [1, H, Nq, Nk], and lse.

    Values of 128 channels show as many keys; a batch of copies, one per 128 keys, shows all.
    """
    heads, keys = next(y.array for role, y in x if role == "key").shape[1:3]
    parts = -(-keys // 128)
    values = np.zeros((parts, heads, keys, 128), F32)
    for key in range(keys):
        values[key // 128, :, key, key % 128] = 1
    x = [(role, Value(np.repeat(y.array, parts, 0), y.element)) for role, y in x] + [("value", value(values))]
    out, lse = attend(compiled, x, **options)
    equal(lse, np.repeat(lse[:1], parts, 0))
    return np.concatenate(list(out), -1)[None, ..., :keys], lse[:1]


def probabilities(q, k, **options):
    """The same from the reference."""
    values = np.broadcast_to(np.eye(k.shape[2], dtype=F32), (*k.shape[:2], k.shape[2], k.shape[2]))
    return ref.quantized_attention(q, k, values, **options)


def check_probabilities(got, want, cast):
    if cast == "expcast":
        equal(got == 0, want == 0)
        np.testing.assert_allclose(got, want, rtol=1e-5)
    else:  # an exponential that is an ulp off may round to the next code, here and there
        wrong = ~np.isclose(got, want, rtol=1e-5, atol=0)
        assert wrong.any(-1).mean() < 0.03 and relative_l2(got, want) < 2e-3


SCALE = 128**-0.5
LENGTHS = [(1, 1), (5, 5), (63, 63), (64, 64), (65, 65), (40, 128), (129, 129), (3, 300), (30, 1000)]


@pytest.mark.parametrize("cast", ref.CASTS)
@pytest.mark.parametrize("queries, keys", LENGTHS)
@pytest.mark.parametrize("scores", ["i8", "f8E4M3FN"])
def test_probability_codes(compiled, scores, queries, keys, cast):
    q, k, v = inputs("peaked", 4, queries, kv_heads=2, kv_tokens=keys)
    k = k[:, :, np.argsort(k[0, 0] @ q[0, 0, 0])]  # scores that keep growing, so that maxima are raised often
    p = ref.prepare(q, k, v, scores=scores, smooth_values=False)
    got, lse = attend_to_identity(compiled, scores_of(p), cast=cast, scale=SCALE)
    want = probabilities(p.q, p.k, scale=SCALE, cast=cast, q_scale=p.q_scale, k_scale=p.k_scale)
    check_probabilities(got, want.result, cast)
    np.testing.assert_allclose(lse, want.lse, rtol=1e-5, atol=2e-5)


@pytest.mark.parametrize("cast", ["expcast", "hybrid"])
@pytest.mark.parametrize("element", ["bf16", "f16", "f32"])
def test_probability_codes_of_float_operands(compiled, element, cast):
    q, k, _ = inputs("peaked", 2, 20, kv_tokens=300, dim=64, dtype=element)
    x = [("query", value(q, element)), ("key", value(k, element))]
    got, _ = attend_to_identity(compiled, x, cast=cast, scale=0.125)
    check_probabilities(got, probabilities(q, k, scale=0.125, cast=cast).result, cast)


MASKS = {
    "causal": {"causal": "top_left"},
    "bottom_right": {"causal": "bottom_right"},
    "bool": {"mask": RNG.random((1, 4, 150, 300)) < 0.5},
    "broadcast": {"mask": RNG.random((1, 1, 1, 300)) < 0.5},
    "float": {"mask": RNG.standard_normal((1, 1, 150, 300), F32)},
    "infinite": {"mask": np.where(RNG.random((1, 1, 150, 300)) < 0.3, F32(0), F32(-np.inf))},
    "nothing": {"mask": np.arange(150).reshape(1, 1, 150, 1) % 3 > 0},
    "late": {"mask": (np.arange(300) >= 260).reshape(1, 1, 1, 300)},
}


@pytest.mark.parametrize("cast", ["expcast", "hybrid"])
@pytest.mark.parametrize("name", MASKS)
def test_masks(compiled, name, cast):
    q, k, v = inputs("peaked", 4, 150, kv_heads=2, kv_tokens=300)
    p = ref.prepare(q, k, v, smooth_values=False)
    options = {"cast": cast, "scale": SCALE, **MASKS[name]}
    got, lse = attend_to_identity(compiled, scores_of(p), **options)
    want = probabilities(p.q, p.k, q_scale=p.q_scale, k_scale=p.k_scale, **options)
    check_probabilities(got, want.result, cast)
    np.testing.assert_allclose(lse, want.lse, rtol=1e-5, atol=2e-5)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", ["gaussian", "clustered", "constant", "outliers"])
def test_quantized_attention(compiled, kind, layout):
    q, k, v = inputs(kind, 4, 260, kv_heads=2, kv_tokens=300, value_dim=64, layout=layout)
    p = ref.prepare(q, k, v, layout=layout)
    got, lse = attend(
        compiled, operands_of(p), cast="expcast", scale=SCALE, layout=layout, dynamic=kind == "outliers"
    )
    want = ref.quantized_attention(
        p.q,
        p.k,
        p.v,
        scale=SCALE,
        cast="expcast",
        q_scale=p.q_scale,
        k_scale=p.k_scale,
        v_scale=p.v_scale,
        means=p.means,
        layout=layout,
    )
    assert relative_l2(got, want.result) < 1e-5
    np.testing.assert_allclose(lse, want.lse, rtol=1e-5, atol=2e-5)


@pytest.mark.parametrize("result", ["bf16", "f16"])
def test_result_types(compiled, result):
    q, k, v = inputs("gaussian", 2, 130)
    p = ref.prepare(q, k, v)
    got, _ = attend(compiled, operands_of(p), cast="expcast", scale=SCALE, result=result)
    full, _ = attend(compiled, operands_of(p), cast="expcast", scale=SCALE)
    equal(got, ref.ROUND[result](full))


@pytest.mark.parametrize("where", ["query", "key", "value"])
def test_nan(compiled, where):
    q, k, v = inputs("gaussian", 1, 140)
    {"query": q, "key": k, "value": v}[where][0, 0, 7, 3] = np.nan
    p = ref.prepare(q, k, v)
    got, _ = attend(compiled, operands_of(p), cast="expcast", scale=SCALE)
    want = ref.quantized_attention(
        p.q,
        p.k,
        p.v,
        scale=SCALE,
        cast="expcast",
        q_scale=p.q_scale,
        k_scale=p.k_scale,
        v_scale=p.v_scale,
        means=p.means,
    )
    equal(np.isnan(got), np.isnan(want.result))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("element", ["bf16", "f16", "f32"])
@pytest.mark.parametrize("name", ["none", "causal", "bottom_right", "bool", "float", "nothing"])
def test_exact_attention(compiled, name, element, layout):
    q, k, v = inputs(
        "peaked", 4, 150, kv_heads=2, kv_tokens=300, dim=64, value_dim=32, dtype=element, layout=layout
    )
    options = MASKS.get(name, {})
    operands = [("query", value(q, element)), ("key", value(k, element)), ("value", value(v, element))]
    if "mask" in options:
        operands.append(("mask", value(options["mask"])))
    types = [(role, Tensor(x.array.shape, x.element)) for role, x in operands]
    results = [Tensor((*q.shape[:3], 32), "f32"), Tensor((1, 4, 150), "f32")]
    text = attention_op(
        "attention",
        types,
        results,
        f"scale = 0.125 : f64, causal = #vcattn.causality<{options.get('causal', 'none')}>, "
        + layout_attribute(layout),
    )
    out, lse = compiled(text, [x.array for _, x in operands], results)
    want, want_lse = ref.attention(q, k, v, scale=0.125, layout=layout, **options)
    assert relative_l2(out, want) < 2e-6
    np.testing.assert_allclose(lse, want_lse, rtol=1e-5, atol=1e-5)


def test_scale_is_rounded_once(compiled):
    q, k, v = inputs("gaussian", 1, 130)
    p = ref.prepare(q, k, v, smooth_values=False)
    for scale in (1 / math.sqrt(96), 0.3, 1.0):
        got, _ = attend_to_identity(compiled, scores_of(p), cast="expcast", scale=scale)
        want = probabilities(p.q, p.k, scale=scale, cast="expcast", q_scale=p.q_scale, k_scale=p.k_scale)
        check_probabilities(got, want.result, "expcast")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    "kind, options, same",
    [
        ("clustered", (), {"cast": "hybrid"}),
        ("clustered", ("--cast=expcast",), {}),
        ("outliers", ("--cast=expcast", "--scores=f8E4M3FN"), {"scores": "f8E4M3FN"}),
        ("constant", ("--cast=expcast", "--clusters=8", "--iterations=1"), {"clusters": 8, "iterations": 1}),
        ("gaussian", ("--cast=expcast", "--no-smooth-values"), {"smooth_values": False}),
    ],
)
def test_method_from_end_to_end(compiled, kind, options, same, layout):
    q, k, v = inputs(kind, 4, 150, kv_heads=2, kv_tokens=300, layout=layout)
    arguments = [value(x, "bf16") for x in (q, k, v)]
    roles = zip(("query", "key", "value"), (Tensor(x.array.shape, "bf16") for x in arguments))
    results = [Tensor(q.shape, "bf16"), Tensor((1, 4, 150), "f32")]
    text = attention_op(
        "attention", list(roles), results, f"scale = {SCALE!r} : f64, {layout_attribute(layout)}"
    )
    out, lse = compiled(text, [x.array for x in arguments], results, options)
    want, want_lse = ref.vc_attention(q, k, v, scale=SCALE, layout=layout, **same)
    # All but a few results round to the same bf16.
    assert (as_float(out, "bf16") != want).mean() < 1e-3 and relative_l2(as_float(out, "bf16"), want) < 1e-3
    np.testing.assert_allclose(lse, want_lse, rtol=1e-5, atol=2e-5)
