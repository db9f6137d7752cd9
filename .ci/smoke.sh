#!/usr/bin/env bash
# The benchmarks run (no number is asserted), and the README's first command works.
set -euo pipefail
cd "$(dirname "$0")/.."
. .ci/lib.sh
announce "benchmarks, small"
python3 dev.py test -q bench --benchmark-disable
announce "the README's demo"
python3 dev.py demo
