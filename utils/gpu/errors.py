#!/usr/bin/env python3
"""Error of compiled attention on a Hopper GPU, on seven kinds of input: errors.py FOLDER [tokens ...] [--seeds N]

FOLDER is what prepare.py made. Relative L2 error against FP64 attention of 256
sampled rows, from BF16 to BF16, with every cast; 8,192 and
75,600 tokens unless others are given. 262,144 tokens take some minutes.
"""
import argparse
from itertools import product
from pathlib import Path

import torch
from cases import CASTS, DIM, SCALE, SCORES, Case
from check import Library, allocate

KINDS = ("gaussian", "clustered", "outliers", "constant", "peaked", "peaked-clustered", "video")
ROWS = 256


def inputs(kind, heads, tokens, generator):
    """q, k, v in bf16, [1, heads, tokens, DIM]; the kinds are those of test/Reference/generators.py."""
    normal = lambda *shape: torch.randn(*shape, device="cuda", generator=generator)
    chance = lambda *shape: torch.rand(*shape, device="cuda", generator=generator)
    q, k, v = (normal(heads, tokens, DIM) for _ in range(3))
    label = torch.randint(0, 64, (heads, tokens, 1), device="cuda", generator=generator).expand(-1, -1, DIM)
    clusters = lambda: torch.gather(normal(heads, 64, DIM), 1, label)
    if kind in ("clustered", "peaked-clustered"):
        v = 0.8**0.5 * clusters() + 0.2**0.5 * v
    if kind == "clustered":
        k = k + 0.7 * clusters()
    if kind == "outliers":
        q, k, v = (x + 10 * normal(*x.shape) * (chance(*x.shape) < 1e-3) for x in (q, k, v))
    if kind == "constant":
        v = 1 + 0.1 * v
    if kind in ("peaked", "peaked-clustered", "video"):
        q = 3 * q
    if kind == "video":
        k[:, :, [3, 40, 77, 100]] += 12
        v = 0.6 * clusters() + 0.8 * v
        large = (chance(heads, tokens, 1) < 0.005) & (chance(heads, tokens, DIM) < 0.1)
        v = torch.where(large, 20 * v, v)
    return [x.bfloat16()[None] for x in (q, k, v)]


def exact(q, k, v, rows):
    """FP64 attention of some rows, a head at a time."""
    results = []
    for h in range(q.shape[1]):
        scores = q[0, h, rows].double() @ k[0, h].double().T * SCALE
        results.append(scores.softmax(-1) @ v[0, h].double())
    return torch.stack(results)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("tokens", type=int, nargs="*", default=[8192, 75600])
    parser.add_argument("--seeds", type=int, default=1, help="inputs of each kind, of which the mean error is printed")
    options = parser.parse_args()
    variants = [(scores, cast) for cast in CASTS for scores in SCORES]
    print(f"{'tokens':>7} {'input':16} " + " ".join(f"{f'{scores}, {cast}':>18}" for scores, cast in variants))
    generator = torch.Generator(device="cuda").manual_seed(7)
    libraries = {}
    for tokens, kind in product(options.tokens, KINDS):
        heads = 2 if tokens < 75600 else 1
        errors = torch.zeros(len(variants), dtype=torch.float64)
        for _ in range(options.seeds):
            q, k, v = inputs(kind, heads, tokens, generator)
            rows = torch.randint(0, tokens, (ROWS,), device="cuda", generator=generator)
            want = exact(q, k, v, rows)
            for i, (scores, cast) in enumerate(variants):
                case = Case("bhtd", scores, heads, heads, tokens, tokens, kind, 1, cast)
                if case.library not in libraries:
                    libraries[case.library] = Library(options.folder / f"{case.library}.so")
                (out,) = libraries[case.library].run("attention", [q, k, v], allocate(case, "out"))
                errors[i] += ((out[0][:, rows].double() - want).norm() / want.norm()).item() / options.seeds
        print(f"{tokens:7} {kind:16} " + " ".join(f"{error:18.4f}" for error in errors.tolist()), flush=True)


if __name__ == "__main__":
    main()
