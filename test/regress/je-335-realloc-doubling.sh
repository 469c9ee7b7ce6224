#!/bin/bash
# je#335: the program beside this, $1. A copy of 128 MiB is 65,536 faults on small pages; what glibc makes of the whole
# is the measure.
set -u
. "$(dirname "$0")/../support/script.sh"
libc=$("$1") || script_fail "the program fails with the libc's malloc"
fallow=$("${script_preload[@]}" FALLOW_CONF=thp:never,stats_at_exit:true "$1" 2>"$(script_scratch)/err") || script_fail "the program fails"
moves=$(script_counter "$(script_scratch)/err" remap_moves)
echo "$libc faults with the libc's malloc, $fallow with Fallow's, which moved $moves blocks"
[ "$libc" -ge 100 ] || script_fail "only $libc faults counted"
[ "$fallow" -le "$libc" ] || script_fail "$fallow faults, $libc with the libc's malloc: large blocks are copied"
[ "${moves:-0}" -ge 10 ] || script_fail "only '$moves' blocks were moved without a copy"
