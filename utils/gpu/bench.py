#!/usr/bin/env python3
"""Time attention kernels of several schedules beside cuDNN's, in one run.

    bench.py build BIN OUT NAME[@CAST]=SCHEDULE... anywhere: one library per score format and schedule, and one that packs
    bench.py run OUT [--quick] [--shapes=4x16x1024,...] [--scores=i8,...] [--only=NAME,...]
                                              with a Hopper GPU, CUDA's driver, PyTorch and NumPy

A SCHEDULE is what vcattn-compile --schedule takes, for example stages=3,promotion=32; an empty one is the default. CAST is the softmax
cast, expcast or exact; a name without one has the default's.
A shape is batch x heads x tokens. "run" times the kernel alone, on packed operands. Times are sustained: 0.7 s of
warm-up, then a window of 2 s with clock and power read in its middle (--quick: 0.25 s and 0.5 s). TFLOP/s are
4 * batch * heads * tokens^2 * 128 / time. Prints one row per shape and kernel, and last a line of JSON.
"""
import argparse
import json
import sys
from pathlib import Path

from prepare import Body, make_attention, run

SCORES = ("i8", "f8E4M3FN")
SHAPES = "4x16x1024,4x16x4096,1x40x8192,1x16x32768"
DIM = 128


def build(bin_folder, out, schedules):
    """NAME-SCORES.so with a function "kernel" per schedule, SCORES.so with "pack"."""
    bin_folder, out = Path(bin_folder), Path(out)
    out.mkdir(parents=True, exist_ok=True)
    source = make_attention("?x?x?", "bhtd")
    names = []
    for scores in SCORES:
        for i, (name, schedule) in enumerate(schedules):
            choose = f"--vcattn-schedule=target=sm_90a choices={schedule}" if schedule else "--vcattn-schedule=target=sm_90a"
            cast = name.partition("@")[2]
            method = f"--vcattn-method=scores={scores}" + (f" cast={cast}" if cast else "")
            text = run(bin_folder / "vcattn-opt", method, choose, "--vcattn-pack-operands", input=source)
            body = Body(text)
            kernel = body.find("vcattn.packed_attention")
            operands = body.operands("vcattn.packed_attention")
            sizes = min(i for i, line in enumerate(body.lines) if "tensor.dim" in line or "arith.constant" in line)
            parts = {f"{name}-{scores}": body.function("kernel", operands, body.lines[sizes : kernel + 1], body.results("vcattn.packed_attention"))}
            if i == 0:
                parts[scores] = body.function("pack", ["%arg0", "%arg1", "%arg2"], body.lines[:sizes], operands)
            for part, module in parts.items():
                path = out / f"{part}.mlir"
                path.write_text(module)
                run(bin_folder / "vcattn-compile", path, "--no-method", "--target=sm_90a", "-o", path.with_suffix(".so"))
                path.unlink()
                path.with_suffix(".h").unlink()
        names = [name for name, _ in schedules]
    (out / "bench.json").write_text(json.dumps(names))


def measure(folder, options):
    # Only the machine with the GPU has PyTorch.
    import torch
    import torch.nn.functional as F
    from check import Library, sustained
    from torch.nn.attention import SDPBackend, sdpa_kernel

    warm, window = (0.25, 0.5) if options.quick else (0.7, 2.0)
    names = json.loads((folder / "bench.json").read_text())
    names = [n for n in names if not options.only or n in options.only.split(",")]
    rows = []
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}")
    print(f"{'shape':14} {'kernel':28} {'ms':>9} {'TFLOP/s':>8} {'cuDNN':>7} {'MHz':>6} {'W':>5}  error")
    for shape in options.shapes.split(","):
        batch, heads, tokens = map(int, shape.split("x"))
        generator = torch.Generator(device="cuda").manual_seed(7)
        q, k, v = (torch.randn(batch, heads, tokens, DIM, device="cuda", generator=generator).bfloat16() for _ in range(3))

        def cudnn():
            return F.scaled_dot_product_attention(q, k, v)

        q *= options.query_factor
        # Against cuDNN's own result: what it is wrong by is a tenth of what 8 bits are.
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            want = cudnn().float()
        base = None

        def row(name, call, result):
            ms, clock, power = sustained(call, warm, window)
            error = float((result.float() - want).norm() / want.norm())
            rate = 4 * batch * heads * tokens**2 * DIM / ms / 1e9
            rows.append(dict(shape=shape, kernel=name, ms=ms, tflops=rate, mhz=clock, watts=power, error=error))
            times = (base or ms) / ms
            print(f"{shape:14} {name:28} {ms:9.4f} {rate:8.0f} {times:6.2f}x {clock:6.0f} {power:5.0f}  {error:.4f}", flush=True)
            return ms

        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            base = row("cuDNN BF16", cudnn, want)
        for scores in options.scores.split(","):
            packed = pack(Library(folder / f"{scores}.so"), scores, q, k, v)
            for name in names:
                out = torch.zeros_like(q)
                try:
                    library = Library(folder / f"{name}-{scores}.so")
                    row(f"{name}, {scores}", library.bind("kernel", packed, [out]), out)
                except RuntimeError as error:
                    print(f"{shape:14} {name}, {scores}: FAILED: {error}", flush=True)
                    if "CUDA error" in str(error):  # the context is lost
                        return rows
    return rows


def pack(library, scores, q, k, v):
    import torch

    batch, heads, tokens, _ = q.shape
    tiles, code = -(-tokens // 128), torch.int8 if scores == "i8" else torch.uint8

    def empty(kind, *sizes):
        return torch.empty(batch, heads, *sizes, dtype=kind, device="cuda")

    packed = [
        empty(code, tokens, DIM),
        empty(torch.float32, tokens),
        empty(code, tokens, DIM),
        empty(torch.float32, tiles, 4),
        empty(torch.uint8, tiles, DIM + 8, 128),
        empty(torch.float32, DIM),
        empty(torch.float16, -(-tiles // 16), DIM // 8, 2, 8, 8),
    ]
    return library.run("pack", [q, k, v], packed)


def main():
    if sys.argv[1:2] == ["build"]:
        schedules = [x.partition("=")[::2] for x in sys.argv[4:]]
        return build(sys.argv[2], sys.argv[3], schedules or [("default", "")])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["run"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--shapes", default=SHAPES)
    parser.add_argument("--scores", default="i8")
    parser.add_argument("--only", default="")
    parser.add_argument("--query-factor", type=float, default=1.0, help="what queries of deviation 1 are multiplied by")
    options = parser.parse_args()
    print(json.dumps(measure(options.folder, options)))


if __name__ == "__main__":
    main()
