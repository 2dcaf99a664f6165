#!/usr/bin/env python3
"""Make, on a machine without a GPU, what check.py needs on one with: prepare.py BIN OUT

Compiles one library per layout, score format and head dimensions for sm_90a, and runs the same
functions on the CPU; OUT then holds NAME.so and expected.json (permutations,
checksums of codes and scales, sampled rows of results).
"""
import base64
import ctypes
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
from abi import CpuFunction
from cases import CODES, DIM, LIBRARIES, PACKED, cases, checksums, library_name


def make_attention(shape, layout, head_dim=DIM, value_dim=DIM):
    """A module's text; `shape` is what comes before the dimension, such as 1x?x?."""
    qk, v = f"tensor<{shape}x{head_dim}xbf16>", f"tensor<{shape}x{value_dim}xbf16>"
    return f"""
func.func @attention(%q: {qk}, %k: {qk}, %v: {v}) -> {v} {{
  %o = vcattn.attention %q, %k, %v {{scale = {head_dim**-0.5!r} : f64, layout = #vcattn.layout<{layout}>}}
      : {qk}, {qk}, {v} -> {v}
  return %o : {v}
}}
"""


class Body:
    """The operations of a function that vcattn-opt printed, one a line, and their values' types."""

    def __init__(self, text):
        self.lines, self.types = [], {}
        for line in text.splitlines():
            line = line.strip()
            if line.startswith("func.func"):
                for name, kind in re.findall(r"(%\w+): (tensor<[^>]*>)", line):
                    self.types[name] = kind
            elif line.startswith("%"):
                self.lines.append(line)
                results = self.defined(line)
                kinds = re.findall(r"tensor<[^>]*>|index", line.rsplit("->", 1)[-1])
                if "->" in line or len(results) == 1:
                    self.types.update(zip(results, kinds))

    @staticmethod
    def defined(line):
        """The values that a line defines: %0, %1 or, as %0:2, %0#0 and %0#1."""
        names = []
        for name in line.split(" = ")[0].split(","):
            base, _, count = name.strip().partition(":")
            names += [f"{base}#{i}" for i in range(int(count))] if count else [base]
        return names

    def find(self, op):
        return next(i for i, line in enumerate(self.lines) if f"{op} " in line)

    def results(self, op):
        return self.defined(self.lines[self.find(op)])

    def operands(self, op):
        """The tensors that an operation takes, in order, without its outs."""
        text = self.lines[self.find(op)].split(" = ", 1)[1].split(" outs(")[0]
        return re.findall(r"%\w+", text)

    def function(self, name, arguments, lines, results):
        """A function of some of the lines."""
        parameters = ", ".join(f"{x}: {self.types[x]}" for x in arguments)
        kinds = ", ".join(self.types[x] for x in results)
        body = "\n".join(f"  {line}" for line in lines)
        return f"func.func @{name}({parameters}) -> ({kinds}) {{\n{body}\n  return {', '.join(results)} : {kinds}\n}}\n"


def run(*command, **options):
    done = subprocess.run([str(x) for x in command], capture_output=True, text=True, **options)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def make_module(opt, layout, scores, cast="expcast", head_dim=DIM, value_dim=DIM):
    """Functions attention, cluster and codes, and of the same pieces pack and kernel, which no CPU has."""
    source = make_attention("1x?x?", layout, head_dim, value_dim)
    method = f"--vcattn-method=scores={scores} cast={cast}"
    level2 = Body(run(opt, method, input=source))
    packed = Body(run(opt, method, "--vcattn-schedule=target=sm_90a", "--vcattn-pack-operands", input=source))
    inputs = ["%arg0", "%arg1", "%arg2"]
    cluster = level2.find("vcattn.cluster")
    attention = level2.find("vcattn.quantized_attention")
    permutation = level2.results("vcattn.cluster")[0]
    codes = level2.operands("vcattn.quantized_attention")
    result = level2.results("vcattn.quantized_attention")
    kernel = packed.find("vcattn.packed_attention")
    # A kernel takes packed means only where they are contiguous for certain, which an argument is not: packing them,
    # one part in a thousand of the bytes, is left to the function "kernel".
    pack_means = packed.find("vcattn.pack_means")
    operands = packed.operands("vcattn.packed_attention")
    operands[-1] = packed.operands("vcattn.pack_means")[0]
    # tensor.empty of the result and the sizes it is made of belong to the kernel.
    first_size = min(i for i, line in enumerate(packed.lines) if "tensor.dim" in line or "arith.constant" in line or "tensor.empty" in line)
    everywhere = [
        level2.function("attention", inputs, level2.lines, result),
        level2.function("cluster", inputs[2:], [level2.lines[cluster]], [permutation]),
        level2.function("codes", inputs + [permutation], [x for i, x in enumerate(level2.lines[:attention]) if i != cluster], codes),
    ]
    on_gpu = [
        packed.function("pack", inputs, [x for i, x in enumerate(packed.lines[:first_size]) if i != pack_means], operands),
        packed.function("kernel", operands, [packed.lines[pack_means], *packed.lines[first_size : kernel + 1]], packed.results("vcattn.packed_attention")[:1]),
    ]
    return "".join(everywhere), "".join(on_gpu)


def main(bin_folder, out):
    bin_folder, out = Path(bin_folder), Path(out)
    out.mkdir(parents=True, exist_ok=True)
    libraries = {}
    for library in LIBRARIES:
        name = library_name(*library)
        everywhere, on_gpu = make_module(bin_folder / "vcattn-opt", *library)
        host, module = out / f"{name}-cpu.mlir", out / f"{name}.mlir"
        host.write_text(everywhere)
        module.write_text(everywhere + on_gpu)
        run(bin_folder / "vcattn-compile", host, "--no-method", "--target=cpu", "--emit=so", "-o", out / f"{name}-cpu.so")
        libraries[name] = ctypes.CDLL(str((out / f"{name}-cpu.so").resolve()))
        run(bin_folder / "vcattn-compile", module, "--no-method", "--target=sm_90a", "--emit=so", "-o", out / f"{name}.so")
        print(f"{name}.so: {(out / f'{name}.so').stat().st_size} bytes", flush=True)
    expected = []
    for case in cases():
        library, shapes = libraries[case.library], case.shapes()

        def cpu(entry, arguments, *results):
            return CpuFunction(library, entry)(arguments, [shapes[name] for name in results])

        q, k, v = case.inputs()
        (permutation,) = cpu("cluster", [v], "permutation")
        codes = cpu("codes", [q, k, v, permutation], *CODES)
        (result,) = cpu("attention", [q, k, v], "out")
        rows = np.ascontiguousarray(case.take_rows(result))
        expected.append(
            dict(
                case=case.as_json(),
                permutation=base64.b64encode(permutation.tobytes()).decode(),
                codes={n: checksums(x) for n, x in zip(CODES, codes)},
                rows=base64.b64encode(rows.tobytes()).decode(),
            )
        )
        print(case.name, flush=True)
    (out / "expected.json").write_text(json.dumps(expected))


if __name__ == "__main__":
    main(*sys.argv[1:])
