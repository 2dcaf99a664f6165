#!/usr/bin/env python3
"""Compile what safety.py, sanitize.sh and decode.py run: prepare_safety.py BIN OUT

OUT/safety then holds libraries for sm_90a: safety.so (attention with its
log-sum-exp, sizes unknown; merging; the kernel alone on packed operands),
safety-debug.so (the same with bounded waits), split-N.so (keys in shards of N),
never.ptx (a kernel that waits for ever) and lse.json (log-sum-exps of the CPU
path).
"""
import base64
import ctypes
import json
import re
import sys
from pathlib import Path

from abi import CpuFunction
from cases import Case
from prepare import make_module, run

SPLITS = (2048, 4096, 8192, 14336, 26624)
LSE_CASES = [
    Case("bhtd", "i8", 2, 2, keys, keys, kind, 900 + i)
    for i, (keys, kind) in enumerate([(5, "gaussian"), (129, "constant"), (1000, "clustered"), (4097, "gaussian"), (1000, "peaked")])
]

ATTENTION = """
func.func @NAME(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>, %v: tensor<?x?x?x128xbf16>)
    -> (tensor<?x?x?x128xf32>, tensor<?x?x?xf32>) {
  %o:2 = vcattn.attention %q, %k, %v {scale = 0.08838834764831845 : f64, causal = #vcattn.causality<CAUSAL>, layout = #vcattn.layout<LAYOUT>}
      : tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16> -> tensor<?x?x?x128xf32>, tensor<?x?x?xf32>
  return %o#0, %o#1 : tensor<?x?x?x128xf32>, tensor<?x?x?xf32>
}
"""
FUNCTIONS = "".join(
    ATTENTION.replace("NAME", f"attention_lse{suffix}").replace("CAUSAL", causal).replace("LAYOUT", layout)
    for suffix, causal, layout in (
        ("", "none", "bhtd"),
        ("_bthd", "none", "bthd"),
        ("_top_left", "top_left", "bhtd"),
        ("_bottom_right", "bottom_right", "bhtd"),
    )
)
MERGE = """
func.func @merge(%x: tensor<?x?x?x?x128xf32>, %l: tensor<?x?x?x?xf32>) -> (tensor<?x?x?x128xf32>, tensor<?x?x?xf32>) {
  %o:2 = vcattn.merge_attention %x, %l
      : (tensor<?x?x?x?x128xf32>, tensor<?x?x?x?xf32>) -> (tensor<?x?x?x128xf32>, tensor<?x?x?xf32>)
  return %o#0, %o#1 : tensor<?x?x?x128xf32>, tensor<?x?x?xf32>
}
func.func @pack_means(%m: tensor<1x?x?x128xf32>, %s: tensor<1x?x128xf32>) -> tensor<1x?x?x16x2x8x8xf16> {
  %p = vcattn.pack_means %m, %s : (tensor<1x?x?x128xf32>, tensor<1x?x128xf32>) -> tensor<1x?x?x16x2x8x8xf16>
  return %p : tensor<1x?x?x16x2x8x8xf16>
}
"""
NEVER = """
gpu.module @kernels {
  gpu.func @never_filled() kernel attributes {known_block_size = array<i32: 128, 1, 1>, vcattn.shared_memory = 1040 : i64} {
    %use = arith.constant 0 : i32
    %p = vcattn.create_pipeline consumers 1 : <1 x !vcattn.tile<8x128xi8>>
    %t = vcattn.wait_tile %p[%use] : !vcattn.pipeline<1 x !vcattn.tile<8x128xi8>> -> !vcattn.tile<8x128xi8>
    gpu.return
  }
}
"""
TO_PTX = (
    "builtin.module(gpu.module(convert-vcattn-kernel-to-nvvm{debug-waits},canonicalize,convert-scf-to-cf,"
    "vcattn-lower-kernels,reconcile-unrealized-casts,convert-nvvm-to-llvm),vcattn-serialize-kernels{format=ptx})"
)


def make_modules(opt):
    """What the GPU runs, and what the CPU does; at level 2, since the kernel alone takes codes."""
    level2 = run(opt, "--vcattn-method", input=FUNCTIONS)
    body = level2[level2.index("func.func") : level2.rindex("}")]
    _, on_gpu = make_module(opt, "bhtd", "i8")
    return body + MERGE + on_gpu, body


def make_never(opt):
    """PTX of a kernel whose only wait is for a copy that nobody starts."""
    text = run(opt, f"--pass-pipeline={TO_PTX}", input=NEVER)
    escaped = re.search(r'assembly = "((?:[^"\\]|\\.)*)"', text) or re.search(r'bin = "((?:[^"\\]|\\.)*)"', text)
    return re.sub(r"\\([0-9A-F]{2})", lambda m: chr(int(m[1], 16)), escaped[1]).rstrip("\0")


def cpu_log_sum_exps(library):
    """lse of LSE_CASES by the CPU path, base 64 of float32."""
    result = []
    for case in LSE_CASES:
        shape = (1, case.query_heads, case.queries)
        outputs = [((*shape, 128), "float32"), (shape, "float32")]
        _, lse = CpuFunction(library, "attention_lse")(case.inputs(), outputs)
        result.append(dict(case=case.as_json(), lse=base64.b64encode(lse.tobytes()).decode()))
    return result


def main(bin_folder, out):
    bin_folder, out = Path(bin_folder), Path(out) / "safety"
    out.mkdir(parents=True, exist_ok=True)
    opt, compiler = bin_folder / "vcattn-opt", bin_folder / "vcattn-compile"
    module, host = out / "safety.mlir", out / "lse-cpu.mlir"
    for path, text in zip((module, host), make_modules(opt)):
        path.write_text(text)
    build = lambda source, name, *options: run(compiler, source, "--no-method", "--emit=so", *options, "-o", out / name)
    build(module, "safety.so", "--target=sm_90a")
    build(module, "safety-debug.so", "--target=sm_90a", "--debug-waits")
    for keys in SPLITS:
        build(module, f"split-{keys}.so", "--target=sm_90a", f"--split-keys={keys}")
    build(host, "lse-cpu.so", "--target=cpu")
    (out / "never.ptx").write_text(make_never(opt))
    library = ctypes.CDLL(str((out / "lse-cpu.so").resolve()))
    (out / "lse.json").write_text(json.dumps(cpu_log_sum_exps(library)))
    for extra in [host, module, out / "lse-cpu.so", *out.glob("*.h")]:
        extra.unlink()


if __name__ == "__main__":
    main(*sys.argv[1:])
