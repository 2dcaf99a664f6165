"""vcattn-run as its users see it: files in, files out, reports, refusals."""
import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOL = Path(os.environ.get("VCATTN_BIN", ROOT / "build" / "bin")) / "vcattn-run"
pytestmark = pytest.mark.skipif(not TOOL.exists(), reason=f"{TOOL} is not built")

ADD = """
func.func @add(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = arith.addf %x, %y : tensor<2x3xf32>
  return %0, %x : tensor<2x3xf32>, tensor<2x3xf32>
}
"""
OPEN = """
func.func @twice(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = arith.addf %x, %x : tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}
"""


def attention(q="1x4x300x64", kv="1x2x300x64", element="bf16", attributes="", result=None, lse=None):
    """A module with one exact attention; shapes as MLIR writes them."""
    q, kv = f"tensor<{q}x{element}>", f"tensor<{kv}x{element}>"
    result = result or q
    results = [result] + ([f"tensor<{lse}xf32>"] if lse else [])
    values = ", ".join(["%o", "%lse"][: len(results)])
    types = ", ".join(results)
    return f"""
func.func @attention(%q: {q}, %k: {kv}, %v: {kv}) -> ({types}) {{
  {values} = vcattn.attention %q, %k, %v {{scale = 0.125 : f64{attributes}}}
      : {q}, {kv}, {kv} -> {types}
  return {values} : {types}
}}
"""


class Workplace:
    def __init__(self, folder):
        self.folder = folder

    def path(self, name):
        return self.folder / name

    def save(self, name, array):
        np.save(self.path(name), array)
        return f"--arg={self.path(name)}"

    def run(self, module, *options):
        self.path("input.mlir").write_text(module)
        command = [str(TOOL), str(self.path("input.mlir")), *map(str, options)]
        return subprocess.run(command, capture_output=True, text=True, timeout=300)

    def succeed(self, module, *options):
        done = self.run(module, *options)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def fail(self, module, *options):
        done = self.run(module, *options)
        assert done.returncode == 1 and not done.stdout, done.stdout + done.stderr
        return done.stderr

    def json(self, module, *options):
        return json.loads(self.succeed(module, "--json", *options))


@pytest.fixture
def place(tmp_path):
    return Workplace(tmp_path)


def test_any_function_runs_on_files(place):
    x, y = np.arange(6, dtype=np.float32).reshape(2, 3), np.full((2, 3), 10, np.float32)
    out = place.path("sum.npy"), place.path("x.npy")
    text = place.succeed(ADD, place.save("a.npy", x), place.save("b.npy", y), f"--out=0={out[0]}", f"--out=1={out[1]}")
    assert "takes 2x3xf32, 2x3xf32; gives 2x3xf32, 2x3xf32" in text
    assert f"Wrote result 0 to {out[0]}" in text
    assert np.array_equal(np.load(out[0]), x + y)
    assert np.array_equal(np.load(out[1]), x)
    assert np.array_equal(np.load(place.path("a.npy")), x)


@pytest.mark.parametrize("rows", [0, 1, 7])
def test_open_sizes_come_from_files(place, rows):
    x = np.random.default_rng(rows).standard_normal((rows, 3)).astype(np.float32)
    place.succeed(OPEN, place.save("x.npy", x), f"--out=0={place.path('y.npy')}")
    assert np.array_equal(np.load(place.path("y.npy")), x + x)


@pytest.mark.parametrize(
    "array, message",
    [
        (np.zeros((2, 3)), "its dtype is '<f8', but f32 is stored as <f4"),
        (np.zeros((3, 2), np.float32), "its shape is [3, 2], but the function takes [2, 3]"),
        (np.zeros((3, 2), np.float32).T, "it is in Fortran order; save it with numpy.ascontiguousarray"),
    ],
)
def test_files_must_fit(place, array, message):
    argument = place.save("a.npy", array)
    assert place.fail(ADD, argument, argument).strip() == f"vcattn-run: error: {place.path('a.npy')}: {message}"


def test_truncated_file(place):
    argument = place.save("a.npy", np.zeros((2, 3), np.float32))
    data = place.path("a.npy").read_bytes()
    place.path("a.npy").write_bytes(data[:-1])
    assert "it has 23 bytes of data, but its shape needs 24" in place.fail(ADD, argument, argument)


def test_unwritable_output(place):
    argument = place.save("a.npy", np.zeros((2, 3), np.float32))
    message = place.fail(ADD, argument, argument, f"--out=0={place.path('none')}/y.npy")
    assert "none/y.npy: No such file or directory" in message


def test_cuda_needs_a_driver(place):
    if Path("/dev/nvidiactl").exists():
        pytest.skip("this machine has a GPU")
    message = place.fail(attention("1x1x64x128", "1x1x64x128"), "--device=cuda")
    assert "libcuda" in message


# From here on the whole method runs.


def test_report_says_what_ran(place):
    text = place.succeed(attention(), "--input=gaussian", "--repeat=1")
    assert "attention of 300 queries to 300 keys, 4 heads (2 for keys and values), head dimension 64, bf16, scale 0.125" in text
    for step in (
        "mean over all tokens subtracted",
        "rotated by a Hadamard matrix",
        "tokens sorted into 64 clusters of like values (k-means, 4 rounds)",
        "mean of each block of 128 taken out",
        "8-bit integers, one scale per query and four per 128 keys",
        "8-bit floats (E4M3), one scale per channel",
        "ExpCast",
        "error: relative L2 distance from exact attention in FP64, over 1024 rows",
    ):
        assert step in text


def test_steps_can_be_switched_off(place):
    report = place.json(attention(), "--no-smooth-keys", "--no-smooth-values", "--cast=exact", "--scores=f8E4M3FN", "--repeat=0")
    assert report["method"] == dict(
        center_keys=False, hadamard=False, clusters=0, iterations=0, block_means=False,
        attentions=1, scores="f8E4M3FN", values="f8E4M3FN", cast="exact",
    )  # fmt: skip
    assert report["runs"][0]["calls"] == 1


@pytest.mark.parametrize("cast, says", [("expcast", "one multiply-add"), ("exact", "exponentials"), ("hybrid", "keys, ExpCast for the others")])
def test_report_says_how_probabilities_are_made(place, cast, says):
    text = place.succeed(attention(), f"--cast={cast}", "--input=gaussian", "--repeat=0")
    assert says in next(line for line in text.splitlines() if line.split()[:1] == ["softmax"])
    assert place.json(attention(), f"--cast={cast}", "--repeat=0")["method"]["cast"] == cast


def test_without_the_method_attention_is_exact(place):
    report = place.json(attention(element="f32"), "--no-method", "--repeat=0")
    assert report["runs"][0]["relative_l2_error"] < 1e-6
    assert "scores" not in report["method"]


# For one head of 2048 tokens and channels 64: what is measured, with room for another order of sums.
LIMITS = dict(gaussian=0.045, clustered=0.025, outliers=0.05, constant=0.003)


def test_all_kinds_are_within_their_error(place):
    report = place.json(attention("1x1x2048x64", "1x1x2048x64"), "--input=all", "--repeat=0")
    errors = {run["input"]: run["relative_l2_error"] for run in report["runs"]}
    assert errors.keys() == LIMITS.keys()
    assert all(errors[kind] < limit for kind, limit in LIMITS.items()), errors


def test_the_example_keeps_what_readme_promises():
    example = ROOT / "examples" / "attention.mlir"
    command = [TOOL, example, "--input=gaussian,clustered,constant", "--repeat=0", "--json"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    errors = {run["input"]: run["relative_l2_error"] for run in json.loads(done.stdout)["runs"]}
    assert errors["gaussian"] <= 0.045 and errors["clustered"] <= 0.015 and errors["constant"] <= 0.003, errors


def test_same_seed_same_bits(place):
    paths = [place.path(f"{i}.npy") for i in range(3)]
    for path, seed in zip(paths, (5, 5, 6)):
        place.succeed(attention(), f"--seed={seed}", f"--out=0={path}", "--repeat=0", "--rows=0")
    first, again, other = map(np.load, paths)
    assert np.array_equal(first, again) and not np.array_equal(first, other)


def test_log_sum_exp_is_compared(place):
    report = place.json(attention(lse="1x4x300"), "--repeat=0")
    assert report["runs"][0]["log_sum_exp_error"] < 0.1


def test_layouts_and_causality(place):
    attributes = ", layout = #vcattn.layout<bthd>, causal = #vcattn.causality<bottom_right>"
    report = place.json(attention("1x300x4x64", "1x300x2x64", attributes=attributes), "--repeat=0")
    assert report["attention"]["layout"] == "bthd" and report["attention"]["causal"] == "bottom_right"
    assert report["runs"][0]["relative_l2_error"] < 0.08


def test_open_sizes_are_given_by_name(place):
    module = attention("1x4x?x64", "1x2x?x64")
    report = place.json(module, "--sizes=Nq=100,Nk=129", "--repeat=0")
    assert (report["attention"]["queries"], report["attention"]["keys"]) == (100, 129)
    assert report["runs"][0]["relative_l2_error"] < 0.08


def test_nan_is_reported(place):
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal(s).astype(np.float32) for s in ((1, 4, 300, 64), (1, 2, 300, 64), (1, 2, 300, 64)))
    q[0, 1, 7, 3] = np.nan
    arguments = [place.save(f"{n}.npy", x) for n, x in zip("qkv", (q, k, v))]
    text = place.succeed(attention(element="f32"), *arguments, "--repeat=0")
    assert "files: 1 elements of the inputs are NaN or infinite" in text
    assert "files: 64 elements of the results are NaN or infinite" in text
    assert "where exact attention is not" not in text


def test_files_that_disagree(place):
    module = attention("1x4x?x64", "1x2x?x64", "f32")
    shapes = (1, 4, 10, 64), (1, 2, 20, 64), (1, 2, 21, 64)
    arguments = [place.save(f"{i}.npy", np.zeros(s, np.float32)) for i, s in enumerate(shapes)]
    assert "arguments disagree: argument 2 has Nk = 21, another one 20" in place.fail(module, *arguments)
