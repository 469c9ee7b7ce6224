#!/bin/bash
# go#60218: go-60218-refused.sh WAY REFUSE PROGRAM: the program under the filter, the counter that must
# show the refusals, and real programs under the same filter.
set -u
. "$(dirname "$0")/../support/script.sh"
way=$1
refuse=$2
program=$3
scratch=$(script_scratch)
case $way in
none | novec) refused='^0$' ;;
*) refused='^[1-9][0-9]*$' ;;
esac
"$refuse" "$way" "${script_preload[@]}" FALLOW_CONF=dirty_decay_ms:3600000,stats_at_exit:true "$program" "$way" >"$scratch/out" 2>"$scratch/err" || {
    head -n 5 "$scratch/err" >&2
    script_fail "the program failed"
}
counted=$(script_counter "$scratch/err" lazy_refused)
[[ $counted =~ $refused ]] || script_fail "lazy_refused is '$counted', it should match $refused"
[ -n "${FALLOW_SO:-}" ] || exit 0

# Purging all the time, so that the filter has something to refuse.
real() {
    "$@" >"$scratch/libc" 2>&1 || script_fail "$* fails by itself"
    "$refuse" "$way" env LD_PRELOAD="$FALLOW_SO" FALLOW_CONF=dirty_decay_ms:0,lazy_decay_ms:0 "$@" >"$scratch/fallow" 2>&1 ||
        script_fail "$* fails under the filter: $(tail -n 3 "$scratch/fallow")"
    cmp "$scratch/libc" "$scratch/fallow" || script_fail "$*: another output under the filter"
}
real bash -c 'for i in {1..20000}; do a[i]=$i$i; done; echo "${a[*]:100:20}"; echo $(seq 20000) | cksum'
real sort -n -k 2 /proc/cpuinfo
real perl -e 'my %h = map { $_ => "x" x ($_ % 3000) } 1 .. 20000; my $n = 0; $n += length for values %h; undef %h; my @l = ("y" x 1000000) x 20; print $n + @l, "\n"'
echo "$way: lazy_refused $counted"
