#!/usr/bin/env bash
# The extension under ThreadSanitizer.  The interpreter is not sanitised, so what it
# synchronises by itself (its own locks are inlined) is not seen: tsan.supp names that.
# A Map's readers rely on dict's, throughout: its tests are left out.
set -euo pipefail
cd "$(dirname "$0")/.."
. .ci/lib.sh
for name in ${*:-3.13t}; do
    announce "tsan: $name"
    python="$(python_for "$name")" || { echo "$name is not here: left out"; continue; }
    rm -f .venv/tsan.*
    GOCHAN_STRESS=0.1 $python dev.py --sanitize thread test -q \
        tests/test_chan.py tests/test_bulk.py tests/test_dtype.py tests/test_select.py \
        tests/test_selector.py tests/test_golang_chan.py tests/test_stress.py tests/test_atomic.py \
        tests/test_sync_{cond,mutex,once,pool,rwmutex,semaphore,wait_group}.py \
        -k "not a_child_runs and not cpython" # a forked child and its sanitizer hang
    if ls .venv/tsan.* >/dev/null 2>&1; then
        cat .venv/tsan.*
        echo "tsan: data races, see above"
        exit 1
    fi
done
