#!/bin/bash
# Starting with the library preloaded takes at most 8 system calls more than with an empty object ($1)
# preloaded, and among them is none but mmap, munmap, madvise, mremap and what the dynamic linker does.
set -u
. "$(dirname "$0")/../support/script.sh"
script_need strace
script_needs_no_gcov
empty=$1
scratch=$(script_scratch)
calls() { # calls OBJECT PROGRAM...: how many, and their names in $scratch/names
    local object=$1
    shift
    strace -f -o "$scratch/trace" -E LD_PRELOAD="$object" "$@" >/dev/null 2>"$scratch/err" || script_fail "strace: $(cat "$scratch/err")"
    sed -nE 's/^([0-9]+ +)?([a-z_0-9]+)\(.*/\2/p' "$scratch/trace" >"$scratch/names"
    grep -c . "$scratch/names"
}
for program in /bin/true /bin/echo; do
    without=$(calls "$empty" "$program")
    sort "$scratch/names" >"$scratch/names-without"
    with=$(calls "$FALLOW_SO" "$program")
    sort "$scratch/names" >"$scratch/names-with"
    [ "$without" -gt 10 ] || script_fail "strace saw $without calls"
    more=$(comm -13 "$scratch/names-without" "$scratch/names-with" | sort | uniq -c | tr -s ' \n' ' ')
    [ "$((with - without))" -le 8 ] || script_fail "$program: $with system calls, $without with an empty object; more:$more"
    unusual=$(comm -13 "$scratch/names-without" "$scratch/names-with" | grep -vE '^(mmap|munmap|madvise|mremap|mprotect|brk|pread64|read|fstat|newfstatat)$')
    [ -z "$unusual" ] || script_fail "$program: system calls of another kind: $unusual"
    echo "$program: $with system calls, $without with an empty object; more:$more"
done
