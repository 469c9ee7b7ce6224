#!/bin/bash
# hm#235, je#2297: in 256 MiB of address space echo says hi and nothing else, and larger programs do
# their work. (A loop of 4 MB blocks within 16 MiB: integration.limits.small.)
set -u
. "$(dirname "$0")/../support/script.sh"
script_need prlimit perl
scratch=$(script_scratch)
little() {
    prlimit --as=268435456 "${script_preload[@]}" "$@"
}
[ "$(little /bin/echo hi 2>&1)" = hi ] || script_fail "echo: $(little /bin/echo hi 2>&1)"
[ "$(little bash -c 'echo $(seq 100000) | cksum' 2>&1)" = "$(bash -c 'echo $(seq 100000) | cksum')" ] || script_fail "bash"
# 100 MiB in use at once, of 256; and what cannot be had is refused in the program's own words.
[ "$(little perl -e 'my @l = map { "x" x 1000000 } 1 .. 100; print scalar @l' 2>&1)" = 100 ] || script_fail "perl: $(little perl -e 'my @l = map { "x" x 1000000 } 1 .. 100; print scalar @l' 2>&1)"
little perl -e 'my @l = map { "x" x 1000000 } 1 .. 1000' >"$scratch/out" 2>&1 && script_fail "more than there is was had"
grep -q 'Out of memory' "$scratch/out" || script_fail "perl says: $(head -c 300 "$scratch/out")"
echo "hi"
