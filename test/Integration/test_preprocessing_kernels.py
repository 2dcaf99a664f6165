"""The kernels that prepare attention's operands, run on the CPU thread by thread.

A library for Hopper is called through its C interface; its driver (ThreadCuda.c)
runs the kernels' LLVM IR compiled for this processor, on a workspace full of
rubbish. What the attention kernel would be launched with must equal what the CPU
path computes, bit for bit.
"""
import ctypes
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ.get("VCATTN_BIN", ROOT / "build" / "bin"))
CLANG = shutil.which("clang-22")
sys.path.insert(0, str(ROOT / "utils" / "gpu"))
pytestmark = [
    pytest.mark.skipif(not (BIN / "vcattn-compile").exists(), reason="vcattn-compile is not built"),
    pytest.mark.skipif(not CLANG, reason="clang-22, which compiles LLVM IR, was not found"),
]

Q, KV = "tensor<1x4x?x128xbf16>", "tensor<1x2x?x128xbf16>"
ATTENTION = f"""
func.func @attention(%q: {Q}, %k: {KV}, %v: {KV}) -> {Q} {{
  %o = vcattn.attention %q, %k, %v {{scale = 0.08838834764 : f64}} : {Q}, {KV}, {KV} -> {Q}
  return %o : {Q}
}}
"""


def run(*command, **options):
    done = subprocess.run([str(x) for x in command], capture_output=True, text=True, timeout=600, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def compile_kernels(source, target):
    """The kernels' LLVM IR as a library for this processor, with a launcher for each; attention is left out."""
    text = re.sub(r"^(target|source_filename|attributes|declare .*nvvm|@.*addrspace\(3\)).*\n", "", source, flags=re.M)
    pieces = re.split(r"(?m)^(?=define )", text)
    out = ["@block_number = global i32 0", "@thread_number = global i32 0", pieces[0]]
    for piece in pieces[1:]:
        name, parameters = re.match(r"define ptx_kernel void @([\w.]+)\((.*?)\)", piece, re.S).groups()
        if name.startswith("attention_i8"):
            continue
        for register, variable in ("ctaid", "block_number"), ("tid", "thread_number"):
            piece = re.sub(
                rf"call (range\([^)]*\) )?i32 @llvm\.nvvm\.read\.ptx\.sreg\.{register}\.x\(\)",
                f"load i32, ptr @{variable}",
                piece,
            )
        out.append(piece.replace("ptx_kernel ", ""))
        types = [x.split()[0] for x in parameters.split(",")]
        out.append(f"define void @{name}_launch(ptr %p) {{")
        for i, kind in enumerate(types):
            out.append(f"  %g{i} = getelementptr ptr, ptr %p, i64 {i}\n  %a{i} = load ptr, ptr %g{i}")
            out.append(f"  %v{i} = load {kind}, ptr %a{i}")
        arguments = ", ".join(f"{kind} %v{i}" for i, kind in enumerate(types))
        out.append(f"  call void @{name}({arguments})\n  ret void\n}}")
    path = target.with_suffix(".ll")
    path.write_text(re.sub(r" #\d+", "", "\n".join(out)))
    run(CLANG, "-O2", "-shared", "-fPIC", "-ffp-contract=off", "-Wno-override-module", path, "-o", target)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The library, its driver, its kernels, and a module with the operands as results."""
    folder = tmp_path_factory.mktemp("kernels")
    (folder / "attention.mlir").write_text(ATTENTION)
    run(BIN / "vcattn-compile", folder / "attention.mlir", "-o", folder / "attention.so", "--embed-ptx")
    kernels = run(BIN / "vcattn-compile", folder / "attention.mlir", "-o", "-", "--emit=llvm")
    compile_kernels(kernels, folder / "kernels.so")
    run(CLANG, "-O2", "-shared", "-fPIC", Path(__file__).parent / "ThreadCuda.c", "-o", folder / "driver.so", "-ldl")
    from prepare import Body

    passes = ["--vcattn-method", "--vcattn-schedule=target=sm_90a", "--vcattn-pack-operands"]
    packed = Body(run(BIN / "vcattn-opt", *passes, input=ATTENTION))
    operands = packed.operands("vcattn.packed_attention")
    first_size = min(i for i, line in enumerate(packed.lines) if "tensor.dim" in line or "arith.constant" in line)
    pack = packed.function("pack", ["%arg0", "%arg1", "%arg2"], packed.lines[:first_size], operands)
    (folder / "pack.mlir").write_text(pack)
    # The driver for the tests of this file only: others share the process.
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("VCATTN_LIBCUDA", str(folder / "driver.so"))
        environment.setenv("THREAD_CUDA_KERNELS", str(folder / "kernels.so"))
        yield folder


class Kept:
    """Parameters of the launch of attention."""

    def __init__(self, driver):
        self.parameters = (ctypes.c_char * 128 * 64).in_dll(driver, "kept_parameters")
        self.next = 3

    def word(self, i):
        return int.from_bytes(bytes(self.parameters[i])[:8], "little")

    @staticmethod
    def read(address, shape, kind):
        size = int(np.prod(shape)) * np.dtype(kind).itemsize
        return np.frombuffer((ctypes.c_char * size).from_address(address), kind).reshape(shape).copy()

    def map(self, i, shape, kind):
        return self.read(self.word(i), shape, kind)

    def memref(self, shape, kind):
        first, rank = self.next, len(shape)
        self.next += 3 + 2 * rank
        assert [self.word(first + 3 + i) for i in range(rank)] == list(shape)
        return self.read(self.word(first + 1) + self.word(first + 2), shape, kind)


def to_bf16(x):
    bits = x.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def spread(x, step):
    """The same tensor with other strides, an offset and gaps."""
    wide = np.zeros(x.shape[:-1] + (x.shape[-1] * step + 24,), x.dtype)
    view = wide[..., 3 : 3 + x.shape[-1] * step : step]
    view[...] = x
    return view


@pytest.mark.parametrize(
    "queries, keys, steps", [(1, 1, None), (5, 129, None), (128, 128, None), (300, 1000, None), (77, 260, (2, 1, 3))]
)
def test_operands(folder, queries, keys, steps):
    from abi import GpuFunction

    rng = np.random.default_rng(queries)
    shapes = [(1, 4, queries, 128), (1, 2, keys, 128), (1, 2, keys, 128)]
    inputs = [to_bf16(rng.standard_normal(shape) + shift) for shape, shift in zip(shapes, (0, 3, 0))]
    given = [spread(x, step) for x, step in zip(inputs, steps)] if steps else inputs
    result = np.zeros(shapes[0], np.uint16)
    library = ctypes.CDLL(str(folder / "attention.so"))
    driver = ctypes.CDLL(str(folder / "driver.so"))
    function = GpuFunction(library, "attention")
    tensors = [*given, result]
    size = function.workspace_size(tensors)
    rubbish = np.full(size + 256, 0xA5, np.uint8)
    aligned = (rubbish.ctypes.data + 255) // 256 * 256
    function.bind(tensors, aligned, size, None)()

    tiles = -(-keys // 128)
    kept = Kept(driver)
    got = [
        kept.map(0, (1, 4, queries, 128), np.int8),
        kept.memref((1, 4, queries), np.float32),
        kept.map(1, (1, 2, keys, 128), np.int8),
        kept.memref((1, 2, tiles, 4), np.float32),
        kept.map(2, (1, 2, tiles, 136, 128), np.uint8),
        kept.memref((1, 2, 128), np.float32),
        kept.memref((1, 2, -(-tiles // 16), 16, 2, 8, 8), np.uint16),
    ]
    command = [BIN / "vcattn-run", folder / "pack.mlir", "--no-method", "--repeat=0", "--rows=0"]
    for i, x in enumerate(inputs):
        np.save(folder / f"a{i}.npy", x)
        command.append(f"--arg={folder / f'a{i}.npy'}")
    run(*command, *[f"--out={i}={folder / f'r{i}.npy'}" for i in range(len(got))])
    for i, x in enumerate(got):
        expected = np.load(folder / f"r{i}.npy")
        assert x.tobytes() == expected.tobytes(), f"operand {i} differs"
