#!/usr/bin/env bash
# A longer stress run than the tests' own; GOCHAN_STRESS scales it.
set -euo pipefail
cd "$(dirname "$0")/.."
. .ci/lib.sh
for name in ${*:-3.11 3.13t}; do
    announce "stress: $name"
    python="$(python_for "$name")" || { echo "$name is not here: left out"; continue; }
    GOCHAN_STRESS="${GOCHAN_STRESS:-3}" $python dev.py test -q tests/test_stress.py
done
