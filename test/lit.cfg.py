import os
import shutil
import subprocess
from glob import glob

import lit.formats
from lit.llvm import llvm_config

config.name = "vcattn"
config.test_format = lit.formats.ShTest(not llvm_config.use_lit_shell)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "unittests", "Reference"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.obj_root, "test")

llvm_config.use_default_substitutions()
llvm_config.add_tool_substitutions(
    config.vcattn_tools + ["FileCheck", "not", "count", "split-file"],
    [os.path.join(config.obj_root, "bin"), config.llvm_tools_dir])
config.substitutions.append(("%source_root", config.source_root))
config.substitutions.append(("%build_root", config.obj_root))
config.substitutions.append(("%host_cc", config.host_cc))
config.substitutions.append(
    ("%fake_cuda", os.path.join(config.obj_root, "test", "lib", "libvcattn-fake-cuda.so")))


def first_that_exists(*paths):
    return next((p for p in paths if p and os.access(p, os.X_OK)), None)


def output(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=60).stdout
    except (OSError, subprocess.SubprocessError):
        return ""


# Features: a test that needs one says REQUIRES; what is missing is reported as unsupported, never as passed.

# python: one that has numpy. utils/setup.sh makes it.
venv = os.path.join(config.source_root, ".venv")
python = first_that_exists(os.path.join(venv, "bin", "python"), shutil.which("python3"))
if python and "numpy" in output(python, "-c", "import numpy; print('numpy')"):
    config.available_features.add("python")
    config.substitutions.append(("%python", python))

# ptxas: from PATH, a CUDA toolkit or NVIDIA's wheel in .venv. The tools under test find it by PATH.
wheel = glob(os.path.join(venv, "lib", "python3*", "site-packages", "nvidia", "cu13", "bin", "ptxas"))
toolkit = os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "bin", "ptxas")
ptxas = first_that_exists(shutil.which("ptxas"), toolkit, *wheel)
if ptxas:
    config.available_features.add("ptxas")
    config.substitutions.append(("%ptxas", ptxas))
    llvm_config.with_environment("PATH", os.path.dirname(ptxas), append_path=True)

# cuda-sm90: a Hopper GPU and its driver.
if "9.0" in output("nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader").split():
    config.available_features.add("cuda-sm90")
