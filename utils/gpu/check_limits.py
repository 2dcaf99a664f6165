#!/usr/bin/env python3
"""Check and time attention with limits on a Hopper GPU: check_limits.py FOLDER [--no-benchmark]

FOLDER is what prepare_limits.py made. Results must be within the limits of
check.py of the CPU path's, relative L2; rows that see nothing 0 and -inf.
"""
import sys
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from abi import CallError
from check import LIMITS as DISTANCES
from check import Library, allocate, download, from_bf16, relative, sustained, upload
from cases import DIM, PACKED, SCALE, Case
from limits import BENCHMARKS, LIMITS, limit_cases
from torch.nn.attention import SDPBackend, sdpa_kernel


def upload_operand(x):
    if x.dtype == np.float16:
        return torch.from_numpy(x).cuda()
    return upload(x)


def run_case(library, case):
    inputs = [upload_operand(x) for x in case.inputs()]
    (shape, _), (lse_shape, _) = case.results()
    results = []
    for _ in range(2):
        out = torch.full(shape, 7.0, dtype=torch.bfloat16, device="cuda")
        lse = torch.full(lse_shape, 7.0, device="cuda")
        library.run("attention", inputs, [out, lse])
        results.append((download(out), download(lse)))
    (out, lse), again = results
    same = np.array_equal(out, again[0]) and np.array_equal(lse, again[1], equal_nan=True)
    return out, lse, same


def check_case(library, case, expected):
    out, lse, same = run_case(library, case)
    rows, at = case.rows(out)
    rows, lse = from_bf16(rows), lse.reshape(-1)[at]
    want, want_lse = from_bf16(expected[case.name]), expected[f"{case.name}-lse"]
    sees = ~np.isneginf(want_lse)
    distance = relative(rows, want)
    lse_distance = np.abs(lse[sees] - want_lse[sees]).max(initial=0)
    ok = (
        same
        and distance <= DISTANCES[case.limit.scores][0]
        and np.array_equal(np.isneginf(lse), ~sees)
        and not rows[~sees].any()
        and lse_distance <= (6e-3 if case.limit.scores == "i8" else 3e-2)
    )
    return bool(ok), distance, lse_distance, int((~sees).sum()), same


def check_all(folder):
    expected = np.load(folder / "limits.npz")
    wrong, count = 0, 0
    for limit in LIMITS:
        library, distances, lse_distances = Library(folder / f"{limit.name}.so"), [0.0], [0.0]
        for case in limit_cases():
            if case.limit != limit:
                continue
            count += 1
            try:
                ok, distance, lse_distance, unseen, same = check_case(library, case, expected)
            except (CallError, RuntimeError) as error:
                print(f"{case.name}: FAILED: {error}", flush=True)
                if "CUDA error" in str(error):
                    return wrong + 1, count
                wrong += 1
                continue
            distances.append(distance)
            lse_distances.append(lse_distance)
            if not ok:
                wrong += 1
                print(f"{case.name}: FAILED: {distance:.2e}, lse {lse_distance:.2e}, {unseen} unseen, same {same}", flush=True)
        print(f"{limit.name:20} largest distance from the CPU {max(distances):.2e}, of lse {max(lse_distances):.2e}", flush=True)
    return wrong, count


def exact_rows(case, q, k, v, left):
    """Exact causal attention in FP64 of the case's sampled rows."""
    head, query = (torch.from_numpy(x).cuda() for x in case.rows())
    out = []
    for h, i in zip(head.tolist(), query.tolist()):
        first = 0 if left < 0 else max(i - left, 0)
        s = (k[0, h, first : i + 1].double() @ q[0, h, i].double()) * SCALE
        out.append(s.softmax(0) @ v[0, h, first : i + 1].double())
    return torch.stack(out).cpu().numpy()


def benchmark(folder, shapes=((16, 32768), (40, 8192))):
    print(f"\n{'shape':12} {'what':28} {'ms':>9} {'TFLOP/s':>8} {'MHz':>6} {'W':>5}  error")
    for heads, tokens in shapes:
        generator = torch.Generator(device="cuda").manual_seed(7)
        q, k, v = (torch.randn(1, heads, tokens, DIM, device="cuda", generator=generator).bfloat16() for _ in range(3))
        case = Case("bhtd", "i8", heads, heads, tokens, tokens, "gaussian", 1)
        exact = {left: exact_rows(case, q, k, v, left) for left in (-1, 4096)}

        def measure(name, call, result, left=-1):
            ms, clock, power = sustained(call)
            rows = case.take_rows(download(result() if callable(result) else result))
            seen = tokens * (tokens + 1) / 2
            if left >= 0:
                seen -= max(tokens - left - 1, 0) * (tokens - left) / 2
            rate = 4 * heads * seen * DIM / ms / 1e9
            error = relative(from_bf16(rows), exact[left])
            print(f"{f'{heads} x {tokens}':12} {name:28} {ms:9.3f} {rate:8.0f} {clock:6.0f} {power:5.0f}  {error:.4f}", flush=True)

        def cudnn():
            with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
                return F.scaled_dot_product_attention(q, k, v, is_causal=True)

        measure("cuDNN BF16, causal", cudnn, cudnn)
        for name, attributes, scores in BENCHMARKS:
            library = Library(folder / f"benchmark-{name}.so")
            scored = Case("bhtd", scores, heads, heads, tokens, tokens, "gaussian", 1)
            packed = library.run("pack", [q, k, v], allocate(scored, *PACKED))
            (out,) = allocate(scored, "out")
            measure(f"kernel, {name}", library.bind("kernel", packed, [out]), out, 4096 if "window" in name else -1)


def main():
    folder = Path(sys.argv[1])
    wrong, count = check_all(folder)
    print(f"{count - wrong} cases right, {wrong} wrong")
    if "--no-benchmark" not in sys.argv:
        benchmark(folder)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
