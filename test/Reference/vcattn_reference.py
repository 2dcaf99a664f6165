# ===- vcattn_reference.py - The numerics contract, executable -------------=== #
#
# Part of the vcattn project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""Reference of every level-2 op, written from docs/Numerics.md and nothing else.

One function per op, NumPy only:

    center_keys  correct_lse  merge_attention  hadamard  cluster  gather_tokens  block_residual  quantize
    compensate_means  quantized_attention  pack_values  pack_means  attention (exact, FP64)

Floats come in as float32 arrays (bf16 and f16 values are float32 values too),
codes as int8 (i8) or uint8 (E4M3 bytes, packed E2M1). Where the contract says
FP32, each operation is one float32 operation in the stated order; loops run
over the dimension whose order matters, and only over that.

Dimensions: B batch, H heads (Hq of queries, Hkv of keys and values), N tokens
(Nq, Nk), D channels (Dv of values). `layout` is the order of rank-4 operands
and results, "bhtd" or "bthd"; side tensors are always [B, H, ...].
"""

from typing import NamedTuple, Optional

import numpy as np

from attention_reference import *  # noqa: F401,F403
from attention_reference import attention, quantized_attention  # noqa: F401
from generators import KINDS, inputs  # noqa: F401
from method_reference import *  # noqa: F401,F403
from method_reference import (
    block_residual,
    center_keys,
    cluster,
    compensate_means,
    correct_lse,
    gather_tokens,
    hadamard,
    merge_attention,
    quantize,
)
from number_formats import *  # noqa: F401,F403


def relative_l2(got, want):
    """||got - want|| / ||want||, in FP64."""
    got, want = np.asarray(got, np.float64), np.asarray(want, np.float64)
    return float(np.linalg.norm(got - want) / np.linalg.norm(want))


class Prepared(NamedTuple):
    """The operands of quantized_attention, and what made them."""

    q: np.ndarray
    q_scale: np.ndarray
    k: np.ndarray
    k_scale: np.ndarray
    v: np.ndarray
    v_scale: np.ndarray
    means: Optional[np.ndarray]
    k_mean: np.ndarray
    permutation: Optional[np.ndarray]


def prepare(
    q, k, v, *, scores="i8", smooth_values=True, clusters=64, iterations=4, permutation=None, layout="bhtd"
):
    """The whole method in front of the kernel: what smooth-keys, smooth-values and quantize make of q, k, v."""
    centred, k_mean = center_keys(k, layout)
    q, k, means = hadamard(q), hadamard(centred), None
    if smooth_values:
        if permutation is None:
            permutation = cluster(v, clusters, iterations, layout).permutation
        k, v = (gather_tokens(x, permutation, layout) for x in (k, v))
        v, means = block_residual(v, layout)
    q8 = quantize(q, scores, "token", layout=layout)
    k8 = quantize(k, scores, "block", groups=4, layout=layout)
    v8 = quantize(v, "f8E4M3FN", "channel", bound=means, layout=layout)
    if means is not None:
        means = compensate_means(means, v8.codes, v8.scales, layout)
    return Prepared(q8.codes, q8.scales, k8.codes, k8.scales, v8.codes, v8.scales, means, k_mean, permutation)


def vc_attention(
    q, k, v, *, scale, cast="expcast", layout="bhtd", result_type="bf16", prepared=None, **options
):
    """Attention by the whole method: (result, lse). `options` are prepare's."""
    x = prepared or prepare(q, k, v, layout=layout, **options)
    y = quantized_attention(
        x.q,
        x.k,
        x.v,
        scale=scale,
        cast=cast,
        q_scale=x.q_scale,
        k_scale=x.k_scale,
        v_scale=x.v_scale,
        means=x.means,
        layout=layout,
        result_type=result_type,
    )
    return y.result, correct_lse(q, x.k_mean, y.lse, scale, layout)
