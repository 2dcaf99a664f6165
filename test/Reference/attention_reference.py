# ===- attention_reference.py - Reference of attention, exact and low-bit --=== #
#
# Part of the vcattn project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""Exact attention in FP64; quantized attention tile by tile; the kernel's packed operands."""

import math
from typing import NamedTuple, Optional

import numpy as np

from method_reference import BLOCK, as_layout, heads_first, scale_per_token
from number_formats import F32, ROUND, e4m3_decode, e4m3_encode, f16_bits, fma32

TILE = 64  # keys that are cast at once, against one maximum
CAST_GROUP, EXACT_GROUPS = 8, 5  # the hybrid cast's groups of keys in a tile, and how many of them it casts exactly
EXACT_KEYS = {"expcast": 0, "exact": TILE, "hybrid": CAST_GROUP * EXACT_GROUPS}  # the first ones of a tile
CASTS = tuple(EXACT_KEYS)
# What the multiply-add gives a score equal to the row's reference maximum: 8 * 8 + 56 - 0.35, and beside exact codes
# what makes the mean ratio of its codes to exponentials theirs.
TOP_CODE = {"expcast": F32(119.65), "hybrid": F32(119.535)}
MAX_CODE = 126  # largest finite E4M3 code, 448
TIE_ABOVE_MAX = F32(464)  # what E4M3 would round to 448, ties to even, without saturation
S8_BIAS = F32(12582912)  # 1.5 * 2^23, from which an integer score's accumulator starts
CODE_UNITS = 8 * 1.4426950408889634  # 8 log2(e): code units per natural-logarithm unit of a score
# Logarithm of the mean of decoded code / exponential, over an octave in which probability mass is spread evenly.
LSE_BIAS = {"expcast": 0.0133315064, "exact": -0.0010132051, "hybrid": -0.0010132051}
SUBNORMAL = F32(2.0**-24)  # an f16 subnormal's bits are its value times 2^24


def _per_query_head(x, query_heads):
    """Key or value heads, repeated for the query heads that share them (h -> h / (Hq / Hkv))."""
    return None if x is None else np.repeat(x, query_heads // x.shape[1], axis=1)


class Limits(NamedTuple):
    """Which keys queries see, the mask aside: by position, by length, by block."""

    causal: str = "none"
    window: tuple = (-1, -1)  # keys before and after a query's position; -1: all
    lengths: Optional[np.ndarray] = None  # int [B]
    blocks: Optional[np.ndarray] = None  # bool [B|1, Hq|1, ceil(Nq / 128), ceil(Nk / 128)]

    def seen(self, queries, keys):
        """bool, broadcastable to [B, Hq, Nq, Nk]."""
        key, query = np.arange(keys), np.arange(queries)[:, None]
        length = np.array([keys]) if self.lengths is None else np.clip(self.lengths, 0, keys)
        length = length.astype(np.int64)[:, None, None, None]
        position = query + (length - queries if self.causal == "bottom_right" else 0)
        left, right = self.window
        seen = key < length
        if self.causal != "none":
            seen = seen & (key <= position)
        if left >= 0:
            seen = seen & (key >= position - left)
        if right >= 0:
            seen = seen & (key <= position + right)
        if self.blocks is not None:
            blocks = np.repeat(np.repeat(self.blocks, BLOCK, 2), BLOCK, 3)
            seen = seen & blocks[:, :, :queries, :keys]
        return seen


def _split_mask(mask, shape):
    """(keep, what a float mask adds), both broadcast to [B, Hq, Nq, Nk]; an added -inf drops."""
    if mask is None:
        return np.ones(shape, bool), None
    mask = np.broadcast_to(mask, shape)
    return (mask, None) if mask.dtype == bool else (mask != -np.inf, np.asarray(mask, F32))


def attention(q, k, v, *, scale, mask=None, means=None, layout="bhtd", **limits):
    """Exact attention in FP64: (result, lse [B, Hq, Nq]).

    mask: bool (true keeps) or float (added to the scaled scores), broadcastable to
    [B, Hq, Nq, Nk]. means: block means that were taken out of v. limits: what
    Limits has; padding may hold anything, NaN included. A row that sees no
    key gives 0 and -inf; a NaN or infinity that it sees gives NaN.
    """
    q, k, v = (heads_first(np.asarray(x, np.float64), layout) for x in (q, k, v))
    if means is not None:
        v = v + np.repeat(means.astype(np.float64), BLOCK, 2)[:, :, : v.shape[2]]
    k, v = (_per_query_head(x, q.shape[1]) for x in (k, v))
    shape = (*q.shape[:3], k.shape[2])
    keep, added = _split_mask(mask, shape)
    keep = keep & Limits(**limits).seen(shape[2], shape[3])
    with np.errstate(invalid="ignore", divide="ignore"):
        s = q @ k.swapaxes(2, 3) * scale
        s = np.where(keep, s if added is None else s + added, -np.inf)
        top = s.max(-1, keepdims=True, initial=-np.inf)
        p = np.where(keep, np.exp(s - np.where(top == -np.inf, 0, top)), 0)
        total = p.sum(-1, keepdims=True)
        # 0 * NaN is NaN: a value that a row does not see must not reach it.
        out = p @ np.where(np.isfinite(v), v, 0)
        out = np.where(keep.astype(np.float64) @ ~np.isfinite(v) > 0, np.nan, out)
        out = np.where(total == 0, 0, out / np.where(total == 0, 1, total))
        lse = (top + np.log(total))[..., 0]
    return as_layout(out, layout), lse


class QuantizedAttention(NamedTuple):
    result: np.ndarray  # float32, rounded to the result's type
    lse: np.ndarray  # f32 [B, Hq, Nq]
    codes: np.ndarray  # uint8 [B, Hq, Nq, Nk], E4M3 probabilities against the maximum at their tile
    raised: np.ndarray  # bool [B, Hq, Nq, tiles], where the row's reference maximum was raised
    maximum: np.ndarray  # f32 [B, Hq, Nq], final reference maximum in code units
    denominator: np.ndarray  # f32 [B, Hq, Nq]


def quantized_attention(
    q,
    k,
    v,
    *,
    scale,
    cast,
    q_scale=None,
    k_scale=None,
    v_scale=None,
    means=None,
    mask=None,
    layout="bhtd",
    result_type="f32",
    **limits
):
    """Attention on codes with 8-bit probabilities; docs/Numerics.md, "Quantized attention".

    q, k: int8 or uint8 (E4M3) codes with q_scale [B, Hq, Nq] and k_scale [B, Hkv,
    blocks, groups], or float32 without. v: uint8 codes with v_scale [B, Hkv, Dv], or
    float32 without. means: f32 [B, Hkv, blocks, Dv] or None. cast: one of CASTS.
    limits: what Limits has.
    """
    q, k, v = (heads_first(np.asarray(x), layout) for x in (q, k, v))
    heads = q.shape[1]
    shape = (*q.shape[:3], k.shape[2])
    means = stored_means(means, v_scale) if means is not None else None
    k, v, k_scale, v_scale, means = (_per_query_head(x, heads) for x in (k, v, k_scale, v_scale, means))
    keep, added = _split_mask(mask, shape)
    keep = keep & Limits(**limits).seen(shape[2], shape[3])
    if added is not None:
        with np.errstate(over="ignore"):
            added = added * F32(CODE_UNITS)
        keep = keep & (added != -np.inf)  # what overflows here weighs nothing either

    step = F32(scale * CODE_UNITS * 2.0**-24)
    row = (np.ones(shape[:3], F32) if q_scale is None else q_scale) * step
    column = np.ones((*shape[:2], shape[3]), F32) if k_scale is None else scale_per_token(k_scale, shape[3])
    value = e4m3_decode(v) if v.dtype == np.uint8 else v.astype(F32)
    state = _Rows(shape, v.shape[3])
    for first in range(0, shape[3], TILE):
        keys = slice(first, min(first + TILE, shape[3]))
        scores, bias = _scores(q, k[:, :, keys])
        a = row[..., None] * column[:, :, None, keys]
        codes = state.cast_tile(
            scores, bias, a, keep[..., keys], None if added is None else added[..., keys], cast
        )
        mean = None if means is None else means[:, :, first // BLOCK]
        state.add_tile(e4m3_decode(codes), value[:, :, keys], mean)
    return state.finish(None if v_scale is None else v_scale[:, :, None], layout, result_type, cast)


def stored_means(means, v_scale):
    """Means in the unit in which the accumulator holds them: f16(mean / v_scale), or as they are."""
    if v_scale is None:
        return np.asarray(means, F32)
    with np.errstate(invalid="ignore"):
        return f16_bits(means / v_scale[:, :, None]).view(np.float16).astype(F32)


def _scores(q, k):
    """([B, H, Nq, keys] products as float32, the bias they carry)."""
    if q.dtype == np.int8:
        # |dot| <= 127^2 * D < 2^22: float64 and S8_BIAS + dot in float32 are exact.
        dot = q.astype(np.float64) @ k.astype(np.float64).swapaxes(2, 3)
        return (S8_BIAS + dot).astype(F32), S8_BIAS
    q, k = (e4m3_decode(x) if x.dtype == np.uint8 else x.astype(F32) for x in (q, k))
    # Products of values with at most 12 significant bits are exact: an fma is a product and a sum.
    short = not any(np.any(x.view(np.uint32) & 0xFFF) for x in map(np.ascontiguousarray, (q, k)))
    s = np.zeros((*q.shape[:3], k.shape[2]), F32)
    with np.errstate(invalid="ignore", over="ignore"):
        for d in range(q.shape[3]):
            x, y = q[..., d][..., None], k[..., d][:, :, None]
            s = s + x * y if short else fma32(x, y, s)
    return s, F32(0)


class _Rows:
    """The recurrence's state: one reference maximum, denominator and accumulator per row."""

    def __init__(self, shape, value_dim):
        self.m = np.full(shape[:3], -np.inf, F32)
        self.l = np.zeros(shape[:3], F32)
        self.acc = np.zeros((*shape[:3], value_dim))
        self.codes, self.raised = [], []

    def cast_tile(self, scores, bias, a, keep, added, cast):
        with np.errstate(invalid="ignore", over="ignore"):
            codes, over = self._codes(scores, bias, a, added, cast)
            raised = (keep & over).any(-1)
            if raised.any():
                t = (scores - bias) * (a * F32(2.0**24))
                t = t if added is None else t + added
                top = np.fmax.reduce(np.where(keep, t, F32(-np.inf)), -1)
                new = np.where(raised, np.fmax(self.m, top), self.m)
                factor = np.exp2(((self.m - new) * F32(0.125)).astype(np.float64)).astype(F32)
                factor = np.where(raised, np.where(self.m == -np.inf, F32(0), factor), F32(1))
                self.l, self.acc, self.m = self.l * factor, self.acc * factor[..., None], new
                again, _ = self._codes(scores, bias, a, added, cast)
                codes = np.where(raised[..., None], again, codes)
        codes = np.where(keep, codes, 0).astype(np.uint8)
        self.codes.append(codes)
        self.raised.append(raised)
        return codes

    def _codes(self, scores, bias, a, added, cast):
        """(codes, which of them would exceed the largest) of a tile against the present maximum."""
        split = EXACT_KEYS[cast]
        codes = np.empty(scores.shape, np.uint8)
        over = np.empty(scores.shape, bool)
        part = lambda keys: (scores[keys], bias, a[keys], None if added is None else added[keys])
        if split:
            keys = np.s_[..., :split]
            codes[keys], over[keys] = _exact_cast(self._octaves(*part(keys)))
        if split < scores.shape[-1]:
            keys = np.s_[..., split:]
            codes[keys], over[keys] = _expcast(self._code_units(*part(keys), TOP_CODE[cast]))
        return codes, over

    def _code_units(self, scores, bias, a, added, top):
        """y * 2^24, the E4M3 code before it is rounded; the scaling by a power of two is exact."""
        b = fma32(-bias, a, ((top - self.m) * SUBNORMAL)[..., None])
        y = fma32(scores, a, b)
        y = y if added is None else y + added * SUBNORMAL
        return y * F32(2.0**24)

    def _octaves(self, scores, bias, a, added):
        """The logarithm of the probability, 8 at the maximum."""
        a = a * F32(2.0**21)
        x = fma32(scores, a, fma32(-bias, a, ((F32(64) - self.m) * F32(0.125))[..., None]))
        return x if added is None else x + added * F32(0.125)

    def add_tile(self, p, value, means):
        # Exact: 64 multiples of 2^-9, together below 2^15.
        row_sum = p.astype(np.float64).sum(-1).astype(F32)
        with np.errstate(invalid="ignore", over="ignore"):
            self.l = self.l + row_sum
            self.acc = self.acc + p.astype(np.float64) @ value.astype(np.float64)
            if means is not None:
                self.acc = self.acc + row_sum[..., None].astype(np.float64) * means[:, :, None]

    def finish(self, v_scale, layout, result_type, cast):
        empty = self.l == 0
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            out = self.acc.astype(F32) / np.where(empty, F32(1), self.l)[..., None]
            out = out if v_scale is None else out * v_scale
            out = np.where(empty[..., None], F32(0), out)
            log = np.log2(self.l.astype(np.float64)).astype(F32)
            octaves = self.m * F32(0.125) + log - F32(8 + LSE_BIAS[cast])
            lse = np.where(empty, F32(-np.inf), octaves * F32(math.log(2)))
        cat = lambda parts, last: np.concatenate(parts, -1) if parts else np.zeros((*self.m.shape, 0), last)
        raised = cat([r[..., None] for r in self.raised], bool)
        return QuantizedAttention(
            as_layout(ROUND[result_type](out), layout),
            lse.astype(F32),
            cat(self.codes, np.uint8),
            raised,
            self.m,
            self.l,
        )


def _expcast(x):
    """Code units -> (E4M3 codes, which would exceed 126).

    The code is that of cvt.rn.relu.f16 on x * 2^-24: the subnormal's bits, that is
    x to nearest even, negatives 0, NaN 0x7FFF. Against a maximum just raised no
    code exceeds 126, except where scores are so large that FP32 spaces them by
    several code units; 126 is then the limit.
    """
    nan = np.isnan(x)
    rounded = np.rint(np.clip(np.where(nan, F32(0), x), 0, 1024))
    over = nan | (rounded > MAX_CODE)
    return np.where(nan, 0x7F, np.minimum(rounded, MAX_CODE)).astype(np.uint8), over


def _exact_cast(x):
    """The exponential in FP32 and one rounding to E4M3, against the same maximum."""
    value = np.exp2(x.astype(np.float64)).astype(F32)
    return e4m3_encode(value), np.isnan(value) | (value > TIE_ABOVE_MAX)


# ===--- The kernel's operands ---------------------------------------------=== #


def value_slot_order():
    """Key, within a block of 128, that each K slot of the value product holds.

    The score accumulator of a warp gives a lane columns 8 i + 2 quad + {0, 1}; the
    8-bit A fragment of a 32-key step wants slots 4 quad .. + 3 and 16 + 4 quad .. + 3
    (PTX ISA, wgmma register fragments). In this order the two agree.
    """
    slot = np.arange(BLOCK)
    step, half, quad, element = slot // 32, slot % 32 // 16, slot % 16 // 4, slot % 4
    return 32 * step + 16 * half + 8 * (element // 2) + 2 * quad + element % 2


def pack_values(codes, layout="bhtd"):
    """E4M3 codes -> [B, H, blocks, R + 8, 128], R = D in whole eights: transposed blocks in slot order, 8 rows for the sums."""
    codes = heads_first(codes, layout)
    b, h, n, d = codes.shape
    tiles = -(-n // BLOCK)
    padded = np.zeros((b, h, tiles * BLOCK, d), np.uint8)
    padded[:, :, :n] = codes
    rows = -(-d // 8) * 8
    packed = np.zeros((b, h, tiles, rows + 8, BLOCK), np.uint8)
    packed[..., :d, :] = padded.reshape(b, h, tiles, BLOCK, d)[:, :, :, value_slot_order()].swapaxes(3, 4)
    for tile in range(tiles):
        packed[:, :, tile, rows + tile % 8] = 0x38  # 1.0
    return packed


def pack_means(means, v_scale):
    """f16 bits (uint16) [B, H, ceil(tiles / 16), ceil(D / 8), 2, 8, 8]: cores of 8 channels x 8 tiles."""
    b, h, tiles, d = means.shape
    groups, eights = -(-tiles // 16), -(-d // 8)
    stored = np.zeros((b, h, groups * 16, eights * 8), F32)
    stored[:, :, :tiles, :d] = stored_means(means, v_scale)
    cores = f16_bits(stored).reshape(b, h, groups, 2, 8, eights, 8)  # core column, tile, core row, channel
    return np.ascontiguousarray(cores.transpose(0, 1, 2, 5, 3, 6, 4))
