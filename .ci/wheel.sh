#!/usr/bin/env bash
# An sdist, a wheel from it, and the tests against that wheel: on every interpreter
# that is there, or on those named as arguments.
set -euo pipefail
cd "$(dirname "$0")/.."
. .ci/lib.sh
.ci/tools.sh
rm -rf dist
"$(gochan_cache)/tools/bin/python" -m build -q --sdist --outdir dist .
sdist="$(echo dist/pygochan-*.tar.gz)"

# The tests of gochan bench run where the README's command and smoke.sh do (3.11), and
# without a GIL.
for name in ${*:-$(interpreters | cut -f 1)}; do
    announce "wheel tests: $name"
    python="$(python_for "$name")" || { echo "$name is not here: left out"; continue; }
    which=(-m "not bench")
    [[ "$name" == 3.13t ]] && which=()
    # The README's command has run them all on the default Python.
    [[ "$name" == 3.11 ]] && which=(tests/test_exports.py tests/test_chan.py tests/test_queue.py)
    if in_chroot "$name"; then
        # What the sdist holds, and the sdist, is all that the other root gets.
        rm -rf dist/tree && mkdir dist/tree
        tar xzf "$sdist" -C dist/tree --strip-components 1
        cp "$sdist" dist/tree/
        chroot_copy "$name" dist/tree "/opt/gochan/$name"
        $python "/opt/gochan/$name/dev.py" --sdist "/opt/gochan/$name/$(basename "$sdist")" test -q "${which[@]}"
    else
        PIP_ONLY_BINARY=numpy $python dev.py --sdist "$sdist" --with numpy test -q "${which[@]}"
    fi
done
