#!/usr/bin/env bash
# README's first command: installs what is missing, builds the compiler, compiles
# a plain attention written in linalg for a Hopper GPU and for this processor,
# and runs it here. Everything it makes is in out/.
# shellcheck source=utils/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

vcattn_setup
vcattn_build vcattn-opt vcattn-compile vcattn-run
bin=$build/bin
example=examples/attention.mlir
out=out
mkdir -p "$out"

# show COMMAND...: print a command as the user could type it, then run it.
show() {
  printf '\n$ %s\n' "$*"
  "$@"
}

cat <<EOF

$example is attention as a frontend writes it: a matrix product,
a softmax, a matrix product, on bf16 tensors of 4 heads, 2048 tokens and head
dimension 128. The compiler recognises it and replaces it by the low-bit
VC-Attention: scores from 8-bit integers, 8-bit probabilities made by an exponential or one
multiply-add each, values as 8-bit residuals of block means.

1. For a Hopper GPU. The kernels and a host function that launches them; no GPU
   and no CUDA toolkit is needed to make them, except that a cubin needs ptxas.
EOF
show "$bin/vcattn-compile" "$example" --target=sm_90a --emit=ptx -o "$out/attention.ptx"
show "$bin/vcattn-compile" "$example" --target=sm_90a --emit=cubin -o "$out/attention.cubin"
show "$bin/vcattn-compile" "$example" --target=sm_90a --emit=so -o "$out/attention.so"
echo
wc -c "$out"/attention.*

cat <<EOF

2. For this processor, the same numerics. Three kinds of input: gaussian is the
   hardest (there is nothing to exploit), clustered is what the method is made
   for, constant has values that hardly differ. "error" is the distance from
   exact attention, relative to its size.
EOF
show "$bin/vcattn-run" "$example" --input=gaussian,clustered,constant

cat <<EOF

Next: $bin/vcattn-run --help, $bin/vcattn-compile --help, README.md
EOF
case $(command -v ptxas) in
"$root"/.venv/*) say "(ptxas, for cubins and libraries: export PATH=$(dirname "$(command -v ptxas)"):\$PATH)" ;;
esac
