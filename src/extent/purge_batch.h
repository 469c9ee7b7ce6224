/* A batch of granules to purge, of one domain: marked busy under its lock, advised without any lock,
   settled under its lock again. */
#pragma once

#include "domain.h"

enum { PURGE_BATCH_CHUNKS = 32 };

enum purge_stage {
    PURGE_STAGE_LAZY,  /* MADV_FREE, or the next rung where that is refused */
    PURGE_STAGE_CLEAN, /* MADV_DONTNEED */
};

struct purge_item {
    struct chunk *chunk;
    bool breaks;               /* a huge page that is to be broken up first */
    bits_t taken, lazy, clean; /* what was made busy; of it, what became lazy and clean */
};

struct purge_batch {
    struct purge_item items[PURGE_BATCH_CHUNKS];
    size_t count;
};

static inline bool purge_batch_is_full(const struct purge_batch *batch) {
    return batch->count == PURGE_BATCH_CHUNKS;
}

/* Adds dirty or lazy granules of a chunk; they are busy then. The batch is not full. */
void purge_batch_add_locked(struct purge_batch *batch, struct domain *domain, struct chunk *chunk,
                            bits_t set, bool breaks);

/* Advises all of it and settles the outcome. Returns the granules for which the kernel agreed. */
size_t purge_batch_run(struct purge_batch *batch, struct domain *domain, enum purge_stage stage);
