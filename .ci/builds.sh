#!/usr/bin/env bash
# Builds what the jobs after the wheel's test, in their order.
set -uo pipefail
cd "$(dirname "$0")/.."
. .ci/lib.sh
build() {
    local python
    python="$(python_for "$1")" && shift && $python dev.py "$@" python -c pass
}
build 3.13 --debug
build 3.13t --debug
build 3.11 --sanitize address
build 3.13t --sanitize address
build 3.13t --sanitize thread
