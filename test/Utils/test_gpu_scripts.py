"""utils/gpu: what both machines rely on, without a GPU."""
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
OPT = Path(os.environ.get("VCATTN_BIN", ROOT / "build" / "bin")) / "vcattn-opt"
sys.path.insert(0, str(ROOT / "utils" / "gpu"))
import abi  # noqa: E402
import cases  # noqa: E402
import prepare  # noqa: E402
import prepare_safety  # noqa: E402


def test_inputs_are_the_same_everywhere():
    x = cases.normals(3, 4)
    assert x.dtype == np.float32 and (x * 2**16).tolist() == [-38373, -53285, -11971, -25451]
    many = cases.normals(5, 1 << 16)
    assert abs(many.mean()) < 0.02 and abs(many.std() - 1) < 0.02
    assert cases.to_bf16(np.array([1, 1 + 2**-8, 1 + 3 * 2**-8, -2])).tolist() == [0x3F80, 0x3F80, 0x3F82, 0xC000]


def test_cases_cover_what_is_promised():
    every = list(cases.cases())
    assert {c.keys for c in every} == {1, 5, 127, 128, 129, 1000, 4097, 75600}
    assert {c.query_heads // c.key_heads for c in every} == {1, 2, 4, 8}
    assert {(c.layout, c.scores, c.cast, c.head_dim, c.value_dim) for c in every} == set(cases.LIBRARIES)
    assert {c.keys for c in every if c.head_dim != 128} == {1, 127, 129, 1000}
    assert len({c.name for c in every}) == len(every)
    assert any(c.kind == "constant" and c.keys == 75600 for c in every)


@pytest.mark.parametrize("layout", ["bhtd", "bthd"])
def test_rows_are_those_of_the_layout(layout):
    case = cases.Case(layout, "i8", 4, 2, 200, 129, "clustered", 1)
    q, k, v = case.inputs()
    assert q.shape == case.shapes()["out"][0] and k.shape == case.shapes()["k_codes"][0] == v.shape
    head, query = case.rows(100)
    rows = q[0, head, query] if layout == "bhtd" else q[0, query, head]
    other = cases.Case("bhtd", "i8", 4, 2, 200, 129, "clustered", 1).inputs()[0]
    assert np.array_equal(rows, other[0, head, query])


def test_checksums_count_what_differs():
    x = np.zeros((3, cases.BLOCK), np.uint8)
    y = x.copy()
    y[1, 7] = 1
    assert [a != b for a, b in zip(cases.checksums(x), cases.checksums(y))] == [False, True, False]


def test_descriptors():
    x = np.zeros((2, 3, 4), np.float32).transpose(1, 0, 2)
    assert list(abi.describe_tensor(x)) == [x.ctypes.data, x.ctypes.data, 0, 3, 2, 4, 4, 12, 1]


@pytest.mark.skipif(not OPT.exists(), reason=f"{OPT} is not built")
@pytest.mark.parametrize("library", cases.LIBRARIES)
def test_modules_are_valid(library):
    module = "".join(prepare.make_module(OPT, *library))
    done = subprocess.run([OPT], input=module, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for name in ("attention", "cluster", "codes", "pack", "kernel"):
        assert f"func.func @{name}(" in done.stdout


@pytest.mark.skipif(not OPT.exists(), reason=f"{OPT} is not built")
def test_safety_modules_are_valid():
    on_gpu, host = prepare_safety.make_modules(OPT)
    done = subprocess.run([OPT], input=on_gpu, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for name in ("attention_lse", "merge", "pack_means", "pack", "kernel"):
        assert f"func.func @{name}(" in done.stdout
    assert subprocess.run([OPT], input=host, capture_output=True, text=True).returncode == 0


@pytest.mark.skipif(not OPT.exists(), reason=f"{OPT} is not built")
def test_a_kernel_that_never_ends_has_a_bound():
    text = prepare_safety.make_never(OPT)
    assert ".entry never_filled" in text and "trap;" in text and "mbarrier.try_wait" in text
