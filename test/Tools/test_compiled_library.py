"""A library that vcattn-compile made for the CPU, called through its C interface."""
import ctypes
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ.get("VCATTN_BIN", ROOT / "build" / "bin"))
sys.path.insert(0, str(ROOT / "utils" / "gpu"))
import abi  # noqa: E402

pytestmark = pytest.mark.skipif(not (BIN / "vcattn-compile").exists(), reason="vcattn-compile is not built")

SHAPE = (1, 2, 130, 64)
MODULE = """
func.func @attend(%q: tensor<1x2x130x64xf32>, %k: tensor<1x2x130x64xf32>, %v: tensor<1x2x130x64xf32>)
    -> (tensor<1x2x130x64xf32>, tensor<1x2x130xf32>) {
  %o, %lse = vcattn.attention %q, %k, %v {scale = 0.125 : f64}
      : tensor<1x2x130x64xf32>, tensor<1x2x130x64xf32>, tensor<1x2x130x64xf32> -> tensor<1x2x130x64xf32>, tensor<1x2x130xf32>
  return %o, %lse : tensor<1x2x130x64xf32>, tensor<1x2x130xf32>
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("library")
    (folder / "attend.mlir").write_text(MODULE)
    command = [BIN / "vcattn-compile", folder / "attend.mlir", "--target=cpu", "--emit=so", "-o", folder / "attend.so"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


def test_strided_arguments_need_no_copy(folder):
    function = abi.CpuFunction(ctypes.CDLL(str(folder / "attend.so")), "attend")
    rng = np.random.default_rng(0)
    # Tokens before heads, and every second channel of a wider tensor: views, not copies.
    q = rng.standard_normal((1, 130, 2, 64), np.float32).transpose(0, 2, 1, 3)
    k = rng.standard_normal((1, 2, 130, 128), np.float32)[..., ::2]
    v = rng.standard_normal(SHAPE, np.float32)
    results = []
    for inputs in ((q, k, v), tuple(map(np.ascontiguousarray, (q, k, v)))):
        out, lse = np.full(SHAPE, np.nan, np.float32), np.full(SHAPE[:3], np.nan, np.float32)
        before = [x.copy() for x in inputs]
        function.fill(*inputs, out, lse)
        assert all(np.array_equal(a, b) for a, b in zip(inputs, before))
        results.append((out, lse))
    assert np.array_equal(results[0][0], results[1][0]) and np.array_equal(results[0][1], results[1][1])

    s = np.einsum("bhid,bhjd->bhij", q, k, dtype=np.float64) * 0.125
    p = np.exp(s - s.max(-1, keepdims=True))
    want = p @ v / p.sum(-1, keepdims=True)
    assert np.linalg.norm(results[0][0] - want) < 0.06 * np.linalg.norm(want)
    assert np.abs(results[0][1] - (np.log(p.sum(-1)) + s.max(-1))).max() < 0.1


def test_header_declares_the_function(folder):
    header = (folder / "attend.h").read_text()
    assert "_mlir_ciface_attend(" in header
    for language in ("c", "c++"):
        command = ["clang-22", "-x", language, "-fsyntax-only", "-Wall", "-Werror", "-"]
        source = f'#include "{folder / "attend.h"}"\nvoid *use(void) {{ return (void *)&_mlir_ciface_attend; }}\n'
        done = subprocess.run(command, input=source, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
