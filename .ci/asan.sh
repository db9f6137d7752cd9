#!/usr/bin/env bash
# The extension under AddressSanitizer, in an interpreter that is not sanitised.
set -euo pipefail
cd "$(dirname "$0")/.."
. .ci/lib.sh
for name in ${*:-3.11 3.13t}; do
    announce "asan: $name"
    python="$(python_for "$name")" || { echo "$name is not here: left out"; continue; }
    GOCHAN_STRESS=0.2 $python dev.py --sanitize address test -q -m "not bench" --ignore tests/test_isolated.py \
        --ignore tests/test_examples.py --ignore tests/test_leaks.py tests
done
