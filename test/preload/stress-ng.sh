#!/bin/bash
# stress-ng: its stressors of malloc, madvise, mmap, mremap and fork, each verifying what it wrote.
. "$(dirname "$0")/lib.sh"
script_need stress-ng
preload_binds stress-ng --version
stress() { # stress NAME COUNT OPTION...
    local name=$1 count=$2
    shift 2
    succeeds "$name" stress-ng --quiet --verify --seed 7 --temp-path "$scratch" "--$name" 2 "--$name-ops" "$count" "$@"
}
# Its blocks are as large as --malloc-bytes allows; what it verifies it writes here and there, which on huge pages is slow.
stress malloc 3000 --malloc-bytes 64k
stress malloc 500 --malloc-bytes 8m --malloc-max 4096
stress malloc 300 --malloc-bytes 8m --malloc-thresh 64k --malloc-touch
stress malloc 500 --malloc-bytes 8m --malloc-pthreads 4
stress madvise 20
stress mmap 10 --mmap-bytes 32m
stress mremap 40 --mremap-bytes 16m
stress fork 400
stress bigheap 400 --bigheap-growth 64k
preload_done
