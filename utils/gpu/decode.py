#!/usr/bin/env python3
"""Time a few queries against many keys on a Hopper GPU: decode.py FOLDER [KEYS]

FOLDER is what prepare_safety.py made. The kernel runs on keys and values that
were prepared before, as a cache of codes has them, whole and in shards of keys
of several sizes, merging and packing of means included; beside it PyTorch's
attention on BF16. Milliseconds, sustained; the relative L2 error against FP64.
"""
import sys

import numpy as np
import torch
import torch.nn.functional as F
from cases import DIM
from check import from_bf16, download, sustained
from safety import Folder, exact, packed_operands, qkv
from torch.nn.attention import SDPBackend, sdpa_kernel


def error_of(out, want):
    got = from_bf16(download(out))
    want = want.double().cpu().numpy()
    return float(np.linalg.norm(got - want) / np.linalg.norm(want))


def main():
    folder, keys = Folder(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 100000
    splits = sorted(int(x.stem.split("-")[1]) for x in folder.path.glob("split-*.so"))
    for heads in (8, 16, 32):
        for queries in (1, 16, 64):
            q, k, v = qkv(1, heads, queries, keys, seed=3)
            want, _ = exact(q, k, v)
            times = {}

            def measure(name, call, out):
                times[name] = (sustained(call, warm=0.05, window=0.15)[0], error_of(out() if callable(out) else out, want))

            for name, backend in (("flash", SDPBackend.FLASH_ATTENTION), ("cuDNN", SDPBackend.CUDNN_ATTENTION)):

                def attend():
                    with sdpa_kernel(backend):
                        return F.scaled_dot_product_attention(q, k, v)

                try:
                    measure(name, attend, attend)
                except RuntimeError as error:
                    print(f"{heads} x {queries}: {name}: {str(error)[:100]}")
            operands, out = packed_operands(folder["safety"], heads, queries, keys)
            tiles = -(-keys // 128)
            means = torch.empty(1, heads, -(-tiles // 16), DIM // 8, 2, 8, 8, dtype=torch.float16, device="cuda")
            times["means"] = (sustained(folder["safety"].bind("pack_means", [operands[6], operands[5]], [means]), 0.05, 0.1)[0], 0)
            for name in ["safety", *(f"split-{n}" for n in splits)]:
                measure(name, folder[name].bind("kernel", operands, [out]), out)
            text = "  ".join(f"{name} {ms:.4f} ({error:.4f})" for name, (ms, error) in times.items())
            print(f"{heads:2} x {queries:2} x {keys}: {text}", flush=True)
            torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
