#!/usr/bin/env bash
# Gets every interpreter that gochan is tested on ready and lists them, one
# NAME<TAB>COMMAND a line, in interpreters.txt in the cache (lib.sh reads it).
#
# What was built stays in the cache, so only a machine's first run is slow.
# An interpreter that this machine cannot have is named in one line and left
# out; a build that could be tried and failed is an error.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

cache="$(gochan_cache)"
log="$cache/interpreters.log"
list="$cache/interpreters.new"

# Two runs at once would build into the same folders: the second one waits.
exec {lock}>"$cache/interpreters.lock"
flock "$lock"
: >"$log"
: >"$list"

left_out() { echo "$1: left out, $2"; }

# Builds print thousands of lines; the last few matter, and only if one fails.
logged() { "$@" >>"$log" 2>&1 || { tail -n 25 "$log"; echo "failed: $* (all of it: $log)"; exit 1; }; }

# A folder is finished when it holds the recipe that it was made by, written
# last. A build that was cut short, or a recipe that changed, starts afresh.
finished() { [[ "$(cat "$1/.recipe" 2>/dev/null)" == "$2" ]]; }

# --- CPython 3.11, 3.12, 3.13: the machine's own -----------------------------

pyenv_root="$(pyenv root 2>/dev/null || echo "$HOME/.pyenv")"
for minor in 3.11 3.12 3.13; do
    # Digits and dots only: 3.13.0t and 3.13.0rc1 are something else.
    newest="$(printf '%s\n' "$pyenv_root/versions/$minor".* | grep -E '/[0-9.]+$' | sort -V | tail -n 1 || true)"
    if [[ -x "$newest/bin/python" ]]; then
        printf '%s\t%s\n' "$minor" "$newest/bin/python" >>"$list"
    else
        left_out "$minor" "pyenv has none"
    fi
done

# --- Debian's archive ---------------------------------------------------------
# The rest comes from suites newer than the machine's. The machine's own apt
# configuration says where the archive is and how to talk to it.

archive=""
if [[ "$(. /etc/os-release 2>/dev/null && echo "$ID")" == debian ]] && command -v apt-get >/dev/null; then
    codename="$(. /etc/os-release && echo "$VERSION_CODENAME")"
    # What an update would fetch tells it on a new machine too, which has no
    # package lists yet. With awk and not head: it reads on, so apt-get sees no
    # broken pipe.
    archive="$(apt-get update --print-uris | awk -F "/dists/$codename/InRelease'" \
        'NF > 1 && !seen++ { print substr($1, 2) }')"
fi
archive_settings() { apt-config dump | grep -iE '^Acquire::(Check-|https?::Proxy)' || true; }

# --- CPython 3.13t: from the source package, as no package has it -------------

build_freethreaded() { # PREFIX
    local suite=trixie build="$cache/build-3.13t"
    rm -rf "$build" "$1"
    mkdir -p "$build/lists/partial" "$build/archives/partial"
    echo "deb-src $archive $suite main" >"$build/sources.list"
    # Lists of its own: the machine's apt must never see the other suite.
    local apt=(apt-get -qq -o "Dir::Etc::SourceList=$build/sources.list" -o Dir::Etc::SourceParts=-
        -o "Dir::State::Lists=$build/lists" -o "Dir::Cache=$build" -o APT::Sandbox::User=root)
    cd "$build"
    logged "${apt[@]}" update
    logged "${apt[@]}" source --download-only python3.13
    logged dpkg-source --skip-patches -x python3.13_*.dsc source
    cd source
    # Of Debian's patches only the fixes, which are the ones named *.patch. The
    # others move site-packages, and to a place that venvs of a free-threaded
    # build do not look at.
    local fix
    while read -r fix; do
        logged patch -p1 -i "debian/patches/$fix"
    done < <(grep '^[^#].*\.patch$' debian/patches/series)
    # Without PGO and LTO, which take half an hour. Python's own default is -O3.
    logged ./configure --prefix="$1" --disable-gil --with-ensurepip=install --disable-test-modules
    logged make -j2
    logged make install
    # Its own tests, as files: gochan.queue has to pass test_queue.py.
    cp -r Lib/test "$1/lib/python3.13t/"
    cd "$cache"
    rm -rf "$build"
}

recipe="python3.13 of trixie with its fixes, --disable-gil, the tests that need no compiler"
prefix="$cache/3.13t"
if ! finished "$prefix" "$recipe"; then
    if [[ -z "$archive" ]]; then
        left_out 3.13t "it is built from Debian's source package, and apt here knows no Debian archive"
    elif ! need_apt build-essential dpkg-dev pkg-config libssl-dev libffi-dev zlib1g-dev libbz2-dev \
        liblzma-dev libsqlite3-dev libreadline-dev libncurses-dev libexpat1-dev uuid-dev; then
        left_out 3.13t "what it is built with is missing"
    else
        echo "3.13t: building it, about four minutes"
        build_freethreaded "$prefix"
        echo "$recipe" >"$prefix/.recipe"
    fi
fi
if finished "$prefix" "$recipe"; then
    printf '%s\t%s\n' 3.13t "$prefix/bin/python3.13t" >>"$list"
fi

# --- CPython 3.14 and 3.15: packages of Debian's next release, in a chroot ----

sid="$(chroot_dir)"

make_sid() {
    # Whatever debootstrap mounts, unshare takes away with it, however it ends,
    # so that rm never meets a mounted /sys.
    rm -rf "$sid"
    logged unshare --mount debootstrap --variant=minbase sid "$sid" "$archive"
    archive_settings >"$sid/etc/apt/apt.conf.d/machine"
    # g++ for greenlet.
    logged run_in_sid env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends \
        g++ libc6-dev python3.{14,15} python3.{14,15}-{venv,dev} libpython3.{14,15}-testsuite
    logged run_in_sid apt-get clean
}

run_in_sid() {
    # shellcheck disable=SC2046  # the prefix is several words
    $(chroot_prefix) "$@"
}

# pip in the chroot must reach what pip on the machine does. Done on every
# run: a machine's certificates and caps change while its cache stays.
copy_network_settings() {
    local path
    for path in /etc/resolv.conf /etc/hosts /etc/ssl/certs /etc/pip.conf /etc/xdg/pip "$HOME/.config/pip"; do
        rm -rf "${sid:?}$path"
        [[ -e "$path" ]] || continue
        mkdir -p "$(dirname "$sid$path")"
        cp -rL "$path" "$sid$path"
    done
}

recipe="sid: g++, python3.14, python3.15, their tests"
if ! finished "$sid" "$recipe"; then
    if [[ -z "$archive" ]]; then
        left_out "3.14, 3.15" "they are Debian's packages, and apt here knows no Debian archive"
    elif ! unshare --mount true 2>/dev/null; then
        left_out "3.14, 3.15" "they live in a chroot, and only root that may mount can make and enter one"
    elif ! need_apt debootstrap; then
        left_out "3.14, 3.15" "debootstrap is missing"
    else
        echo "3.14, 3.15: installing them, about a minute"
        make_sid
        echo "$recipe" >"$sid/.recipe"
    fi
fi
if finished "$sid" "$recipe"; then
    copy_network_settings
    for minor in 3.14 3.15; do
        printf '%s\t%s\n' "$minor" "$(chroot_prefix) /usr/bin/python$minor" >>"$list"
    done
fi

# --- The list -------------------------------------------------------------------

# An interpreter without these was built without a library that it needs.
while IFS=$'\t' read -r name command; do
    version="$($command -c 'import bz2, ctypes, lzma, sqlite3, ssl, sys; print(sys.version.split()[0])')"
    echo "$name: ready, $version"
done <"$list"
mv "$list" "$cache/interpreters.txt"
