#!/bin/bash
# fallow-suite: that every shape that it lists runs, takes its modes and a twentieth of its work, checks what it wrote,
# and prints JSON that says so. How long it takes is not looked at. ($1: fallow-suite)
set -u
. "$(dirname "$0")/../support/script.sh"
script_need python3
scratch=$(script_scratch)
suite=$1

run() { # run OPTIONS...: must succeed, its output in $scratch/out
    "${script_preload[@]}" "$suite" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null ||
        script_fail "fallow-suite $*: status $?: $(cat "$scratch/err")"
    [ ! -s "$scratch/err" ] || script_fail "fallow-suite $* said: $(cat "$scratch/err")"
}

run --help
mapfile -t shapes < <(sed -n 's/^  \([a-z-]*\)  .*/\1/p' "$scratch/out")
[ ${#shapes[@]} -ge 12 ] || script_fail "--help lists ${#shapes[@]} shapes"

small() { # small SHAPE OPTIONS...: a twentieth of the work that it does by itself
    local work
    run "$1" --help
    work=$(sed -nE 's/^ +-n, .*\(([0-9]+).*/\1/p' "$scratch/out")
    [ -n "$work" ] || script_fail "fallow-suite $1 --help does not say how much work it does"
    work=$(((work + 19) / 20))
    run "$@" -n $work --json
    python3 - "$scratch/out" "$1" $work <<'PY' || script_fail "fallow-suite $*: its JSON: $(cat "$scratch/out")"
import json, sys
with open(sys.argv[1]) as file:
    r = json.load(file)
assert r["shape"] == sys.argv[2] and r["work"] == int(sys.argv[3])
assert r["seconds"] > 0 and r["threads"] >= 1 and r["malloc"]["path"][0] == "/"
PY
}

for shape in "${shapes[@]}"; do
    small "$shape"
done
small xthread --mode two-way -s 1k
small xthread --mode fan-in -t 16
small xthread --mode fan-out -t 3
small cache --mode active
small larson -t 9
small churn-small -t 2
small frag --curve "$scratch/curve"
head -n 1 "$scratch/curve" | grep -q '^seconds,live_bytes$' || script_fail "frag --curve wrote no head"
[ "$(wc -l <"$scratch/curve")" -gt 2 ] || script_fail "frag --curve wrote no points"

for options in nosuch 'xthread --mode sideways' 'frag -t 2' 'larson -n 0' 'big -s 5'; do
    # shellcheck disable=SC2086 # words
    "$suite" $options >"$scratch/out" 2>"$scratch/err" </dev/null
    status=$?
    [ $status = 2 ] || script_fail "fallow-suite $options gave status $status, not 2"
    [ -s "$scratch/err" ] || script_fail "fallow-suite $options was refused without a word"
done
