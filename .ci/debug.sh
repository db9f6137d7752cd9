#!/usr/bin/env bash
# The debug build: every operation checks its invariants, tests assert the paths that
# were taken, and chaos points yield at the dangerous moments.
set -euo pipefail
cd "$(dirname "$0")/.."
. .ci/lib.sh
for name in ${*:-3.13 3.13t}; do
    announce "debug build: $name"
    python="$(python_for "$name")" || { echo "$name is not here: left out"; continue; }
    $python dev.py --debug test -q -m "not bench"
done
