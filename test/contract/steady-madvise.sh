#!/bin/bash
# A steady load of large buffers, freed and allocated over and over, makes fewer than 10 madvise calls a
# second at default settings: what is about to be used again is not purged. ($1: fallow-ebizzy)
set -u
. "$(dirname "$0")/../support/script.sh"
script_need strace
scratch=$(script_scratch)
seconds=3
for threads in 1 2; do
    strace -f -c -e trace=madvise,process_madvise,munmap -o "$scratch/calls" -E LD_PRELOAD="$FALLOW_SO" \
        "$1" -S $seconds -n 64 -t $threads >"$scratch/out" 2>"$scratch/err" || script_fail "$(cat "$scratch/err")"
    records=$(sed -nE '1s/^([0-9]+)(\.[0-9]+)? records\/s.*/\1/p' "$scratch/out")
    [ "${records:-0}" -gt 100 ] || script_fail "ebizzy says: $(head -n 2 "$scratch/out")"
    advised=$(awk '$NF ~ /madvise$/ { n += $4 } END { print n + 0 }' "$scratch/calls")
    unmapped=$(awk '$NF == "munmap" { n += $4 } END { print n + 0 }' "$scratch/calls")
    [ "$advised" -lt $((10 * seconds)) ] || script_fail "$advised madvise calls in $seconds s with $threads threads"
    [ "$unmapped" -lt $((10 * seconds + 50)) ] || script_fail "$unmapped munmap calls in $seconds s with $threads threads"
    echo "$threads threads: $records records/s, $advised madvise calls, $unmapped munmap calls in $seconds s"
done
