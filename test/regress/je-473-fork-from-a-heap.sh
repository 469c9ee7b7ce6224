#!/bin/bash
# je#473: a fork costs no system call of Fallow's, in the parent or in the child, and the child writes few pages, with
# huge pages, too. ($1: the program)
set -u
. "$(dirname "$0")/../support/script.sh"
script_need strace
script_needs_no_gcov
scratch=$(script_scratch)
calls() { # calls OPTION...: of all kinds, but for those that set memory up
    strace -f -c -o "$scratch/calls" "$@" >/dev/null || script_fail "the program fails"
    awk '$NF ~ /^(mmap|munmap|brk|madvise|total|----+)$/ { next } $4 ~ /^[0-9]+$/ { n += $4 } END { print n + 0 }' \
        "$scratch/calls"
}
libc=$(calls "$1")
fallow=$(calls -E LD_PRELOAD="$FALLOW_SO" "$1")
echo "200 forks: $libc calls with the libc's malloc, $fallow with Fallow's"
[ "$libc" -ge 600 ] || script_fail "only $libc calls counted"
[ "$fallow" -le $((libc + 60)) ] || script_fail "$fallow calls, and only $libc without"

libc=$("$1") || script_fail "the program fails with the libc's malloc"
[ "$libc" -ge 5 ] || script_fail "only $libc faults counted"
for conf in "" thp:always thp:never; do
    fallow=$("${script_preload[@]}" FALLOW_CONF=$conf "$1") || script_fail "the program fails with '$conf'"
    echo "faults in each child: $libc with the libc's malloc, $fallow with Fallow's and '$conf'"
    # Fallow's handlers write a dozen pages of its records.
    [ "$fallow" -le $((libc + 16)) ] || script_fail "$fallow faults in each child with '$conf', and $libc without"
done
