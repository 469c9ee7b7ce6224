#!/bin/bash
# The ebizzy-like benchmark: what it prints first, that each letter is taken, that its JSON is JSON and
# agrees with the text, and that arguments it cannot use are refused with status 2. ($1: fallow-ebizzy)
set -u
. "$(dirname "$0")/../support/script.sh"
script_need python3
ebizzy=$1
scratch=$(script_scratch)

# shellcheck disable=SC2086 # the options of a row are words
run() { # run OPTIONS...: a short run that must succeed, its output in $scratch/out
    "${script_preload[@]}" "$ebizzy" "$@" >"$scratch/out" 2>"$scratch/err" ||
        script_fail "fallow-ebizzy $*: $(cat "$scratch/err")"
    [ ! -s "$scratch/err" ] || script_fail "fallow-ebizzy $* said: $(cat "$scratch/err")"
}

while read -r options; do
    # shellcheck disable=SC2086
    run -S 0.05 -n 6 -t 2 --sample-ms 0 $options
    head -n 1 "$scratch/out" | grep -qE '^[1-9][0-9]* records/s$' ||
        script_fail "$options: the first line is $(head -n 1 "$scratch/out")"
    sed -n 2p "$scratch/out" | grep -qE '^real +[0-9.]+ s' || script_fail "$options: no times"
done <<'ROWS'

-s 4096
-m
-M
-T
-l
-R
-z -s 8192
-p
-P
-v
--rng stuck
--rng walk
--hold 5
--phases=20,10
--seed 7 -R
ROWS

run -r 50 -n 3 -t 2 --json --sample-ms 0
python3 - "$scratch/out" <<'PY' || script_fail "its JSON: $(cat "$scratch/out")"
import json, sys
result = json.load(open(sys.argv[1]))
text = json.dumps(result)
assert '"records": 100' in text, text
PY

while read -r options; do
    # shellcheck disable=SC2086
    "$ebizzy" $options >"$scratch/out" 2>"$scratch/err"
    status=$?
    [ $status = 2 ] || script_fail "'$options' gave status $status, not 2"
    [ -s "$scratch/err" ] || script_fail "'$options' was refused without a word"
done <<'ROWS'
-t 0
-t x
-n 0
-s 3
-S -1
-r 0
--rng sometimes
--hold -1
--nonsense
stray
ROWS
