"""Raising changes no result: linalg as written and vcattn.attention raised from it, both run on the CPU.

The functions are those of the lit tests of vcattn-raise-attention; every batch
and head gets data of its own.
"""
import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ.get("VCATTN_BIN", ROOT / "build" / "bin"))
SOURCES = sorted((ROOT / "test" / "Conversion" / "LinalgToVCAttn").glob("raise-attention*.mlir"))
FUNCTION = re.compile(r"^func\.func @(\w+)\((.*?)\)\s*->\s*(.*?)\s*\{", re.S | re.M)
DYNAMIC = 24
# Roundings between the steps differ; a wrong scale, mask, head or axis is far above.
LIMITS = {"f32": 1e-5, "f16": 2e-3, "bf16": 1.5e-2}
pytestmark = pytest.mark.skipif(not (BIN / "vcattn-run").exists(), reason="vcattn-run is not built")


def run(*command):
    done = subprocess.run([str(x) for x in command], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}"
    return done.stdout


def functions():
    for source in SOURCES:
        if "rejected" in source.name:
            continue
        for name, arguments, results in FUNCTION.findall(source.read_text()):
            yield pytest.param(source, name, arguments, results, id=f"{source.stem}-{name}")


def pick(text, name):
    """A module with the affine maps and one function of a file."""
    maps = re.findall(r"^#\w+ *=.*$", text, re.M)
    start = text.index(f"func.func @{name}(")
    return "\n".join(maps) + "\n" + text[start : text.index("\n}", start) + 3]


def shape_and_element(kind):
    *sizes, element = re.fullmatch(r"tensor<(.*)>", kind).group(1).split("x")
    return tuple(DYNAMIC if s == "?" else int(s) for s in sizes), element


def to_array(kind, random):
    shape, element = shape_and_element(kind)
    if element == "i1":
        return random.random(shape) < 0.7
    x = random.standard_normal(shape).astype(np.float32)
    if element == "bf16":
        return (x.view(np.uint32) >> 16).astype(np.uint16)
    return x.astype({"f16": np.float16, "f32": np.float32}[element])


def to_float(x, element):
    return (x.astype(np.uint32) << 16).view(np.float32).astype(np.float64) if element == "bf16" else x.astype(np.float64)


@pytest.mark.parametrize("source, name, arguments, results", list(functions()))
def test_result_stays(source, name, arguments, results, tmp_path):
    module, raised = tmp_path / "linalg.mlir", tmp_path / "raised.mlir"
    module.write_text(pick(source.read_text(), name))
    raised.write_text(run(BIN / "vcattn-opt", module, "--vcattn-raise-attention"))
    assert ("vcattn.attention" in raised.read_text()) == (not name.startswith("not_"))
    random = np.random.default_rng(5)
    flags = []
    for i, kind in enumerate(re.findall(r"tensor<[^>]*>", arguments)):
        np.save(tmp_path / f"{i}.npy", to_array(kind, random))
        flags.append(f"--arg={tmp_path / f'{i}.npy'}")
    kinds = re.findall(r"tensor<[^>]*>", results)
    outcomes = []
    for path in (module, raised):
        out = [f"--out={i}={tmp_path / f'{path.stem}{i}.npy'}" for i in range(len(kinds))]
        run(BIN / "vcattn-run", path, f"--entry={name}", "--no-method", "--repeat=0", "--rows=0", *flags, *out)
        outcomes.append([np.load(tmp_path / f"{path.stem}{i}.npy") for i in range(len(kinds))])
    for kind, before, after in zip(kinds, *outcomes):
        element = shape_and_element(kind)[1]
        want, got = to_float(before, element), to_float(after, element)
        assert want.shape == got.shape and np.isfinite(want).all()
        assert np.linalg.norm(got - want) <= LIMITS[element] * np.linalg.norm(want)
