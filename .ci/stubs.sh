#!/usr/bin/env bash
# The stubs match the built module, and users' code type-checks against them.
set -euo pipefail
cd "$(dirname "$0")/.."
. .ci/lib.sh
announce "stubs"
python3 dev.py --with mypy --with typing_extensions python -m mypy.stubtest gochan \
    --allowlist .ci/stubs.allow
python3 dev.py --with mypy --with typing_extensions python -m mypy --strict tests/typing
