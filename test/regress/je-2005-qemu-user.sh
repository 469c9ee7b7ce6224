#!/bin/bash
# je#2005: under qemu-user, where madvise may say yes and do nothing, calloc over memory that was freed
# still reads as zero, and at most one line is said about it. ($1: the calloc test, plain)
set -u
. "$(dirname "$0")/../support/script.sh"
export FALLOW_TEST_SCALE=25
qemu=qemu-$(uname -m)
script_need "$qemu"
scratch=$(script_scratch)
for conf in "" dirty_decay_ms:0,lazy_decay_ms:0 dirty_decay_ms:0,purge:dontneed,purge_thread:always; do
    FALLOW_CONF=$conf "$qemu" -E LD_PRELOAD="$FALLOW_SO" "$1" >"$scratch/out" 2>&1 ||
        script_fail "with '$conf': $(tail -n 3 "$scratch/out")"
    [ "$(grep -c '^fallow:' "$scratch/out")" -le 1 ] || script_fail "with '$conf' it says: $(cat "$scratch/out")"
done
