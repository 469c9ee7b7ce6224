#!/bin/bash
# Runs the row `$2` of cases.txt with the program `$1` and compares what it gets with what the row says.
# With FALLOW_SO set, the library is preloaded; without it the program has Fallow inside.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=test/support/script.sh
. "$here/../support/script.sh"

program=$1
name=$2
scratch=$(script_scratch)

trim() {
    local text=$1
    text=${text#"${text%%[![:space:]]*}"}
    printf '%s' "${text%"${text##*[![:space:]]}"}"
}

row=$(grep -E "^$name +\|" "$here/cases.txt") || script_fail "no row $name in cases.txt"
IFS='|' read -r _ conf mistake status counter lines <<<"$row"
conf=$(trim "$conf")
mistake=$(trim "$mistake")
status=$(trim "$status")
counter=$(trim "$counter")
lines=$(trim "$lines")
[ "$status" = ABRT ] && status=134

run() { # run CONF: leaves $scratch/out and err, and the exit status in $got
    got=0
    # The braces swallow bash's own note of an abort.
    { "${script_preload[@]}" FALLOW_CONF="$1" "$program" "$mistake" >"$scratch/out" 2>"$scratch/err"; } \
        2>"$scratch/note" || got=$?
}

ulimit -c 0
run "$conf"
if [ "$got" != "$status" ]; then
    cat "$scratch/err" >&2
    script_fail "exit status $got, not $status"
fi
pointer=$(sed -n 's/^pointer //p' "$scratch/out")
printf '%s' "$lines" | sed 's, *// *,\n,g' | sed "s/0x\.\.\./$pointer/" >"$scratch/expected"
[ -n "$lines" ] && echo >>"$scratch/expected"
# The bounds are options.def's: any two numbers, with the refused value outside them.
sed -E 's/out of range \(-?[0-9]+ to -?[0-9]+\)/out of range (LOW to HIGH)/' "$scratch/err" >"$scratch/seen"
if ! diff "$scratch/expected" "$scratch/seen" >"$scratch/diff"; then
    cat "$scratch/diff" >&2
    script_fail "the messages differ: < expected, > seen"
fi
while read -r value low high; do
    [ "${#value}" -gt 18 ] || [ "$value" -lt "$low" ] || [ "$value" -gt "$high" ] ||
        script_fail "$value lies in $low..$high"
done < <(sed -nE 's/.*:(-?[0-9]+) is out of range \((-?[0-9]+) to (-?[0-9]+)\).*/\1 \2 \3/p' "$scratch/err")

if [ -n "$counter" ]; then
    run "${conf:+$conf,}stats_at_exit:true"
    [ "$got" = "$status" ] || script_fail "with stats_at_exit: exit status $got, not $status"
    value=$(script_counter "$scratch/err" "${counter%=*}")
    [ "$value" = "${counter#*=}" ] || script_fail "the counter ${counter%=*} is '$value', not ${counter#*=}"
fi
echo "$name: as it should be"
