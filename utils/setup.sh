# shellcheck shell=bash
# Sourced by demo.sh, test.sh and update-docs.sh: installs what is missing,
# makes .venv, configures build/. Everything it does it does once; a second run
# only looks.
#
# Environment: VCATTN_BUILD names the build folder (default: build).

set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
build=${VCATTN_BUILD:-build}
jobs=$(nproc)

say() { printf '%s\n' "$*"; }
fail() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# The distribution's packages; only those that are missing are asked for.
vcattn_packages() {
  local wanted=(cmake ninja-build clang-22 lld-22 llvm-22-dev llvm-22-tools
    libmlir-22-dev mlir-22-tools ccache libgtest-dev python3 python3-venv)
  local missing=() name as_root=()
  command -v dpkg-query >/dev/null ||
    fail "this is no Debian or Ubuntu; README.md lists what to install by hand"
  for name in "${wanted[@]}"; do
    [[ $(dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null) == installed ]] ||
      missing+=("$name")
  done
  ((${#missing[@]})) || return 0
  say "Installing packages: ${missing[*]}"
  [[ $(id -u) == 0 ]] || as_root=(sudo)
  "${as_root[@]}" apt-get -qq update
  for name in "${missing[@]}"; do
    [[ -n $(apt-cache madison "$name" 2>/dev/null) ]] ||
      fail "the package sources of this machine have no $name; README.md says where Ubuntu finds it"
  done
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq -o Dpkg::Use-Pty=0 install -y --no-install-recommends "${missing[@]}" >/dev/null
}

# .venv, for the reference and the tests of the tools.
vcattn_python() {
  if ! cmp -s utils/requirements.txt .venv/requirements.txt; then
    say "Making .venv with NumPy and pytest"
    rm -rf .venv
    python3 -m venv .venv
    .venv/bin/python -m pip install -q -r utils/requirements.txt
    cp utils/requirements.txt .venv/requirements.txt
  fi
}

# ptxas 13 turns PTX 9.0 into a cubin. A machine without a CUDA toolkit of that
# version gets NVIDIA's wheel, of which only ptxas is used.
vcattn_ptxas() {
  local found dir
  for found in "$(command -v ptxas || true)" "${CUDA_HOME:-/usr/local/cuda}/bin/ptxas"; do
    if [[ -x $found && $("$found" --version) =~ release\ (1[3-9]|[2-9][0-9])\. ]]; then
      dir=$(dirname "$found")
      export PATH="$dir:$PATH"
      return
    fi
  done
  dir=$(echo .venv/lib/python3*/site-packages)/nvidia/cu13/bin
  if [[ ! -x $dir/ptxas ]]; then
    say "No ptxas of CUDA 13 here: taking the one of the package nvidia-cuda-nvcc"
    .venv/bin/python -m pip install -q --no-deps nvidia-cuda-nvcc==13.0.88
    chmod +x "$dir/ptxas"
  fi
  export PATH="$root/$dir:$PATH"
}

vcattn_configure() {
  if [[ ! -f $build/build.ninja ]]; then
    say "Configuring $build"
    cmake -G Ninja -S . -B "$build" >"$build.log" 2>&1 || {
      cat "$build.log" >&2
      fail "cmake failed"
    }
    mv "$build.log" "$build/configure.log"
  fi
}

# vcattn_build TARGETS...: ninja's output only if it fails.
vcattn_build() {
  local log=$build/build.log start=$SECONDS
  say "Building (a first build takes some minutes)"
  ninja -C "$build" -j "$jobs" "$@" >"$log" 2>&1 || {
    tail -n 60 "$log" >&2
    fail "the build failed; all of its output is in $log"
  }
  say "Built in $((SECONDS - start)) s"
}

vcattn_setup() {
  vcattn_packages
  vcattn_python
  vcattn_ptxas
  vcattn_configure
}
