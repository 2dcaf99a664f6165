# ===- test_memory_and_order.py - What a library reads and depends on -------=== #
#
# Part of the vcattn project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""A library for the CPU reads its operands and nothing around them, with any strides; a row's bits are its own.

utils/gpu/safety.py asks the same of a library for a GPU.
"""
import ctypes
import mmap
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ.get("VCATTN_BIN", ROOT / "build" / "bin"))
sys.path.insert(0, str(ROOT / "utils" / "gpu"))
import abi  # noqa: E402

pytestmark = pytest.mark.skipif(not (BIN / "vcattn-compile").exists(), reason="vcattn-compile is not built")

DIM = 64
TENSOR = f"tensor<?x?x?x{DIM}xf32>"
MODULE = f"""
func.func @attend(%q: {TENSOR}, %k: {TENSOR}, %v: {TENSOR}) -> ({TENSOR}, tensor<?x?x?xf32>) {{
  %o, %lse = vcattn.attention %q, %k, %v {{scale = 0.125 : f64}} : {TENSOR}, {TENSOR}, {TENSOR} -> {TENSOR}, tensor<?x?x?xf32>
  return %o, %lse : {TENSOR}, tensor<?x?x?xf32>
}}
"""


@pytest.fixture(scope="module")
def attend(tmp_path_factory):
    folder = tmp_path_factory.mktemp("library")
    (folder / "attend.mlir").write_text(MODULE)
    command = [BIN / "vcattn-compile", folder / "attend.mlir", "--target=cpu", "--emit=so", "-o", folder / "attend.so"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    function = abi.CpuFunction(ctypes.CDLL(str(folder / "attend.so")), "attend")
    return lambda q, k, v: function((q, k, v), [(q.shape, np.float32), (q.shape[:3], np.float32)])


def qkv(batch, heads, queries, keys, key_heads=None, seed=0):
    rng = np.random.default_rng(seed)
    sizes = [(batch, heads, queries), (batch, key_heads or heads, keys), (batch, key_heads or heads, keys)]
    return [rng.standard_normal((*size, DIM), np.float32) for size in sizes]


def equal(got, want):
    for x, y in zip(got, want):
        np.testing.assert_array_equal(x.view(np.uint32), np.ascontiguousarray(y).view(np.uint32))


def surrounded(x, margin=3):
    """`x` as a view into an array of NaN."""
    buffer = np.full([n + 2 * margin for n in x.shape], np.nan, x.dtype)
    inside = tuple(slice(margin, margin + n) for n in x.shape)
    buffer[inside] = x
    return buffer[inside]


@pytest.mark.parametrize("queries, keys", [(5, 5), (129, 127), (40, 300)])
def test_surroundings_are_not_read(attend, queries, keys):
    x = qkv(2, 2, queries, keys, key_heads=1)
    equal(attend(*map(surrounded, x)), attend(*x))


MAP_NORESERVE = 0x4000


@pytest.mark.skipif(sys.platform != "linux", reason="memory that is only there where it is used takes Linux")
@pytest.mark.parametrize("dim, sizes", [(0, (3, 1, 20, 40)), (1, (1, 3, 20, 40)), (2, (1, 1, 3, 3))])
def test_strides_beyond_32_bits(attend, dim, sizes):
    stride = 2**31 + 4096  # elements; the third entry starts past 2^32
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_NORESERVE
    try:
        memory = mmap.mmap(-1, 4 * (2 * stride + 2**20), flags=flags)
    except OSError as error:
        pytest.skip(f"no {4 * 2 * stride >> 30} GiB of address space: {error}")
    buffer = np.frombuffer(memory, np.float32)
    x = qkv(*sizes)
    views = []
    for i, y in enumerate(x):
        strides = [s // 4 for s in y.strides]
        strides = [stride if d == dim else s if d > dim else s // y.shape[dim] for d, s in enumerate(strides)]
        view = np.lib.stride_tricks.as_strided(buffer[i * 2**16 :], y.shape, [4 * s for s in strides])
        view[...] = y
        views.append(view)
    equal(attend(*views), attend(*x))


def test_a_head_does_not_depend_on_the_others(attend):
    q, k, v = qkv(3, 4, 70, 300, key_heads=2)
    want = attend(q, k, v)
    equal(attend(q, k, v), want)
    for b in range(3):
        equal(attend(q[b : b + 1], k[b : b + 1], v[b : b + 1]), [x[b : b + 1] for x in want])
    for h in range(2):
        got = attend(q[:, 2 * h : 2 * h + 2], k[:, h : h + 1], v[:, h : h + 1])
        equal(got, [x[:, 2 * h : 2 * h + 2] for x in want])


@pytest.mark.parametrize("factor", [1, 4])
def test_a_row_does_not_depend_on_the_tiling(attend, factor):
    q, k, v = qkv(1, 2, 150, 300)
    q = factor * q
    want = attend(q, k, v)
    for first, last in ((0, 1), (37, 101), (1, 150), (149, 150)):
        equal(attend(q[:, :, first:last], k, v), [x[:, :, first:last] for x in want])
