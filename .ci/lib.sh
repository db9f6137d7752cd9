# shellcheck shell=bash
# Functions that the job scripts share. Source it: . "$(dirname "$0")/lib.sh"
#
# It knows where the cache is and how to reach each interpreter in it; what
# is in the cache, interpreters.sh and tools.sh put there.

# Prints the folder, outside the repo, where whatever is slow to get is kept.
gochan_cache() {
    local cache="${GOCHAN_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/gochan}"
    mkdir -p "$cache"
    echo "$cache"
}

announce() { printf '\n== %s ==\n' "$*"; }

# Prints NAME<TAB>COMMAND for each interpreter that interpreters.sh made ready.
interpreters() { cat "$(gochan_cache)/interpreters.txt"; }

# Prints the command that starts interpreter NAME, or fails if it was left
# out. The command can be several words: use it unquoted, or `run_for`.
python_for() {
    interpreters | awk -F '\t' -v name="$1" \
        '$1 == name { print $2; found = 1 } END { exit !found }'
}

# The interpreters that come from a newer Debian than the machine's need that
# Debian's libc, so they live in a root folder of their own: this one.
chroot_dir() { echo "$(gochan_cache)/sid"; }

# The words that run a command in there. Unlike plain chroot, unshare also
# gives it /proc, in a mount namespace that ends with the command: nothing
# stays mounted in the cache.
chroot_prefix() { echo "unshare --root=$(chroot_dir) --mount-proc"; }

# Does interpreter NAME see that root folder instead of the machine's files?
in_chroot() { [[ "$(python_for "$1")" == "$(chroot_prefix) "* ]]; }

# run_for NAME COMMAND...: runs COMMAND where interpreter NAME lives, for
# example the Python of a venv that was made with it.
run_for() {
    local name="$1"
    shift
    # shellcheck disable=SC2046  # the prefix is several words
    if in_chroot "$name"; then $(chroot_prefix) "$@"; else "$@"; fi
}

# chroot_copy NAME SRC DEST: puts a file or folder of the machine at DEST, an
# absolute path, as interpreter NAME sees it. What was at DEST goes away.
chroot_copy() {
    in_chroot "$1" || { echo "chroot_copy: $1 is not in a chroot" >&2; return 1; }
    [[ "$3" == /*[!/]* ]] || { echo "chroot_copy: bad DEST '$3'" >&2; return 1; }
    local dest
    dest="$(chroot_dir)$3"
    mkdir -p "$(dirname "$dest")"
    rm -rf "$dest"
    cp -a "$2" "$dest"
}

# Makes sure that Debian packages are installed. Fails with one line saying
# why where they are not and cannot be: no apt, not root, no such package.
need_apt() {
    local package missing=()
    for package; do
        [[ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" == installed ]] ||
            missing+=("$package")
    done
    [[ ${#missing[@]} -eq 0 ]] && return
    if [[ $EUID -ne 0 ]] || ! command -v apt-get >/dev/null; then
        echo "not installed, and only root with apt-get could: ${missing[*]}"
        return 1
    fi
    # A new machine's package lists are empty or old; once a script is enough.
    if [[ -z "${apt_updated:-}" ]]; then
        apt-get update -qq >/dev/null || echo "apt-get update failed; going on with the lists there are"
        apt_updated=yes
    fi
    local output
    output="$(DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends \
        -o DPkg::Lock::Timeout=300 "${missing[@]}" 2>&1)" ||
        { echo "$output" | tail -n 5; echo "apt-get could not install: ${missing[*]}"; return 1; }
}
