#!/bin/bash
# Nobody is woken for nothing: while one thread allocates and frees and what another freed waits to be given
# back, and while everything is purged at once, the purge thread is woken a few times a second and not at every
# slow call. ($1: fallow-latency, $2: fallow-ebizzy)
set -u
. "$(dirname "$0")/../support/script.sh"
script_need strace
scratch=$(script_scratch)

wakes() { # wakes MOST CONF COMMAND...
    local most=$1 conf=$2 calls
    shift 2
    strace -f -c -e trace=futex -o "$scratch/calls" env FALLOW_CONF="$conf" LD_PRELOAD="$FALLOW_SO" "$@" >"$scratch/out" 2>&1 ||
        script_fail "$* failed: $(cat "$scratch/out")"
    calls=$(awk '$NF == "futex" { print $4 }' "$scratch/calls")
    echo "'$conf': ${calls:-0} futex calls"
    [ "${calls:-0}" -le "$most" ] || script_fail "with '$conf' $1 made $calls futex calls"
}

wakes 500 "" "$1" -m 64m -S 0.5
wakes 500 dirty_decay_ms:0 "$2" -S 1 -n 64 -t 2 --rng stuck
