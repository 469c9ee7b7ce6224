# shellcheck shell=bash
# What the test scripts share: failing, skipping, a scratch folder that goes away, preloading, and
# reading a counter of the exit report. Sourced, not run.

# Failures end the script with status 1; ctest counts 77 as skipped.
script_fail() {
    echo "failed: $*" >&2
    exit 1
}

script_skip() {
    echo "skipped: $*" >&2
    exit 77
}

# Where something is counted that gcov does as well: at the start, at a fork, at the end.
script_needs_no_gcov() {
    ! grep -qa '__gcov_' "$FALLOW_SO" || script_skip "what gcov does would be counted"
}

script_need() { # script_need COMMAND...: all must be there
    local command
    for command in "$@"; do
        command -v "$command" >/dev/null || script_fail "$command is missing (test/run installs it)"
    done
}

# A folder for this run alone, removed at the end with the processes that script_own was told of; and
# what the script changed of the system is put back, if it has a function script_put_back. Let nothing
# else take the EXIT trap: what a script ends with is lost there.
script_scratch_folder=
script_own_pids=()

script_at_exit() {
    local status=$? pid
    ! declare -F script_put_back >/dev/null || script_put_back
    for pid in "${script_own_pids[@]}"; do
        kill "$pid" 2>/dev/null
    done
    for pid in "${script_own_pids[@]}"; do
        wait "$pid" 2>/dev/null
    done
    [ -n "$script_scratch_folder" ] && rm -rf -- "$script_scratch_folder"
    exit "$status"
}

script_begin() {
    script_scratch_folder=$(mktemp -d "${TMPDIR:-/tmp}/fallow-test.XXXXXX") || exit 1
    trap script_at_exit EXIT
    trap 'exit 143' TERM INT HUP
}

script_scratch() {
    printf '%s' "$script_scratch_folder"
}

# Before a setting of the whole machine is changed: waits until no other run of such a script, of this tree or
# of another, has changed one and would put back what it found.
script_take_machine() {
    local fd
    exec {fd}>/run/lock/fallow-test.lock || script_fail "/run/lock/fallow-test.lock cannot be opened"
    flock "$fd" || script_fail "the lock of the machine cannot be had"
}

script_own() { # script_own PID: this script started it and ends it
    script_own_pids+=("$1")
}

# "${script_preload[@]}" COMMAND... runs a command with the library in LD_PRELOAD; as it is when
# FALLOW_SO is not set. Variables may stand before the command.
# shellcheck disable=SC2034 # used by those who source this
script_preload=(env)
# shellcheck disable=SC2034
[ -n "${FALLOW_SO:-}" ] && script_preload=(env "LD_PRELOAD=$FALLOW_SO")

# script_counter FILE NAME: the value of a counter in the report of stats_at_exit (the first decimal
# number after the name, on the first line where the name stands as a word).
script_counter() {
    sed -nE "s/(^|.*[^A-Za-z0-9_])$2([^A-Za-z0-9_][^0-9]*|: *)([0-9]+)([^0-9].*)?\$/\3/p" "$1" | head -n 1
}

script_begin
