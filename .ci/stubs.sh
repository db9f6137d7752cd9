#!/usr/bin/env bash
# The stubs match the built module, and users' code type-checks against them.
set -euo pipefail
cd "$(dirname "$0")/.."
. .ci/lib.sh
announce "stubs"
# gochan.bench is a program: it has no stubs, and nobody calls it
python3 dev.py --with mypy --with typing_extensions python -m mypy.stubtest gochan \
    --allowlist <(echo 'gochan\.bench(\..*)?')
python3 dev.py --with mypy --with typing_extensions python -m mypy --strict tests/typing
