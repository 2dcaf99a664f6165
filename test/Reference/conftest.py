# ===- conftest.py - Running compiled functions from the tests -------------=== #
#
# Part of the vcattn project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""The fixture `compiled`: IR text and arrays in, arrays out, through vcattn-run's CPU path.

Tools are looked for in $VCATTN_BIN, else in build/bin. Without vcattn-run the
tests that need it are skipped and say so; utils/test.sh always builds it.
"""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]


def find_tool(name):
    folder = Path(os.environ.get("VCATTN_BIN", ROOT / "build" / "bin"))
    tool = folder / name
    if not tool.exists():
        pytest.skip(f"{tool} is not built")
    return tool


class Compiled:
    """Runs one function of a module on the CPU.

    Arrays stand for tensors of the same shape; element types that NumPy lacks
    travel as their bits (bf16 as uint16; f8E4M3FN as uint8).
    """

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, text, arguments, types, options=("--no-method",)):
        """The results of @main; `types` are ir_text.Tensor. By default the module's ops run as they are."""
        shapes = [t.shape for t in types]
        source = self.folder / "input.mlir"
        source.write_text(text)
        command = [find_tool("vcattn-run"), source, "--device=cpu", "--entry=main", "--repeat=0", "--rows=0"]
        command += options
        for i, array in enumerate(arguments):
            path = self.folder / f"argument{i}.npy"
            np.save(path, np.ascontiguousarray(array))
            command.append(f"--arg={path}")
        outputs = [self.folder / f"result{i}.npy" for i in range(len(shapes))]
        command += [f"--out={i}={path}" for i, path in enumerate(outputs)]
        command += [f"--result-shape={i}={'x'.join(map(str, shape))}" for i, shape in enumerate(shapes)]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}\n{text}"
        results = [np.load(path) for path in outputs]
        assert [x.shape for x in results] == list(map(tuple, shapes))
        return results


@pytest.fixture
def compiled(tmp_path):
    return Compiled(tmp_path)
