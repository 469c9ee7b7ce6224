#!/bin/bash
# mi#161: every second free of the program $1 is counted as a double free.
set -u
. "$(dirname "$0")/../support/script.sh"
scratch=$(script_scratch)
"${script_preload[@]}" FALLOW_CONF=stats_at_exit:true "$1" >"$scratch/out" 2>"$scratch/err" || {
    tail -n 5 "$scratch/err" >&2
    script_fail "the program failed"
}
made=$(cat "$scratch/out")
counted=$(script_counter "$scratch/err" double_frees)
[ "${made:-0}" -ge 30 ] || script_fail "only '$made' double frees were made"
[ "$counted" = "$made" ] || script_fail "$made double frees were made, '$counted' were detected"
[ "$(grep -c '^fallow: double free of 0x[0-9a-f]*; ignored$' "$scratch/err")" = "$made" ] ||
    script_fail "not every one has its line"
echo "$made of $made detected"
