/* A census: where the resident memory is, asked of the kernel page by page and sorted by what Fallow has
   there. For reports: it walks every chunk. Other threads may be at work: each chunk is looked at once,
   and the sum is off by what changed meanwhile. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct census {
    /* bytes, resident */
    size_t live;      /* blocks: large ones, and objects of slabs by their class's size */
    size_t rounding;  /* of large blocks to granules, of slabs to objects */
    size_t slab_free; /* in slabs beyond the live objects */
    size_t dirty;     /* free: dirty, warm, and in flight */
    size_t lazy;
    size_t inflation; /* free and never touched, or given back, but on a huge page */
    size_t metadata;
    size_t others; /* the program, its libraries, stacks, Fallow's own static data */
    /* bytes, not resident */
    size_t lazy_taken; /* lazy, and the kernel has taken it, or it never was resident */
};

/* False where the kernel does not say. No allocation, no lock held across a system call; one at a time,
   under the caller's lock. */
bool census_take(struct census *out);

/* Lazy memory that is not resident, of all chunks that have some. False, with 0, where the kernel does not
   say. Any number at a time. */
bool census_lazy_taken(size_t *out);
