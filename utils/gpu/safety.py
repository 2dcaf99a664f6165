#!/usr/bin/env python3
"""Tests on a Hopper GPU of what a caller relies on besides numbers: safety.py FOLDER [SUBSTRING...]

FOLDER is what prepare.py and prepare_safety.py made. Runs the tests whose names
contain a SUBSTRING, all by default, prints one line each and exits with 1 if one
fails. Needs CUDA's driver, PyTorch and NumPy.
"""
import base64
import ctypes
import json
import subprocess
import sys
import time
import traceback
from pathlib import Path

import numpy as np
import torch
from abi import GpuFunction
from cases import DIM, SCALE, Case
from check import Library, allocate, upload

TESTS = []
# A huge stride, in elements: past 2^31 and, for the last of three heads, tokens or batches, past 2^32.
HUGE = 2**31 + 4096


def test(function):
    TESTS.append(function)
    return function


class Folder:
    def __init__(self, path):
        self.path = Path(path) / "safety"
        self.libraries = {}

    def __getitem__(self, name):
        if name not in self.libraries:
            self.libraries[name] = Library(self.path / f"{name}.so")
        return self.libraries[name]


def normal(*shape, seed=1, dtype=torch.bfloat16):
    generator = torch.Generator(device="cuda").manual_seed(seed)
    return torch.randn(*shape, device="cuda", generator=generator).to(dtype)


def qkv(batch, heads, queries, keys, key_heads=None, seed=1):
    sizes = [(batch, heads, queries), (batch, key_heads or heads, keys), (batch, key_heads or heads, keys)]
    return [normal(*size, DIM, seed=10 * seed + i) for i, size in enumerate(sizes)]


def attend(library, q, k, v, out=None, lse=None, suffix=""):
    """attention_lse (of another layout or causality by its suffix) on fresh outputs, or on those that are given."""
    out = torch.empty(*q.shape, device="cuda") if out is None else out
    lse = torch.empty(q.shape[:3], device="cuda") if lse is None else lse
    library.run(f"attention_lse{suffix}", [q, k, v], [out, lse])
    return out, lse


def exact(q, k, v, offset=None):
    """Attention in FP64 and its log-sum-exp, head by head; query i sees keys up to i + offset."""
    out, lse = torch.empty(*q.shape, device="cuda"), torch.empty(q.shape[:3], device="cuda")
    group = q.shape[1] // k.shape[1]
    for b in range(q.shape[0]):
        for h in range(q.shape[1]):
            s = q[b, h].double() @ k[b, h // group].double().T * SCALE
            if offset is not None:
                s = s.masked_fill(torch.ones_like(s, dtype=torch.bool).triu(offset + 1), -torch.inf)
            lse[b, h] = s.logsumexp(-1)
            out[b, h] = s.softmax(-1).nan_to_num(0) @ v[b, h // group].double()
    return out, lse


def relative(got, want):
    return ((got.double() - want.double()).norm() / want.double().norm()).item()


def same(a, b):
    """Whether two tensors have the same bits."""
    kind = {1: torch.uint8, 2: torch.int16, 4: torch.int32}[a.element_size()]
    return torch.equal(a.contiguous().view(kind), b.contiguous().view(kind))


def surrounded(x, margin=3):
    """`x` inside a buffer of NaN (or of its bits): a view with other strides. Also the buffer, and where x is not."""
    shape = [*(n + 2 * margin for n in x.shape[:-1]), x.shape[-1] + 128]
    bytes_ = torch.full((*shape[:-1], shape[-1] * x.element_size()), 0xFF, dtype=torch.uint8, device="cuda")
    buffer = bytes_.view(x.dtype)
    inside = tuple(slice(margin, margin + n) for n in x.shape[:-1]) + (slice(64, 64 + x.shape[-1]),)
    buffer[inside].copy_(x)
    outside = torch.ones(shape, dtype=torch.bool, device="cuda")
    outside[inside] = False
    return buffer[inside], buffer, outside


def untouched(buffer, outside):
    return bool((buffer.contiguous().view(torch.uint8).view(*buffer.shape, -1)[outside] == 0xFF).all())


def packed_operands(library, heads, queries, keys, seed=3):
    """The function `kernel`'s operands, and a place for its result."""
    case = Case("bhtd", "i8", heads, heads, queries, keys, "gaussian", seed)
    q, k, v = qkv(1, heads, queries, keys, seed=seed)
    names = ("q_codes", "q_scales", "k_codes", "k_scales", "v_packed", "v_scales", "means")
    return library.run("pack", [q, k, v], allocate(case, *names)), allocate(case, "out")[0]


# ===--- Log-sum-exp and merging -------------------------------------------=== #


@test
def lse_is_the_cpus(folder):
    for expected in json.loads((folder.path / "lse.json").read_text()):
        case = Case(**expected["case"])
        q, k, v = map(upload, case.inputs())
        _, lse = attend(folder["safety"], q, k, v)
        want = np.frombuffer(base64.b64decode(expected["lse"]), np.float32).reshape(lse.shape)
        worst = np.abs(lse.cpu().numpy() - want).max()
        # Row sums are added by the matrix unit, with about 14 bits within a tile.
        assert worst < (4e-3 if case.kind == "peaked" else 1e-3), f"{case.name}: {worst}"


@test
def lse_has_little_bias_and_spread(folder):
    for tokens, factor, mean, spread in ((2048, 1, 1e-3, 5e-3), (8192, 1, 5e-4, 3e-3), (8192, 3, 8e-3, 0.016)):
        q, k, v = qkv(1, 4, tokens, tokens)
        q, k = (factor * q)[:, :, :1000].contiguous(), k + torch.linspace(-2, 2, DIM, device="cuda").bfloat16()
        error = attend(folder["safety"], q, k, v)[1].double() - exact(q, k, v)[1].double()
        assert abs(error.mean()) < mean and error.std() < spread, f"{tokens}, {factor}: {error.mean():.5f} {error.std():.5f}"


@test
def shards_merge_to_the_whole(folder):
    library = folder["safety"]
    q, k, v = qkv(1, 4, 300, 5000, key_heads=2)
    k = k + torch.linspace(-1, 1, DIM, device="cuda").bfloat16()
    want, want_lse = exact(q, k, v)
    whole, _ = attend(library, q, k, v)
    for count in (2, 4, 8):
        edges = [5000 * i // count for i in range(count + 1)]
        parts = [attend(library, q, k[:, :, a:b], v[:, :, a:b]) for a, b in zip(edges, edges[1:])]
        out, lse = torch.empty_like(whole), torch.empty_like(want_lse)
        library.run("merge", [torch.stack([x[i] for x in parts]) for i in (0, 1)], [out, lse])
        error = lse - want_lse
        assert relative(out, want) < 1.1 * relative(whole, want), f"{count}: {relative(out, want)}, whole {relative(whole, want)}"
        assert abs(error.mean()) < 1e-3 and error.std() < 5e-3, f"{count}: lse {error.mean():.5f} {error.std():.5f}"


@test
def split_keys_give_the_whole(folder):
    for keys in (1, 2048, 2049, 4096, 5000, 33000):
        for heads, key_heads, queries in ((8, 2, 1), (4, 4, 64), (2, 1, 200)):
            q, k, v = qkv(1, heads, queries, keys, key_heads=key_heads, seed=keys % 100 + 1)
            want, want_lse = exact(q, k, v)
            whole, whole_lse = attend(folder["safety"], q, k, v)
            for split in (2048, 8192):
                out, lse = attend(folder[f"split-{split}"], q, k, v)
                again, _ = attend(folder[f"split-{split}"], q, k, v)
                assert same(out, again), "not deterministic"
                where = f"{heads} x {queries}, {keys} keys by {split}"
                if keys <= split:
                    assert same(out, whole) or relative(out, whole) < 1e-6, where
                assert relative(out, want) < 1.05 * relative(whole, want) + 1e-4, f"{where}: {relative(out, want)}"
                assert (lse - whole_lse).abs().max() < 0.03, f"{where}: lse {(lse - whole_lse).abs().max()}"


@test
def split_keys_respect_causality(folder):
    # Shards of which a query sees nothing, part or all; rows that see no key at all.
    for queries, keys in ((1, 5000), (64, 5000), (200, 5000), (600, 33000), (300, 200), (4200, 4100)):
        q, k, v = qkv(1, 2, queries, keys, key_heads=1)
        for suffix, offset in (("_top_left", 0), ("_bottom_right", keys - queries)):
            want, want_lse = exact(q, k, v, offset)
            for split in ("split-2048", "split-8192"):
                (whole, whole_lse), (out, lse) = (attend(folder[name], q, k, v, suffix=suffix) for name in ("safety", split))
                where = f"{queries} queries, {keys} keys, {suffix}, {split}"
                empty = want_lse == -torch.inf
                assert torch.equal(lse == -torch.inf, empty) and bool((out[empty] == 0).all()), f"{where}: empty rows"
                assert relative(out, want) < 1.05 * relative(whole, want) + 1e-4, f"{where}: {relative(out, want)}"
                assert (lse - whole_lse)[~empty].abs().max() < 0.05, f"{where}: lse {(lse - whole_lse)[~empty].abs().max()}"


@test
def layouts_give_equal_bits(folder):
    for name in ("safety", "split-2048"):
        q, k, v = qkv(2, 4, 150, 5000, key_heads=2)
        want = attend(folder[name], q, k, v)
        swapped = [x.transpose(1, 2).contiguous() for x in (q, k, v)]
        out, lse = torch.empty(*swapped[0].shape, device="cuda"), torch.empty_like(want[1])
        folder[name].run("attention_lse_bthd", swapped, [out, lse])
        assert same(out.transpose(1, 2), want[0]) and same(lse, want[1]), name


# ===--- Memory ------------------------------------------------------------=== #


@test
def surroundings_are_neither_read_nor_written(folder):
    for heads, key_heads, queries, keys in ((2, 2, 5, 5), (2, 1, 129, 127), (2, 2, 200, 1000), (1, 1, 128, 2176)):
        x = qkv(2, heads, queries, keys, key_heads=key_heads)
        for name in ("safety", "split-2048"):
            want = attend(folder[name], *x)
            places = [surrounded(y) for y in x]
            outs = [surrounded(y.clone()) for y in want]
            for y, _, _ in outs:
                y.fill_(float("nan"))
            attend(folder[name], *[y for y, _, _ in places], *[y for y, _, _ in outs])
            for (got, buffer, outside), y in zip(outs, want):
                assert same(got, y), f"{name}: {heads} x {queries}, {keys} keys: surroundings change the result"
                assert untouched(buffer, outside), f"{name}: {heads} x {queries}, {keys} keys: written outside"


@test
def surroundings_of_codes_are_not_read(folder):
    library = folder["safety"]
    for queries, keys in ((5, 5), (129, 127), (200, 1000), (128, 2176)):
        operands, out = packed_operands(library, 2, queries, keys)
        library.run("kernel", operands, [out])
        # Code strides are multiples of 16 bytes, as the copy unit wants them.
        views = [surrounded(x)[0] for x in operands]
        # Those of key scales are given: a head's are one piece.
        scales = operands[3]
        views[3] = surrounded(scales.flatten(2))[0].unflatten(2, scales.shape[2:])
        place, buffer, outside = surrounded(torch.zeros_like(out))
        library.run("kernel", views, [place])
        assert same(place, out), f"{queries} queries, {keys} keys: surroundings change the result"
        assert untouched(buffer, outside), f"{queries} queries, {keys} keys: written outside"


@test
def workspace_may_hold_anything(folder):
    q, k, v = qkv(1, 2, 200, 5000)
    for name in ("safety", "split-2048"):
        want = attend(folder[name], q, k, v)
        got = [torch.empty_like(x) for x in want]
        function, tensors = GpuFunction(folder[name].library, "attention_lse"), [q, k, v, *got]
        size = function.workspace_size(tensors)
        guarded = torch.full((size + 4096,), 0xFF, dtype=torch.uint8, device="cuda")
        function.bind(tensors, guarded.data_ptr(), size, torch.cuda.current_stream().cuda_stream)()
        torch.cuda.synchronize()
        assert all(map(same, got, want)), f"{name}: depends on the workspace's bytes"
        assert bool((guarded[size:] == 0xFF).all()), f"{name}: written past the workspace"


def huge_view(buffer, x, offset, dim):
    """`x` copied into the buffer from `offset` on, with a huge stride in dimension `dim`."""
    strides = list(x.contiguous().stride())
    for d in range(len(strides)):
        # The dimensions outside come after all of the others' extent.
        strides[d] = HUGE if d == dim else strides[d] if d > dim else strides[d] // x.shape[dim]
    view = torch.as_strided(buffer.view(x.dtype), x.shape, strides, offset)
    view.copy_(x)
    return view


@test
def strides_beyond_32_bits(folder):
    # q, k and v in one buffer, as a fused projection has them. The third entry of the dimension starts past 2^32.
    buffer = torch.empty(2 * HUGE + 2**27, dtype=torch.bfloat16, device="cuda")
    results = torch.empty(2 * HUGE + 2**22, dtype=torch.float32, device="cuda")
    for dim, (batch, heads, queries, keys) in ((0, (3, 2, 150, 300)), (1, (1, 3, 150, 300)), (2, (1, 2, 3, 3))):
        x = qkv(batch, heads, queries, keys)
        want = attend(folder["safety"], *x)
        views = [huge_view(buffer, y, 2**22 * i, dim) for i, y in enumerate(x)]
        assert max((y.shape[dim] - 1) * y.stride(dim) for y in views) > 2**32
        out = huge_view(results, torch.zeros_like(want[0]), 0, dim)
        lse = huge_view(results, torch.zeros_like(want[1]), 2**21, dim)
        attend(folder["safety"], *views, out, lse)
        assert same(out, want[0]) and same(lse, want[1]), f"dimension {dim}"


@test
def code_strides_beyond_32_bits(folder):
    library = folder["safety"]
    operands, out = packed_operands(library, 3, 150, 300)
    library.run("kernel", operands, [out])
    buffers = [torch.empty(2 * HUGE + 2**22, dtype=torch.uint8, device="cuda") for _ in range(3)]
    views = list(operands)
    for i, buffer in zip((0, 2, 4), buffers):  # what the copy unit reads: codes of queries, keys, values
        views[i] = huge_view(buffer, operands[i], 0, 1)
    del buffer
    got = torch.empty_like(out)
    library.run("kernel", views, [got])
    assert same(got, out)


# ===--- Determinism -------------------------------------------------------=== #


@test
def equal_from_run_to_run(folder):
    for name in ("safety", "split-2048"):
        q, k, v = qkv(2, 4, 300, 5000)
        want = attend(folder[name], q, k, v)
        for _ in range(5):
            assert all(map(same, attend(folder[name], q, k, v), want)), name


@test
def a_head_does_not_depend_on_the_others(folder):
    for name in ("safety", "split-2048"):
        q, k, v = qkv(3, 8, 200, 3000, key_heads=4)
        want = attend(folder[name], q, k, v)
        for b in range(3):
            got = attend(folder[name], *(x[b : b + 1] for x in (q, k, v)))
            assert all(same(x[0], y[b]) for x, y in zip(got, want)), f"{name}: batch entry {b}"
        for h in (0, 3):
            got = attend(folder[name], q[:, 2 * h : 2 * h + 2], k[:, h : h + 1], v[:, h : h + 1])
            assert all(same(x, y[:, 2 * h : 2 * h + 2]) for x, y in zip(got, want)), f"{name}: key head {h}"
    # More work than a grid has blocks, in another order.
    q, k, v = qkv(40, 8, 130, 500)
    out, _ = attend(folder["safety"], q, k, v)
    for b in (0, 17, 39):
        assert same(attend(folder["safety"], *(x[b : b + 1] for x in (q, k, v)))[0][0], out[b]), f"batch entry {b} of 40"


@test
def a_row_does_not_depend_on_the_tiling(folder):
    for factor in (1, 3):
        q, k, v = qkv(1, 2, 600, 3000)
        q = factor * q
        for name in ("safety", "split-2048"):
            want = attend(folder[name], q, k, v)
            for first, last in ((0, 1), (0, 64), (37, 101), (1, 600), (129, 385), (599, 600)):
                got = attend(folder[name], q[:, :, first:last], k, v)
                assert all(same(x, y[:, :, first:last]) for x, y in zip(got, want)), f"{name}: rows {first} to {last}"


# ===--- Bounded waits -----------------------------------------------------=== #


@test
def bounded_waits_change_nothing(folder):
    for queries, keys in ((1, 1), (200, 5000), (64, 100000)):
        q, k, v = qkv(1, 4, queries, keys)
        want, got = (attend(folder[name], q, k, v) for name in ("safety", "safety-debug"))
        assert all(map(same, got, want)), f"{queries} queries, {keys} keys"


WAIT_FOR_EVER = """
import ctypes, sys
cuda = ctypes.CDLL("libcuda.so.1")
context, module, kernel = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
def check(code): assert code == 0, code
check(cuda.cuInit(0)); check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)); check(cuda.cuCtxSetCurrent(context))
check(cuda.cuModuleLoadData(ctypes.byref(module), open(sys.argv[1], "rb").read() + b"\\0"))
check(cuda.cuModuleGetFunction(ctypes.byref(kernel), module, b"never_filled"))
check(cuda.cuLaunchKernel(kernel, 1, 1, 1, 128, 1, 1, 2048, None, None, None))
code = cuda.cuCtxSynchronize(); print(code); sys.exit(3 if code else 0)
"""


@test
def a_wait_for_ever_traps(folder):
    start = time.time()
    command = [sys.executable, "-c", WAIT_FOR_EVER, str(folder.path / "never.ptx")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 3, f"exit status {done.returncode}: {done.stdout}{done.stderr}"
    assert time.time() - start < 30
    return f"after {time.time() - start:.1f} s"


# ===--- For the sanitizer -------------------------------------------------=== #


def small(folder):
    """A few shapes of each kernel, for tools that slow them down; not among the tests."""
    for name in ("safety", "split-2048"):
        for queries, keys in ((5, 5), (130, 300), (64, 2300)):
            attend(folder[name], *qkv(1, 2, queries, keys, key_heads=1))
    out, lse = torch.empty(1, 2, 64, DIM, device="cuda"), torch.empty(1, 2, 64, device="cuda")
    folder["safety"].run("merge", [torch.ones(3, 1, 2, 64, DIM, device="cuda"), torch.zeros(3, 1, 2, 64, device="cuda")], [out, lse])


class Overstated:
    """A tensor said to have more queries than it has."""

    def __init__(self, x, queries):
        self.shape, self.data_ptr, self.stride = (*x.shape[:2], queries, *x.shape[3:]), x.data_ptr, x.stride


def overrun(folder):
    """A call that writes past its result: what memcheck has to find, or it looks elsewhere."""
    q, k, v = qkv(1, 1, 4096, 128)
    out, lse = torch.empty(1, 1, 64, DIM, device="cuda"), torch.empty(1, 1, 4096, device="cuda")
    folder["safety"].run("attention_lse", [q, k, v], [Overstated(out, 4096), lse])


def main():
    folder, names = Folder(sys.argv[1]), sys.argv[2:]
    if names in (["small"], ["overrun"]):
        {"small": small, "overrun": overrun}[names[0]](folder)
        return 0
    failed = []
    for function in TESTS:
        if names and not any(name in function.__name__ for name in names):
            continue
        start = time.time()
        try:
            note = function(folder)
            print(f"PASSED {function.__name__} ({time.time() - start:.1f} s){f': {note}' if note else ''}", flush=True)
        except Exception as error:  # a report of everything is wanted
            failed.append(function.__name__)
            where = traceback.extract_tb(error.__traceback__)[-1]
            print(f"FAILED {function.__name__}, line {where.lineno}: {type(error).__name__}: {error}", flush=True)
            if "CUDA error" in str(error):  # the context is lost
                break
        torch.cuda.empty_cache()
    print(f"{len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
