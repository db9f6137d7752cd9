#!/usr/bin/env bash
# The benchmarks run (no number is asserted), and the README's first command works.
set -euo pipefail
cd "$(dirname "$0")/.."
. .ci/lib.sh
announce "benchmarks, small"
with=()
for package in rich matplotlib janus culsans aiologic trio anyio; do with+=(--with "$package"); done
python3 dev.py "${with[@]}" test -q bench --benchmark-disable
# Not in one run with those: each folder has a conftest of its own.
python3 dev.py "${with[@]}" test -q tests/test_bench_*.py tests/test_contenders.py
announce "the README's demo"
python3 dev.py demo
