#!/bin/bash
# jemalloc's options, from the program's malloc_conf, then from MALLOC_CONF, then FALLOW_CONF, the later ones
# over the earlier; what Fallow has nothing like is named in one line.
# ($1: a program that prints its options)
set -u
. "$(dirname "$0")/../support/script.sh"
program=$1
scratch=$(script_scratch)

run() { # run [VARIABLE=VALUE ...]: under Fallow; what it says goes to $scratch/said
    env LD_PRELOAD="$FALLOW_SO" "$@" "$program" 2>"$scratch/said" || script_fail "$* $program failed"
}

expect() { # expect LINE ...: of what was printed last
    for line in "$@"; do
        grep -qxF -- "$line" "$scratch/printed" || script_fail "no line '$line' in: $(cat "$scratch/printed")"
    done
}

silent() {
    [ ! -s "$scratch/said" ] || script_fail "it says: $(cat "$scratch/said")"
}

run >"$scratch/printed"
expect 'opt.dirty_decay_ms 1234' 'opt.narenas 3' 'opt.muzzy_decay_ms 10000' 'opt.thp default'
silent
run MALLOC_CONF=dirty_decay_ms:77,muzzy_decay_ms:0,thp:never,background_thread:true >"$scratch/printed"
expect 'opt.dirty_decay_ms 77' 'opt.narenas 3' 'opt.muzzy_decay_ms 0' 'opt.thp never'
silent
run MALLOC_CONF=dirty_decay_ms:77,thp:default FALLOW_CONF=dirty_decay_ms:5 >"$scratch/printed"
expect 'opt.dirty_decay_ms 5' 'opt.thp default'
silent
run MALLOC_CONF=prof:true,muzzy_decay_ms:5,lg_prof_sample:19 >"$scratch/printed"
expect 'opt.muzzy_decay_ms 5'
echo 'fallow: MALLOC_CONF: nothing like it here, ignored: prof:true,lg_prof_sample:19' >"$scratch/expected"
cmp "$scratch/said" "$scratch/expected" || script_fail "it says: $(cat "$scratch/said")"
run MALLOC_CONF=narenas:many >"$scratch/printed"
expect 'opt.narenas 3'
grep -qx "fallow: MALLOC_CONF: narenas:many is not a number; ignored" "$scratch/said" ||
    script_fail "it says: $(cat "$scratch/said")"
run MALLOC_CONF=stats_print:true >"$scratch/printed"
grep -q '^fallow report' "$scratch/said" || script_fail "stats_print:true printed no report"

# The reference reads what both know alike.
MALLOC_CONF=muzzy_decay_ms:5 "$program" >"$scratch/printed" || script_fail "$program failed with jemalloc"
expect 'opt.dirty_decay_ms 1234' 'opt.narenas 3' 'opt.muzzy_decay_ms 5' 'opt.thp default'
