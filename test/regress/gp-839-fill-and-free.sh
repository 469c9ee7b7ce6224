#!/bin/bash
# gp#839: see the program beside this, $1. 500 MB freed and wanted again twelve times make few calls.
set -u
. "$(dirname "$0")/../support/script.sh"
script_need strace
scratch=$(script_scratch)
strace -f -c -e trace=madvise,process_madvise,munmap -o "$scratch/calls" -E LD_PRELOAD="$FALLOW_SO" "$1" ||
    script_fail "the program fails"
calls=$(awk '$NF ~ /^(madvise|process_madvise|munmap)$/ { n += $4 } END { print n + 0 }' "$scratch/calls")
# Each chunk of 2 MiB is advised once for its huge page, and perhaps made lazy once at the end.
echo "$calls calls"
[ "$calls" -le 1000 ] || script_fail "$calls calls"
