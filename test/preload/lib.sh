# shellcheck shell=bash
# For the tests that run real programs with the library preloaded: each command is run twice, under the
# libc's own malloc and under Fallow's, and the two must not differ. Sourced by the scripts beside it.

set -u
# shellcheck source=test/support/script.sh
. "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"

: "${FALLOW_SO:?the library to preload}"
library=$(readlink -f "$FALLOW_SO")
[ -f "$library" ] || script_fail "no library $FALLOW_SO"
scratch=$(script_scratch)
mkdir "$scratch/libc" "$scratch/fallow" # the same work is done in each
export LC_ALL=C.UTF-8 TZ=UTC HOME=$scratch
unset LD_PRELOAD
compared=0 # how many comparisons were made
compared_status=0

# preload_binds PROGRAM ARGUMENT...: fails unless the program, run like this, finds malloc, free and
# calloc in the library and nowhere else. The dynamic linker itself is asked.
preload_binds() {
    rm -f "$scratch"/bindings.*
    env LD_PRELOAD="$FALLOW_SO" LD_BIND_NOW=1 LD_DEBUG=bindings LD_DEBUG_OUTPUT="$scratch/bindings" \
        "$@" >/dev/null 2>"$scratch/bindings-err" </dev/null || true
    cat "$scratch"/bindings.* >"$scratch/bindings-all" 2>/dev/null || script_fail "$1 is not dynamically linked"
    grep -qF "$FALLOW_SO" "$scratch/bindings-all" || script_fail "$1: the library is not loaded"
    grep -E " to .*: normal symbol \`(malloc|free|calloc|realloc)'" "$scratch/bindings-all" >"$scratch/bindings-malloc"
    grep -qE "symbol \`malloc'" "$scratch/bindings-malloc" || script_fail "$1 binds no malloc"
    # The dynamic linker binds itself to its own at first. And a program that takes the address of free
    # lends its own stub as that address; the stub is bound like any call, so what the program does not
    # define itself may be bound to it.
    local program defined line symbol
    program=$(command -v "$1")
    defined=$(nm -D --defined-only "$program" 2>/dev/null | awk '{ print $NF }' | sed 's/@.*//')
    while read -r line; do
        symbol=${line#*normal symbol \`}
        symbol=${symbol%%\'*}
        case $line in
        *" to $FALLOW_SO "* | *" file "*/ld-linux*) ;;
        *" to $program "* | *" to $1 "*)
            ! grep -qx "$symbol" <<<"$defined" || script_fail "$1 defines $symbol itself"
            ;;
        *) script_fail "$1: bound elsewhere than in the library: $line" ;;
        esac
    done <"$scratch/bindings-malloc"
    grep -qF " to $FALLOW_SO " "$scratch/bindings-malloc" || script_fail "$1 binds nothing to the library"
    rm -f "$scratch"/bindings.*
}

# process_has_library PID: the same for a process that runs.
process_has_library() {
    grep -qF "$library" "/proc/$1/maps" || script_fail "process $1 has not loaded the library"
}

# no_complaint FILE: the library had nothing to say there.
no_complaint() {
    if grep -n '^fallow:' "$1" >&2; then
        script_fail "the library complained"
    fi
}

# How outputs are made comparable: the two folders have one name. A script may add to it.
compare_filter=()

normalize() {
    sed -E -e "s,$scratch/(libc|fallow),@,g" "${compare_filter[@]}" "$1"
}

# compare WHAT COMMAND...: runs the command in both folders; output, errors and exit status are the same.
compare() {
    local what=$1 libc_status=0 fallow_status=0 stream
    shift
    (cd "$scratch/libc" && "$@") >"$scratch/libc.out" 2>"$scratch/libc.err" </dev/null || libc_status=$?
    (cd "$scratch/fallow" && LD_PRELOAD=$FALLOW_SO exec "$@") >"$scratch/fallow.out" 2>"$scratch/fallow.err" \
        </dev/null || fallow_status=$?
    no_complaint "$scratch/fallow.err"
    for stream in out err; do
        normalize "$scratch/libc.$stream" >"$scratch/libc.seen"
        normalize "$scratch/fallow.$stream" >"$scratch/fallow.seen"
        if ! diff "$scratch/libc.seen" "$scratch/fallow.seen" >"$scratch/diff"; then
            head -n 40 "$scratch/diff" >&2
            script_fail "$what: std$stream differs (< libc, > fallow)"
        fi
    done
    if [ "$libc_status" != "$fallow_status" ]; then
        tail -n 20 "$scratch/fallow.err" >&2
        script_fail "$what: exit status $fallow_status, under the libc's malloc $libc_status"
    fi
    compared=$((compared + 1))
    compared_status=$libc_status
}

# succeeds WHAT COMMAND...: the same, and the command must succeed.
succeeds() {
    compare "$@"
    [ "$compared_status" = 0 ] || script_fail "$1: exit status $compared_status both times"
}

# same_file PATH...: what the commands left in both folders.
same_file() {
    local path
    for path in "$@"; do
        cmp "$scratch/libc/$path" "$scratch/fallow/$path" >&2 || script_fail "$path differs"
    done
}

# in_both COMMAND...: prepares both folders, with nothing preloaded.
in_both() {
    local folder
    for folder in libc fallow; do
        (cd "$scratch/$folder" && "$@") >"$scratch/prepare" 2>&1 </dev/null || {
            tail -n 20 "$scratch/prepare" >&2
            script_fail "cannot prepare: $*"
        }
    done
}

# wait_until SECONDS COMMAND...: until it succeeds; fails when it never does.
wait_until() {
    local end=$((SECONDS + $1))
    shift
    until "$@" >/dev/null 2>&1; do
        [ "$SECONDS" -lt "$end" ] || script_fail "waited in vain for: $*"
        sleep 0.1
    done
}

port_is_free() {
    ! (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

# free_port: one that nobody listens on. The scripts that use it run alone (RUN_SERIAL).
free_port() {
    local port
    for _ in {1..100}; do
        port=$((20000 + RANDOM % 12000))
        if port_is_free "$port"; then
            echo "$port"
            return
        fi
    done
    script_fail "no free port"
}

# The last line of each script: a test that compared nothing has failed.
preload_done() {
    [ "$compared" -gt 0 ] || script_fail "nothing was compared"
    echo "$compared comparisons, no difference"
}
