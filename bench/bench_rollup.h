#ifndef BENCH_ROLLUP_H
#define BENCH_ROLLUP_H

// The calling process's resident memory by /proc/self/smaps_rollup, the only accurate account that
// the kernel gives (Linux 4.14 for the file, 4.12 for LazyFree). Allocates nothing. A reading walks
// the page tables, at about 13 ms a GiB of small pages.

#include <stdbool.h>
#include <stdint.h>

struct bench_rollup {
    uint64_t rss_kib;
    uint64_t lazy_kib; // LazyFree: part of rss_kib that the kernel may take
    uint64_t huge_kib; // AnonHugePages: part of rss_kib
};

int bench_rollup_open(void); // a descriptor; -1 where the kernel has no such file

// False, and all zero, if there is nothing to read.
bool bench_rollup_read(int fd, struct bench_rollup *rollup);

#endif
