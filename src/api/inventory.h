/* What the program has, and what the heap holds for it: what other allocators' interfaces ask for. Walks all extents:
   some 5 ms for each GiB of slabs. */
#pragma once

#include <fallow/fallow.h>

#include "tally.h"

struct inventory {
    struct fallow_stats stats; /* at one moment; the rest a little later */
    struct tally tally;        /* what is in caches is not `used` here */
    size_t small_bytes;        /* live objects of slabs, by the size of their class */
    size_t slab_free_bytes;    /* objects of slabs that are neither live nor in a cache */
    size_t cached_blocks, cached_bytes;
};

void inventory_take(struct inventory *out);

/* Bytes of live blocks of all sizes. */
size_t inventory_live_bytes(const struct inventory *inventory);
