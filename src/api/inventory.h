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

/* A snapshot that stays as it is until it is refreshed. Walks of more than 5 ms take at most a twentieth of the time: asked for
   sooner, it does nothing. Returns how many snapshots there were so far. */
uint64_t inventory_refresh(void);
uint64_t inventory_last(struct inventory *out);
/* What arena `number` has, caches included, as of the snapshot or, if that arena was not asked for, since. */
void inventory_last_arena(unsigned number, struct tally *out);

void inventory_lock_for_fork(void);
void inventory_unlock_after_fork(bool child);

/* Bytes of live blocks of all sizes. */
size_t inventory_live_bytes(const struct inventory *inventory);
