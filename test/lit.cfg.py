import os
import shutil

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
    ["vcattn-opt", "FileCheck", "not", "count"],
    [os.path.join(config.obj_root, "bin"), config.llvm_tools_dir])
config.substitutions.append(("%source_root", config.source_root))

# Features: a test that needs one says REQUIRES; what is missing is reported as unsupported, never as passed.
ptxas = shutil.which("ptxas") or (
    "/usr/local/cuda/bin/ptxas" if os.path.exists("/usr/local/cuda/bin/ptxas") else None)
if ptxas:
    config.available_features.add("ptxas")
    config.substitutions.append(("%ptxas", ptxas))
