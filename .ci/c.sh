#!/usr/bin/env bash
# The C headers: unit tests under gcc, clang and the sanitizers, and the models.
set -euo pipefail
cd "$(dirname "$0")/.."
. .ci/lib.sh
announce "c: unit tests, models"
for package in gcc g++ clang relacy-dev; do
    need_apt "$package" || true # tests/c/run.sh names what it leaves out
done
if command -v clang >/dev/null; then
    version="$(clang -dumpversion)"
    need_apt "libclang-rt-${version%%.*}-dev" || true
fi
tests/c/run.sh "$@"
