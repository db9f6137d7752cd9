#!/usr/bin/env bash
# Style of everything that is written by hand.
set -euo pipefail
cd "$(dirname "$0")/.."
. .ci/lib.sh
announce "lint"
.ci/tools.sh
export PATH="$(gochan_cache)/tools/bin:$PATH"

ruff check .
ruff format --check .
cython-lint --max-line-length 99 gochan/core/*.pxi
# Which names are unused shows only in the whole module: its parts put together.
whole="$(mktemp -d)/core.pyx"
sed -E 's|^include "(.*)".*|cat gochan/\1|;t;d' gochan/_core.pyx | bash | cat \
    <(grep -v '^include' gochan/_core.pyx) - >"$whole"
cython-lint --no-pycodestyle "$whole"
if command -v clang-format >/dev/null; then
    clang-format --dry-run -Werror gochan/c/*.h tests/*.c tests/c/*.[ch] tests/c/model/*.h tests/c/model/*.cpp
else
    echo "clang-format is not there: the C headers' format is not checked"
fi
