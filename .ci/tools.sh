#!/usr/bin/env bash
# Gets the tools that the jobs use ready: the C tools as Debian packages, the
# Python tools in a venv in the cache, $(gochan_cache)/tools.
#
# A C tool that cannot be had is named in one line; the job that needs it says
# so again and leaves itself out.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# g++ brings libasan, libtsan and libubsan; llvm, the symbolizer without which
# clang's sanitizers print addresses in place of lines.
need_apt gcc g++ make clang clang-format clang-tidy llvm relacy-dev || true
# clang's sanitizer and fuzzer runtimes are a package per version of clang.
if command -v clang >/dev/null; then
    clang_version="$(clang -dumpversion)"
    need_apt "libclang-rt-${clang_version%%.*}-dev" || true
fi

requirements=(
    build
    cython-lint
    "Cython==3.3.*"
    mypy
    ruff
    setuptools
    wheel
)
tools="$(gochan_cache)/tools"
# The stamp holds what the venv was made from and is written last: another
# list, another Python or a half-finished venv makes a new one. Where there is
# no 3.11 in interpreters.sh's list, any Python runs the tools.
python="$(python_for 3.11 2>/dev/null || command -v python3)"
stamp="$python ${requirements[*]}"
if [[ "$(cat "$tools/.stamp" 2>/dev/null)" != "$stamp" ]]; then
    echo "tools: installing ${requirements[*]}"
    "$python" -m venv --clear "$tools"
    "$tools/bin/pip" install -qq --upgrade "${requirements[@]}"
    echo "$stamp" >"$tools/.stamp"
fi
