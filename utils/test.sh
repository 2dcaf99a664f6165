#!/usr/bin/env bash
# README's second command: builds everything and runs every test, which are
# lit's (IR in, IR or text out), GoogleTest's (C++ helpers) and pytest's (the
# numerical reference, the command lines). The last line is the sum of all three.
#
#   utils/test.sh            everything
#   utils/test.sh FILTER     only lit tests whose path matches, as lit --filter
# shellcheck source=utils/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

filter=${1:-}
vcattn_setup
vcattn_build all vcattn-doc

results=$build/test-results
rm -rf "$results"
mkdir -p "$results"
lit=$(command -v /usr/lib/llvm-22/bin/lit || command -v lit) || fail "lit is missing"
status=0

say "== lit"
"$lit" -sv --no-progress-bar -j "$jobs" ${filter:+--filter "$filter"} \
  --xunit-xml-output "$results/lit.xml" "$build/test" || status=1
if [[ -z $filter ]]; then
  say "== GoogleTest"
  "$build/bin/vcattn-unittests" --gtest_brief=1 \
    --gtest_output="xml:$results/gtest.xml" || status=1
  say "== pytest"
  VCATTN_BIN="$root/$build/bin" .venv/bin/python -m pytest -q -n "$jobs" \
    --junitxml "$results/pytest.xml" test || status=1
fi
[[ -n $filter ]] && expected=(lit) || expected=(lit gtest pytest)
.venv/bin/python utils/summarize.py "$results" "${expected[@]}" || status=1
exit "$status"
