#!/usr/bin/env python3
"""Make what check_limits.py needs on a machine with a GPU: prepare_limits.py BIN OUT

Compiles one library per entry of limits.LIMITS for sm_90a, and runs the same
functions on the CPU; OUT then holds NAME.so and limits.npz, sampled rows of
results and log-sum-exps.
"""
import ctypes
import sys
from pathlib import Path

import numpy as np
from abi import CpuFunction
from limits import LIMITS, limit_cases
from limits import BENCHMARKS
from prepare import Body, make_attention, run


def make_benchmark(opt, attributes, scores):
    """Functions pack, which prepares operands in their order, and kernel, the attention alone."""
    source = make_attention("1x?x?", "bhtd").replace("scale =", f"{attributes}, scale =")
    method = f"--vcattn-method=scores={scores} clusters=0"
    packed = Body(run(opt, method, "--vcattn-schedule=target=sm_90a", "--vcattn-pack-operands", input=source))
    kernel, pack_means = packed.find("vcattn.packed_attention"), packed.find("vcattn.pack_means")
    operands = packed.operands("vcattn.packed_attention")
    # See prepare.make_module: packed means have to be contiguous for certain.
    operands[-1] = packed.operands("vcattn.pack_means")[0]
    first_size = min(i for i, line in enumerate(packed.lines) if "tensor.dim" in line or "arith.constant" in line)
    prepares = [x for i, x in enumerate(packed.lines[:first_size]) if i != pack_means]
    runs = [packed.lines[pack_means], *packed.lines[first_size : kernel + 1]]
    return packed.function("pack", ["%arg0", "%arg1", "%arg2"], prepares, operands) + packed.function(
        "kernel", operands, runs, packed.results("vcattn.packed_attention")
    )


def main(bin_folder, out):
    bin_folder, out = Path(bin_folder), Path(out)
    out.mkdir(parents=True, exist_ok=True)
    libraries = {}
    for limit in LIMITS:
        source, host = out / f"{limit.name}.mlir", out / f"{limit.name}-cpu.so"
        source.write_text(limit.module())
        options = (f"--scores={limit.scores}", "--emit=so")
        run(bin_folder / "vcattn-compile", source, "--target=cpu", *options, "-o", host)
        run(bin_folder / "vcattn-compile", source, "--target=sm_90a", *options, "-o", out / f"{limit.name}.so")
        libraries[limit.name] = CpuFunction(ctypes.CDLL(str(host.resolve())), "attention")
        print(limit.name, flush=True)
    for name, attributes, scores in BENCHMARKS:
        source = out / f"benchmark-{name}.mlir"
        source.write_text(make_benchmark(bin_folder / "vcattn-opt", attributes, scores))
        target = ("--no-method", "--target=sm_90a", "--emit=so", "-o", out / f"benchmark-{name}.so")
        run(bin_folder / "vcattn-compile", source, *target)
    expected = {}
    for case in limit_cases():
        result, lse = libraries[case.limit.name](case.inputs(), case.results())
        rows, at = case.rows(result)
        expected[case.name] = rows
        expected[f"{case.name}-lse"] = lse.reshape(-1)[at]
    np.savez_compressed(out / "limits.npz", **expected)


if __name__ == "__main__":
    main(*sys.argv[1:])
