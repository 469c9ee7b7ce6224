#!/bin/bash
# je#1641: the program beside this, $1, forks 10,000 times from 20 threads. Time is not asserted, but what takes it: page
# faults of the children (each is a page that a handler wrote), and system calls (waits for a lock) by a smaller load.
set -u
. "$(dirname "$0")/../support/script.sh"
script_need strace
script_needs_no_gcov
scratch=$(script_scratch)
libc=$("$1") || script_fail "the program fails with the libc's malloc"
fallow=$("${script_preload[@]}" "$1") || script_fail "the program fails"
echo "faults in each child: $libc with the libc's malloc, $fallow with Fallow's"
[ "$libc" -ge 5 ] || script_fail "only $libc faults counted"
# Fallow's handlers write a dozen pages of its records.
[ "$fallow" -le $((libc + 16)) ] || script_fail "$fallow faults in each child, $libc with the libc's malloc"

export FALLOW_TEST_SCALE=4 # 400 forks
calls() { # calls OPTION...: of all kinds but those that set memory up and wait for children
    strace -f -c -o "$scratch/calls" "$@" >/dev/null || script_fail "the program fails under strace"
    awk '$NF ~ /^(mmap|munmap|brk|madvise|wait4|total|----+)$/ { next } $4 ~ /^[0-9]+$/ { n += $4 } END { print n + 0 }' \
        "$scratch/calls"
}
libc=$(calls "$1")
fallow=$(calls -E LD_PRELOAD="$FALLOW_SO" "$1")
echo "400 forks: $libc calls with the libc's malloc, $fallow with Fallow's"
[ "$libc" -ge 1200 ] || script_fail "only $libc calls counted"
[ "$fallow" -le $((libc * 2)) ] || script_fail "$fallow calls, and $libc with the libc's malloc"
