#!/usr/bin/env bash
# Checks and benchmarks on a machine with a Hopper GPU.
#
#   utils/gpu.sh prepare       on any machine: compile, and compute what the CPU
#                              path gives; everything goes to out/gpu
#   utils/gpu.sh check [...]   on the machine with the GPU, which needs CUDA's
#                              driver and a Python with PyTorch and NumPy (PYTHON
#                              names it) and a copy of utils/gpu and out/gpu
#   utils/gpu.sh safety [...]  there: memory, strides, determinism, waits
#   utils/gpu.sh sanitize [..] there: under compute-sanitizer
#   utils/gpu.sh errors [...]  there: error on seven kinds of input
#   utils/gpu.sh decode [...]  there: times few queries against many keys
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

case ${1:-} in
prepare)
  # shellcheck source=utils/setup.sh
  source utils/setup.sh
  vcattn_setup
  vcattn_build vcattn-opt vcattn-compile vcattn-run
  .venv/bin/python utils/gpu/prepare.py "$build/bin" out/gpu
  .venv/bin/python utils/gpu/prepare_safety.py "$build/bin" out/gpu
  ;;
check)
  shift
  "${PYTHON:-python3}" utils/gpu/check.py out/gpu "$@"
  ;;
safety | decode | errors)
  script=$1
  shift
  "${PYTHON:-python3}" "utils/gpu/$script.py" out/gpu "$@"
  ;;
sanitize)
  shift
  utils/gpu/sanitize.sh out/gpu "$@"
  ;;
*)
  sed -n '2,13s/^# \{0,1\}//p' "$0"
  exit 2
  ;;
esac
