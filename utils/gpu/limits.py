"""What the check of masks, windows, lengths and block masks on a GPU runs.

Both machines, the one that compiles and the one with the GPU, make the inputs
from this file; see cases.py.
"""
from dataclasses import dataclass

import numpy as np
from cases import BLOCK_TOKENS, DIM, SCALE, mix, normals, to_bf16

BATCH, QUERY_HEADS, KEY_HEADS = 2, 4, 2
SIZES = [(n, n) for n in (1, 127, 128, 129, 1000)]
SIZES += [(200, n) for n in (1, 127, 128, 129, 1000)] + [(77, 3000), (1500, 400), (2500, 2500)]


@dataclass(frozen=True)
class Limit:
    """One library: its attributes, the types of its further operands, and what makes them."""

    name: str
    scores: str = "i8"
    layout: str = "bhtd"
    causal: str = "none"
    window: tuple = (-1, -1)
    mask: str = ""  # element type
    mask_full: tuple = (True, True, True, True)  # which dimensions are not 1
    lengths: bool = False
    blocks: tuple = ()  # the same for the first two dimensions

    def types(self):
        """(word, type) of the operands after q, k and v."""
        result = []
        if self.mask:
            result.append(("mask", f"tensor<?x?x?x?x{self.mask}>"))
        if self.lengths:
            result.append(("lengths", "tensor<?xi32>"))
        if self.blocks:
            result.append(("blocks", "tensor<?x?x?x?xi1>"))
        return result

    def module(self):
        tokens = ["?", "?", "?", "128"]
        heads = 1 if self.layout == "bhtd" else 2
        tokens[heads] = str(QUERY_HEADS)
        q = f"tensor<{'x'.join(tokens)}xbf16>"
        tokens[heads] = str(KEY_HEADS)
        kv = f"tensor<{'x'.join(tokens)}xbf16>"
        lse = f"tensor<?x{QUERY_HEADS}x?xf32>"
        more = "".join(f", %x{i}: {t}" for i, (_, t) in enumerate(self.types()))
        words = "".join(f" {word} %x{i} : {t}" for i, (word, t) in enumerate(self.types()))
        attributes = (
            f"scale = {SCALE!r} : f64, layout = #vcattn.layout<{self.layout}>, "
            f"causal = #vcattn.causality<{self.causal}>"
        )
        if self.window != (-1, -1):
            attributes += f", window = #vcattn.window<left = {self.window[0]}, right = {self.window[1]}>"
        return (
            f"func.func @attention(%q: {q}, %k: {kv}, %v: {kv}{more}) -> ({q}, {lse}) {{\n"
            f"  %o, %l = vcattn.attention %q, %k, %v{words} {{{attributes}}} : {q}, {kv}, {kv} -> {q}, {lse}\n"
            f"  return %o, %l : {q}, {lse}\n}}\n"
        )


LIMITS = [
    Limit("top_left", causal="top_left"),
    Limit("bottom_right", causal="bottom_right"),
    Limit("bottom_right-e4m3", causal="bottom_right", scores="f8E4M3FN", layout="bthd"),
    Limit("window", causal="bottom_right", window=(300, -1), layout="bthd"),
    Limit("window-both", window=(150, 40)),
    Limit("window-right", window=(-1, 130), scores="f8E4M3FN"),
    Limit("lengths", lengths=True),
    Limit("lengths-causal", lengths=True, causal="bottom_right", window=(1200, -1), layout="bthd"),
    Limit("mask-i1", mask="i1"),
    Limit("mask-i1-keys", mask="i1", mask_full=(True, False, False, True), layout="bthd"),
    Limit("mask-f32", mask="f32", mask_full=(False, True, True, True)),
    Limit("mask-bf16-causal", mask="bf16", mask_full=(False, False, True, True), causal="top_left", scores="f8E4M3FN"),
    Limit("blocks", blocks=(True, True)),
    Limit("blocks-causal", blocks=(False, False), causal="top_left", layout="bthd"),
    Limit("everything", mask="f16", lengths=True, blocks=(True, False), causal="bottom_right", window=(700, -1)),
]


# Name, attributes and score format of the kernels that are timed.
BENCHMARKS = [
    ("causal-i8", "causal = #vcattn.causality<top_left>", "i8"),
    ("causal-e4m3", "causal = #vcattn.causality<top_left>", "f8E4M3FN"),
    ("window-i8", "causal = #vcattn.causality<top_left>, window = #vcattn.window<left = 4096>", "i8"),
]


@dataclass(frozen=True)
class LimitCase:
    limit: Limit
    queries: int
    keys: int
    seed: int

    @property
    def name(self):
        return f"{self.limit.name}-{self.queries}x{self.keys}"

    def order(self, x):
        return np.ascontiguousarray(x if self.limit.layout == "bhtd" else x.transpose(0, 2, 1, 3))

    def chance(self, which, *shape):
        """Uniform numbers below 1."""
        count = int(np.prod(shape))
        seed = np.uint64((8 * self.seed + which) << 36)
        return (mix(np.arange(count, dtype=np.uint64) + seed) >> np.uint64(40)).astype(np.float64).reshape(shape) / 2**24

    def lengths(self):
        return np.array([self.keys * 5 // 7, (0, self.keys, 1)[self.seed % 3]], np.int32)

    def inputs(self):
        """All operands: floats as bits of bf16, masks as bytes or floats."""
        q = normals(8 * self.seed, BATCH, QUERY_HEADS, self.queries, DIM)
        k = normals(8 * self.seed + 1, BATCH, KEY_HEADS, self.keys, DIM)
        v = normals(8 * self.seed + 2, BATCH, KEY_HEADS, self.keys, DIM)
        q, k, v = (to_bf16(x) for x in (2 * q, k, v + np.float32(0.5)))
        if self.limit.lengths:  # padding is NaN
            for b, n in enumerate(self.lengths()):
                k[b, :, n:] = v[b, :, n:] = 0x7FC0
        operands = [self.order(x) for x in (q, k, v)]
        if self.limit.mask:
            full = (BATCH, QUERY_HEADS, self.queries, self.keys)
            shape = [n if is_full else 1 for n, is_full in zip(full, self.limit.mask_full)]
            keeps = self.chance(3, *shape) < 0.6
            values = np.float32(3) * (self.chance(4, *shape).astype(np.float32) - np.float32(0.5))
            values = np.where(keeps, values, np.float32(-np.inf))
            # -inf has no rounding to be carried into.
            bf16 = np.where(keeps, to_bf16(np.where(keeps, values, 0)), 0xFF80).astype(np.uint16)
            kinds = {"i1": keeps, "f32": values, "f16": values.astype(np.float16), "bf16": bf16}
            operands.append(np.ascontiguousarray(kinds[self.limit.mask]))
        if self.limit.lengths:
            operands.append(self.lengths())
        if self.limit.blocks:
            b, h = (n if is_full else 1 for n, is_full in zip((BATCH, QUERY_HEADS), self.limit.blocks))
            operands.append(self.chance(5, b, h, -(-self.queries // BLOCK_TOKENS), -(-self.keys // BLOCK_TOKENS)) < 0.5)
        return operands

    def results(self):
        """Shape and NumPy type of the result and of the log-sum-exp."""
        out = (BATCH, QUERY_HEADS, self.queries, DIM)
        if self.limit.layout == "bthd":
            out = (BATCH, self.queries, QUERY_HEADS, DIM)
        return [(out, "uint16"), ((BATCH, QUERY_HEADS, self.queries), "float32")]

    def rows(self, out, limit=192):
        """Sampled rows of a result, and their numbers."""
        out = self.order(out).reshape(-1, DIM)
        at = np.unique(np.linspace(0, len(out) - 1, min(len(out), limit)).astype(np.int64))
        return out[at], at


def limit_cases():
    seed = 0
    for limit in LIMITS:
        for queries, keys in SIZES:
            seed += 1
            yield LimitCase(limit, queries, keys, seed)
