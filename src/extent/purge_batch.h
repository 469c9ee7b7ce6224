/* A batch of granules to purge, of one domain: marked busy under its lock, advised without any lock
   (purge_advise.h), settled under its lock again. How much fits is the caller's to say, since most
   batches live on stacks that may be small. */
#pragma once

#include "domain.h"
#include "os_advise.h"

enum purge_stage {
    PURGE_STAGE_LAZY,   /* MADV_FREE, or the next rung where that is refused */
    PURGE_STAGE_CLEAN,  /* MADV_DONTNEED, but for what the kernel has taken already */
    PURGE_STAGE_SURVEY, /* what is lazy stays so, but for what the kernel has taken */
};

struct purge_item {
    struct chunk *chunk;
    bool breaks;               /* a huge page that is to be broken up first */
    bool again;                /* lazy, to be advised a second time */
    uint8_t stage;             /* scratch of purge_advise.c: the stage of this item */
    uint64_t lazy_since_ns;    /* 0: it was not lazy */
    bits_t taken, lazy, clean; /* what was made busy; of it, what became lazy and clean */
};

/* Neighbouring granules of an item, advised as one range. */
struct purge_run {
    uint16_t item;
    uint8_t first, n;
};

struct purge_batch {
    size_t count, max_items, max_runs;
    unsigned forks; /* of the process when the advising began */
    struct purge_item *items;
    struct purge_run *runs;  /* scratch of purge_advise.c, and */
    struct os_range *ranges; /* what is advised in one call; max_runs of each */
};

enum { PURGE_STACK_ITEMS = 24, PURGE_STACK_RUNS = 96 };

/* A batch on the stack: 4 KiB. */
#define PURGE_BATCH_ON_STACK(batch)                             \
    struct purge_item batch##_items[PURGE_STACK_ITEMS];         \
    struct purge_run batch##_runs[PURGE_STACK_RUNS];            \
    struct os_range batch##_ranges[PURGE_STACK_RUNS];           \
    struct purge_batch batch = {.max_items = PURGE_STACK_ITEMS, \
                                .max_runs = PURGE_STACK_RUNS,   \
                                .items = batch##_items,         \
                                .runs = batch##_runs,           \
                                .ranges = batch##_ranges}

static inline bool purge_batch_is_full(const struct purge_batch *batch) {
    return batch->count == batch->max_items;
}

/* Adds dirty or lazy granules of a chunk; they are busy then. The batch is not full. The item is the
   caller's to say more of. */
struct purge_item *purge_batch_add_locked(struct purge_batch *batch, struct domain *domain,
                                          struct chunk *chunk, bits_t set);

/* The second half of purge_batch_run(), which tests call alone. */
size_t purge_batch_settle(struct purge_batch *batch, struct domain *domain);

/* Advises all of it, settles the outcome, and empties the batch. Returns the granules for which the
   kernel agreed. */
size_t purge_batch_run(struct purge_batch *batch, struct domain *domain, enum purge_stage stage);
