#!/bin/bash
# The programs of bench/run purge: that their options are taken, what they print first, that their JSON is
# JSON and says what was asked for, and that arguments they cannot use are refused with status 2. What they
# measure is not looked at. ($1 to $5: fallow-purge, fallow-idle, fallow-churn, fallow-usemem,
# fallow-latency)
set -u
. "$(dirname "$0")/../support/script.sh"
script_need python3
scratch=$(script_scratch)
declare -A programs=([purge]=$1 [idle]=$2 [churn]=$3 [usemem]=$4 [latency]=$5)

run() { # run NAME OPTIONS...: a short run that must succeed, its output in $scratch/out; 1 if the kernel refuses
    local name=$1 status
    shift
    "${script_preload[@]}" "${programs[$name]}" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    status=$?
    [ $status = 3 ] && [ -s "$scratch/err" ] && return 1
    [ $status = 0 ] || script_fail "fallow-$name $*: status $status: $(cat "$scratch/err")"
    [ ! -s "$scratch/err" ] || script_fail "fallow-$name $* said: $(cat "$scratch/err")"
}

# A line: the program, a pattern of the first line of output, the options.
while IFS='|' read -r name first options; do
    # shellcheck disable=SC2086 # the options of a row are words
    run "$name" $options || continue
    head -n 1 "$scratch/out" | grep -qE "$first" ||
        script_fail "fallow-$name $options: the first line is $(head -n 1 "$scratch/out")"
done <<'ROWS'
purge|^16 extents of 65536 bytes|-n 16
purge|^16 extents of 16384 bytes, one each 16384, small|-e 16k -d 16k -n 16 -p small -a free -c one
purge|, huge pages|-e 2m -d 2m -n 2 -p huge -a dontneed -c one -r 2
purge|^1030 extents|-e 4k -n 1030 -c vectored
purge|1 other busy thread$|-n 16 -b 1
idle|^malloc  |-m 1m -s 64k
idle|^malloc  |-m 1m -s mixed -k 33 -t 0 --seed 7
idle|^malloc  |-m 1m -s 100 -k 1 -t 2
churn|^[0-9.]+ us a loop|-s 256k -S 0.01
churn|^[0-9.]+ us a loop|-s 1 -S 0 -n 5
usemem|^malloc  |-s 1m
usemem|^malloc  |-s 64k -n 5 -j 1k -p 3 -w
latency|^alone +[0-9]+ calls: p50 [0-9]+ ns|-m 4m -S 0.02
ROWS

# A line: the program, what must hold of the JSON object `r`, the options.
while IFS='|' read -r name expression options; do
    # shellcheck disable=SC2086
    run "$name" --json $options || continue
    python3 - "$scratch/out" "$expression" <<'PY' || script_fail "fallow-$name $options: its JSON: $(cat "$scratch/out")"
import json, sys
with open(sys.argv[1]) as file:
    r = json.load(file)
assert eval(sys.argv[2]), sys.argv[2]
PY
done <<'ROWS'
purge|[(x["advice"], x["calls"]) for x in r["runs"]] == [("free", "one"), ("dontneed", "one")] * 2|-n 16 -c one -r 2
purge|[x["system_calls"] for x in r["runs"]] == [2, 2]|-e 4k -n 1030 -c vectored
purge|r["runs"][0]["rewrite_faults"] >= 16 and r["runs"][0]["fallen_kib"] > 0|-e 64k -n 16 -a dontneed -c one
idle|r["blocks"] == 16 and r["kept"] == 5 and r["kept_bytes"] == 5 * 65536|-m 1m -k 3
idle|r["bytes"] >= 1048576 and r["kept"] == 0 and r["malloc"]["path"][0] == "/"|-m 1m -s mixed
churn|r["bytes"] == 4096 and r["loops"] >= 7|-s 4k -S 0 -n 7
latency|r["bytes"] == 4 << 20 and all(0 < r[p]["p50_ns"] <= r[p]["p99.9_ns"] <= r[p]["worst_ns"] for p in ("alone", "meanwhile"))|-m 4m -s 64k -S 0.05
usemem|r["processes"] == 2 and r["write"] and "rss_kib" in r["fresh"] and "us" in r["again"]|-s 1m -p 2 -w
ROWS

while read -r name options; do
    # shellcheck disable=SC2086
    "${programs[$name]}" $options >"$scratch/out" 2>"$scratch/err" </dev/null
    status=$?
    [ $status = 2 ] || script_fail "fallow-$name $options gave status $status, not 2"
    [ -s "$scratch/err" ] || script_fail "fallow-$name $options was refused without a word"
done <<'ROWS'
purge -e 100
purge -e 64k -d 4k
purge -n 0
purge -p middling
purge -a both -c twice
purge -b -1
idle -m 0
idle -s miscellaneous
idle -k x
idle stray
churn -s 0
churn -n 0
churn -S forever
usemem -p 0
usemem -n 100000
usemem -j 0
usemem --nonsense
latency -m 1m -s 2m
latency -S 0
ROWS
for name in "${!programs[@]}"; do
    run "$name" --help
    grep -q -- --json "$scratch/out" || script_fail "fallow-$name --help does not name --json"
done
