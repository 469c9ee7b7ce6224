#ifndef PURGE_ADVISE_H
#define PURGE_ADVISE_H

#include <stddef.h>
#include <stdint.h>

// Extents of one mapping, all of one size and one distance.
struct purge_extents {
    char *base;
    size_t count;
    size_t extent_bytes;
    size_t stride_bytes; // at least extent_bytes
};

enum purge_calls {
    PURGE_CALLS_ONE,      // madvise for each extent
    PURGE_CALLS_VECTORED, // process_madvise, PURGE_VECTOR_MAX ranges of neighbouring extents a call
};

enum {
    PURGE_VECTOR_MAX = 1024,
    PURGE_RANGE_BYTES = 16 << 20, // neighbours are joined to ranges of so much
};

// Tries process_madvise on this process with the first page. 0, or the errno of the refusal.
int purge_advise_probe(const struct purge_extents *extents, int advice);

// Gives the advice for every extent and returns how many system calls that took. Ends the program
// with BENCH_EXIT_FAILED if the kernel refuses.
uint64_t purge_advise(const struct purge_extents *extents, enum purge_calls calls, int advice);

#endif
