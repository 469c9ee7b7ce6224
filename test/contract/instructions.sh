#!/bin/bash
# The instructions of a malloc, a written byte and a free, loop and PLT included, are those written down here: who
# makes the fast paths longer, or shorter, changes them. Counted by callgrind, so exact: of two runs that differ in their
# loops alone, the difference. ($1: fallow-pairs; $2: what compiled both, as gcc-12)
set -u
. "$(dirname "$0")/../support/script.sh"
[ "$(uname -m)" = x86_64 ] || script_skip "the counts are those of x86-64"
script_need valgrind

# block size, blocks at a time, tenths of instructions that a pair takes
case $2 in
gcc-12) expected="16 1 460  1k 1 460  32k 1 580  256k 1 580  16 64 511  1k 64 511" ;;
clang-14) expected="16 1 490  1k 1 490  32k 1 600  256k 1 600  16 64 541  1k 64 541" ;;
*) script_skip "no counts are known for $2" ;;
esac

instructions() { # instructions BYTES BATCH LOOPS
    LD_PRELOAD=$FALLOW_SO valgrind --tool=callgrind --callgrind-out-file=/dev/null \
        "$program" -s "$1" -b "$2" -n "$3" 2>&1 >/dev/null | sed -nE 's/.*Collected : ([0-9]+)$/\1/p'
}

program=$1
tolerance=10
wrong=0
# shellcheck disable=SC2086 # words
set -- $expected
while [ $# -gt 0 ]; do
    few=$(instructions "$1" "$2" 1000)
    many=$(instructions "$1" "$2" 3000)
    if [ -z "$few" ] || [ -z "$many" ]; then
        script_fail "callgrind counted nothing"
    fi
    tenths=$(((many - few) * 10 / (2000 * $2)))
    echo "$1 bytes, $2 at a time: $tenths tenths of an instruction, $3 expected"
    if [ $((tenths - $3)) -gt $tolerance ] || [ $(($3 - tenths)) -gt $tolerance ]; then
        wrong=$((wrong + 1))
    fi
    shift 3
done
[ $wrong = 0 ] || script_fail "$wrong of them are off by more than $tolerance tenths"
