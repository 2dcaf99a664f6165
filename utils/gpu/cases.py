"""What the check on a GPU runs: inputs from integers alone, shapes, cases.

Both machines, the one that compiles and the one with the GPU, make the inputs
from this file: integer arithmetic has the same result everywhere.
"""
import zlib
from dataclasses import asdict, dataclass

import numpy as np

DIM = BLOCK_TOKENS = 128
SCALE = DIM**-0.5
CASTS = ("expcast", "exact", "hybrid")
KINDS = ("gaussian", "clustered", "constant")
# Scores with a deviation of 3, and scores of some 100,000: probabilities of 0 and 1.
MORE_KINDS = ("peaked", "huge")


def mix(x):
    """A hash of 64-bit integers (an xorshift-multiply finalizer)."""
    x = x.astype(np.uint64)
    x ^= x >> np.uint64(30)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(27)
    x *= np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def normals(seed, *shape):
    """Nearly normal float32: sums of twelve 16-bit integers, exactly scaled."""
    n = int(np.prod(shape))
    total = np.zeros(n, np.int64)
    for i in range(3):
        h = mix(np.arange(n, dtype=np.uint64) + np.uint64((3 * seed + i) << 40))
        for piece in range(4):
            total += ((h >> np.uint64(16 * piece)) & np.uint64(0xFFFF)).astype(np.int64)
    # 12 pieces with mean 32767.5 and variance (2^32 - 1) / 12: the sum's deviation is 2^16.
    return ((total - 393210).astype(np.float32) * np.float32(2**-16)).reshape(shape)


def to_bf16(x):
    """float32 to the bits of bf16, to nearest even (no NaN comes here)."""
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def library_name(layout, scores, cast, head_dim, value_dim):
    dims = "" if head_dim == value_dim == DIM else f"-{head_dim}x{value_dim}"
    return f"{layout}-{scores}{dims}" if cast == "expcast" else f"{layout}-{scores}{dims}-{cast}"


@dataclass(frozen=True)
class Case:
    layout: str
    scores: str
    query_heads: int
    key_heads: int
    queries: int
    keys: int
    kind: str
    seed: int
    cast: str = "expcast"
    head_dim: int = DIM
    value_dim: int = DIM

    @property
    def name(self):
        return f"{self.library}-{self.query_heads}x{self.queries}-{self.key_heads}x{self.keys}-{self.kind}"

    @property
    def library(self):
        return library_name(self.layout, self.scores, self.cast, self.head_dim, self.value_dim)

    def as_json(self):
        return asdict(self)

    def order(self, x):
        """[heads, tokens, dim] to the layout, with a batch of 1."""
        return np.ascontiguousarray(x[None] if self.layout == "bhtd" else x.transpose(1, 0, 2)[None])

    def inputs(self):
        """q, k, v as bits of bf16, in the case's layout."""
        heads, tokens = self.key_heads, self.keys
        q = normals(8 * self.seed, self.query_heads, self.queries, self.head_dim)
        k = normals(8 * self.seed + 1, heads, tokens, self.head_dim)
        v = normals(8 * self.seed + 2, heads, tokens, self.value_dim)
        if self.kind == "clustered":
            label = (mix(np.arange(heads * tokens) + 77) % np.uint64(64)).astype(np.int64).reshape(heads, tokens)
            head = np.arange(heads)[:, None]
            centers = normals(8 * self.seed + 3, 2, heads, 64, max(self.head_dim, self.value_dim))
            k = k + np.float32(0.6875) * centers[0][head, label, : self.head_dim]
            v = np.float32(0.875) * centers[1][head, label, : self.value_dim] + np.float32(0.4375) * v
        if self.kind == "constant":
            v = 1 + np.float32(0.125) * v
        if self.kind in MORE_KINDS:
            q = np.float32(3 if self.kind == "peaked" else 1e5) * q
        return [self.order(to_bf16(x)) for x in (q, k, v)]

    def sizes(self, heads, tokens, dim):
        return (1, heads, tokens, dim) if self.layout == "bhtd" else (1, tokens, heads, dim)

    def shapes(self):
        """Shape and NumPy element type of every tensor of the compiled functions, by name."""
        hq, hkv, nq, nk = self.query_heads, self.key_heads, self.queries, self.keys
        blocks = -(-nk // BLOCK_TOKENS)
        code = "int8" if self.scores == "i8" else "uint8"
        d, dv = self.head_dim, self.value_dim
        return {
            "out": (self.sizes(hq, nq, dv), "uint16"),
            "permutation": ((1, hkv, nk), "int32"),
            "q_codes": (self.sizes(hq, nq, d), code),
            "q_scales": ((1, hq, nq), "float32"),
            "k_codes": (self.sizes(hkv, nk, d), code),
            "k_scales": ((1, hkv, blocks, 4), "float32"),
            "v_codes": (self.sizes(hkv, nk, dv), "uint8"),
            "v_scales": ((1, hkv, dv), "float32"),
            "means": ((1, hkv, blocks, dv), "float32"),
            "v_packed": ((1, hkv, blocks, -(-dv // 8) * 8 + 8, BLOCK_TOKENS), "uint8"),
        }

    def rows(self, limit=512):
        """Sampled query rows, as (heads, queries) index arrays."""
        n = self.query_heads * self.queries
        flat = np.unique(np.linspace(0, n - 1, min(n, limit)).astype(np.int64))
        return flat // self.queries, flat % self.queries

    def take_rows(self, out):
        """The sampled rows of a result in the case's layout."""
        head, query = self.rows()
        return out[0, head, query] if self.layout == "bhtd" else out[0, query, head]


CODES = ("q_codes", "q_scales", "k_codes", "k_scales", "v_codes", "v_scales", "means")
PACKED = ("q_codes", "q_scales", "k_codes", "k_scales", "v_packed", "v_scales", "means")
SCORES = ("i8", "f8E4M3FN")
LIBRARIES = [(layout, scores, "expcast", DIM, DIM) for layout in ("bhtd", "bthd") for scores in SCORES]
LIBRARIES += [("bhtd", scores, cast, DIM, DIM) for cast in CASTS if cast != "expcast" for scores in SCORES]
# Other head and value dimensions, one library each.
DIMS = (
    *((64, 64), (192, 128), (256, 256), (128, 64), (64, 128), (256, 64), (16, 256)),
    *((16, 16), (40, 40), (72, 72), (80, 80), (96, 96), (112, 112), (160, 160), (192, 192), (224, 224), (33, 50)),
)
LIBRARIES += [(("bhtd", "bthd")[i % 2], "f8E4M3FN" if i % 5 == 1 else "i8", "expcast", *dims) for i, dims in enumerate(DIMS)]
# Heads, tokens, head dimension.
BENCHMARKS = ((16, 32768, 128), (8, 75600, 128), (40, 8192, 128), (16, 32768, 64), (16, 32768, 256))


def cases():
    seed = 0
    for layout, scores, cast, head_dim, value_dim in LIBRARIES:
        library = dict(cast=cast, head_dim=head_dim, value_dim=value_dim)
        if (head_dim, value_dim) != (DIM, DIM):
            for keys, query_heads in ((1, 2), (127, 2), (129, 8), (1000, 2)):
                seed += 1
                yield Case(layout, scores, query_heads, 2, keys, keys, KINDS[seed % 3], seed, **library)
            continue
        if cast != "expcast":
            for keys in (1, 129, 1000, 4097, 75600):
                seed += 1
                yield Case(layout, scores, 4, 2, 200, keys, KINDS[seed % 3], seed, **library)
            continue
        for keys in (1, 5, 127, 128, 129, 1000, 4097):
            for query_heads, key_heads, queries in ((2, 2, keys), (4, 1, 200), (8, 1, 77)):
                seed += 1
                yield Case(layout, scores, query_heads, key_heads, queries, keys, KINDS[seed % 3], seed)
        # Among scores of 100,000 the largest is a matter of rounding, unless it is exact.
        for kind in MORE_KINDS if scores == "i8" else MORE_KINDS[:1]:
            seed += 1
            yield Case(layout, scores, 2, 2, 300, 1000, kind, seed)
        for query_heads, key_heads, queries in ((1, 1, 512), (4, 1, 128), (8, 1, 64)):
            seed += 1
            kind = "constant" if scores == "i8" and query_heads == 1 else "gaussian"
            yield Case(layout, scores, query_heads, key_heads, queries, 75600, kind, seed)


BLOCK = 4096


def checksums(x):
    """One CRC per 4096 bytes: tells how much differs without storing it all."""
    data = np.ascontiguousarray(x).tobytes()
    return [zlib.crc32(data[i : i + BLOCK]) for i in range(0, len(data), BLOCK)]
