#!/usr/bin/env python3
"""Check on a Hopper GPU that results land where their strides say: strides.py FOLDER (of bench.py build)

A result in memory of every kind of strides must equal the contiguous one bit for bit, and nothing beside it may
change. Prints a line per kind; exits with 1 if one is wrong.
"""
import sys
from pathlib import Path

import torch
from bench import DIM, SCORES, pack
from check import Library

BATCH, HEADS = 2, 3
# Name, strides of batch, head, token and channel as functions of the number of tokens, offset; in elements.
KINDS = [
    ("contiguous", lambda n: (HEADS * n * DIM, n * DIM, DIM, 1), 0),
    ("tokens before heads", lambda n: (n * HEADS * DIM, DIM, HEADS * DIM, 1), 0),
    ("rows 16 bytes apart", lambda n: (HEADS * n * (DIM + 8), n * (DIM + 8), DIM + 8, 1), 8),
    ("rows 4 bytes apart", lambda n: (HEADS * n * (DIM + 2), n * (DIM + 2), DIM + 2, 1), 0),
    ("rows 2 bytes apart", lambda n: (HEADS * n * (DIM + 1), n * (DIM + 1), DIM + 1, 1), 0),
    ("start not aligned", lambda n: (HEADS * n * DIM, n * DIM, DIM, 1), 1),
    ("every other element", lambda n: (HEADS * n * DIM * 2, n * DIM * 2, DIM * 2, 2), 0),
    ("channels before tokens", lambda n: (HEADS * n * DIM, n * DIM, 1, n), 0),
]


def main(folder):
    wrong = 0
    for scores in SCORES:
        packing, kernel = Library(folder / f"{scores}.so"), Library(next(folder.glob(f"*-{scores}.so")))
        for tokens in (77, 300):
            generator = torch.Generator(device="cuda").manual_seed(tokens)
            shape = (BATCH, HEADS, tokens, DIM)
            q, k, v = (torch.randn(*shape, device="cuda", generator=generator).bfloat16() for _ in range(3))
            packed = pack(packing, scores, q, k, v)
            (want,) = kernel.run("kernel", packed, [torch.empty_like(q)])
            for name, strides, offset in KINDS:
                strides = strides(tokens)
                size = offset + sum(s * (n - 1) for s, n in zip(strides, shape)) + 1 + 64
                memory = torch.full((size,), float("nan"), dtype=torch.bfloat16, device="cuda")
                out = memory.as_strided(shape, strides, offset)
                kernel.run("kernel", packed, [out])
                equal = torch.equal(out.contiguous().view(torch.int16), want.view(torch.int16))
                out.fill_(float("nan"))
                clean = bool(memory.isnan().all())
                wrong += not (equal and clean)
                print(f"{scores:9} {tokens:4} {name:24} {'equal' if equal else 'DIFFERENT'}{'' if clean else ', WROTE BESIDE IT'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
