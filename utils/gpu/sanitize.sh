#!/usr/bin/env bash
# Runs the kernels on small shapes under NVIDIA's compute-sanitizer:
#
#   utils/gpu/sanitize.sh FOLDER [TOOL...]
#
# FOLDER is what prepare.py and prepare_safety.py made; tools are memcheck,
# racecheck, synccheck and initcheck, by default the first three. Each tool's
# last lines are printed; the exit status is 1 if one reports something.
#
# racecheck follows mbarriers and bulk copies only in part: what it says of
# tiles that a copy fills and a product reads is to be read with that in mind
# (docs/Testing.md).
set -uo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
folder=${1:?names no folder}
shift
tools=("$@")
[[ ${#tools[@]} -gt 0 ]] || tools=(memcheck racecheck synccheck)
sanitizer=${SANITIZER:-$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)}
status=0
# Without PyTorch's pool every buffer is an allocation of its own, whose bounds the tool knows.
sanitize() {
  PYTORCH_NO_CUDA_MEMORY_CACHING=1 "$sanitizer" --tool "$1" --error-exitcode 9 \
    "${PYTHON:-python3}" "$here/safety.py" "$folder" "$2"
}
for tool in "${tools[@]}"; do
  echo "== $tool"
  sanitize "$tool" small 2>&1 | tail -n "${LINES_SHOWN:-12}" || status=1
  if [[ $tool == memcheck ]]; then
    found=$(sanitize "$tool" overrun 2>&1)
    if [[ $found == *"Invalid __global__ write"* ]]; then
      echo "and it finds a call that writes past its result"
    else
      echo "it does not find a call that writes past its result"
      status=1
    fi
  fi
done
exit $status
