#!/bin/bash
# mi#431: starting costs at most 100 us over glibc. Time is not asserted: counted are the instructions of a process that
# does nothing, the dynamic linker's included, beside one that has an empty object ($1) preloaded. At one a nanosecond,
# which is slow, 100,000 take 100 us.
set -u
. "$(dirname "$0")/../support/script.sh"
script_need valgrind
script_needs_no_gcov
scratch=$(script_scratch)
instructions() { # instructions OBJECT
    LD_PRELOAD=$1 valgrind --tool=callgrind --callgrind-out-file=/dev/null /bin/true >"$scratch/out" 2>&1 ||
        script_fail "valgrind: $(tail -n 3 "$scratch/out")"
    sed -nE 's/.*Collected : ([0-9]+).*/\1/p' "$scratch/out"
}
without=$(instructions "$1")
with=$(instructions "$FALLOW_SO")
[ "${without:-0}" -ge 20000 ] || script_fail "only '$without' instructions counted"
echo "$with instructions with the library, $without with an empty object"
[ "$with" -le $((without + 100000)) ] || script_fail "$with instructions with the library, $without without"
