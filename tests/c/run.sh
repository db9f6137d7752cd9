#!/usr/bin/env bash
# Builds and runs everything that checks gochan/c: unit tests with each compiler
# and sanitizer, models under Relacy, and mutation checks of the models.
# A compiler or tool that is not here is named and left out.
#
#   run.sh          all of it
#   run.sh WORD     the jobs that match: park, "park gcc", tsan, model, weakened
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
only="${1:-}"
export c=../../gochan/c work
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

# Some tests ask for more memory than there is and expect NULL.
export ASAN_OPTIONS=allocator_may_return_null=1 TSAN_OPTIONS=allocator_may_return_null=1

export strict="-std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -pthread"
declare -A variants=(
    [plain]="-O2"
    [portable]="-O2 -DGCH_FUTEX_PORTABLE"
    [asan]="-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all"
    [tsan]="-O1 -g -fsanitize=thread"
    [tsan-portable]="-O1 -g -fsanitize=thread -DGCH_FUTEX_PORTABLE"
)

# -- jobs: each notes what passed, or prints all there is to know about a failure --

# Through xargs and bash -c, hence:
# shellcheck disable=SC2317,SC2086
unit() { # TEST COMPILER VARIANT FLAGS...
    local exe="$work/$1-$2-$3"
    if "$2" $strict "${@:4}" -I "$c" "test_$1.c" -o "$exe" >"$exe.log" 2>&1 && "$exe" >>"$exe.log" 2>&1; then
        echo "$2 $3 $(grep passed "$exe.log")" >>"$work/passed"
    else
        echo "FAILED: $1 $2 $3"
        cat "$exe.log"
        return 1
    fi
}

# shellcheck disable=SC2317,SC2086
headers() { # COMPILER: each header compiles alone, in release and debug builds
    local header flag
    for header in "$c"/*.h; do
        [[ "$header" != */futex_* ]] || continue # the bodies of futex.h
        for flag in "" -DGCH_DEBUG; do
            echo "#include \"$header\"" | "$1" $strict $flag -fsyntax-only -x c - ||
                { echo "FAILED: $header alone, $1 $flag"; return 1; }
        done
    done
}

# Without sized delete: Relacy replaces the plain one only.
# shellcheck disable=SC2317
relacy() { g++ -std=c++17 -fno-sized-deallocation -I model "$@"; }

# shellcheck disable=SC2317
model() { # FILE
    local exe="$work/model-$1"
    if relacy -O1 -Wall -Wextra -Werror -Wno-class-memaccess -I "$c" "model/$1.cpp" "$work/explore.o" \
        -o "$exe" >"$exe.log" 2>&1 && "$exe" >>"$exe.log" 2>&1; then
        sed 's/^/ok: model /' "$exe.log"
    else
        echo "FAILED: model $1"
        head -n 200 "$exe.log"
        return 1
    fi
}

# shellcheck disable=SC2317
weakened() { # FILE/MODEL HEADER EXPECTED SED
    local what="weakened $2, ${1#*/}: $4" dir
    dir="$(mktemp -d "$work/XXXXXX")"
    cp "$c"/*.h "$dir"
    sed -i "$4" "$dir/$2"
    if cmp -s "$c/$2" "$dir/$2"; then
        echo "FAILED: $what: sed changed nothing"
    elif ! relacy -O0 -w -I "$dir" "model/${1%/*}.cpp" "$work/explore.o" -o "$dir/model"; then
        echo "FAILED: $what: it does not compile"
    elif MODEL="${1#*/}" "$dir/model" >"$dir/log"; then
        echo "FAILED: $what: not found"
    elif ! head -n 1 "$dir/log" | grep -q "${3/_/ }"; then
        echo "FAILED: $what: expected $3, but"
        head -n 100 "$dir/log"
    else
        echo "$what" >>"$work/found"
        return
    fi
    return 1
}

export -f unit headers relacy model weakened

# -- which jobs --------------------------------------------------------------------

# Can this compiler build and start a program so?  Its runtime may be missing.
can() { echo 'int main(void) { return 0; }' | "$@" -x c - -o "$work/can" 2>/dev/null && "$work/can"; }

list_units() {
    local cc variant test
    for cc in gcc clang; do
        command -v "$cc" >/dev/null || { echo "skipped: no $cc" >&2; continue; }
        echo "headers $cc"
        for variant in "${!variants[@]}"; do
            # shellcheck disable=SC2086
            can "$cc" ${variants[$variant]} || { echo "skipped: $cc cannot build and run $variant" >&2; continue; }
            for test in test_*.c; do
                test="${test#test_}"
                echo "unit ${test%.c} $cc $variant ${variants[$variant]}"
            done
        done
    done
}

list_models() {
    local file header expected change
    for file in select park claim lock mutex rwmutex; do echo "model $file"; done
    grep -v '^#' model/weaken.txt | while read -r file header expected change; do
        [[ -z "$file" ]] || printf 'weakened %s %s %s %q\n' "$file" "$header" "$expected" "$change"
    done
}

has_relacy() { echo '#include <relacy/relacy.hpp>' | g++ -E -x c++ - >/dev/null 2>&1; }

run() { { grep -e "$only" || true; } | xargs -d '\n' -P "$(nproc)" -I {} bash -c '{}' || failed=1; }

failed=0
if has_relacy; then
    # Slow to build, and needed by the models alone: meanwhile the unit tests run.
    relacy -O2 -Wall -Wextra -Werror -c model/explore.cpp -o "$work/explore.o" >"$work/explore.log" 2>&1 &
    explore=$!
fi
run < <(list_units)
[[ ! -s "$work/passed" ]] ||
    awk '{n[$1 " " $2] += $4} END {for (k in n) print "ok: " k ": " n[k] " tests"}' "$work/passed" | sort
if ! has_relacy; then
    echo "skipped: no g++ with Relacy, so no models"
elif wait "$explore"; then
    run < <(list_models)
    [[ ! -s "$work/found" ]] || echo "ok: $(wc -l <"$work/found") weakened headers, the bug found in each"
else
    echo "FAILED: model/explore.cpp"
    cat "$work/explore.log"
    failed=1
fi
exit "$failed"
