/* Large blocks that a thread has freed of late, kept in its heap for its next request of that size: the
   most recently freed first, since that is the one in the caches. What they hold is bounded in number
   and bytes, counts as dirty, and is taken back from a thread that does not use it, asleep or not, by
   whichever thread's epoch ends; so there is a lock, which others only try. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "extent.h"
#include "os_lock.h"

enum {
    WARM_BLOCKS_MAX = 8,
    WARM_BYTES_MAX = 4 << 20,
    /* A block that has been seen here at the ends of so many epochs is not needed. */
    WARM_IDLE_EPOCHS = 2,
};

struct warm {
    struct os_lock lock;
    unsigned count;                         /* under lock */
    struct extent *blocks[WARM_BLOCKS_MAX]; /* under lock; the most recently freed last */
    uint64_t epoch_end_ns;                  /* under lock */
    _Atomic size_t granules;                /* in them; written under lock */
};

/* Blocks on their way out, for the caller to give back. */
struct warm_evicted {
    unsigned count;
    struct extent *blocks[WARM_BLOCKS_MAX];
};

void warm_init(struct warm *warm);

/* A block of just so many granules at a multiple of `align`, or NULL. */
struct extent *warm_take(struct warm *warm, size_t granules, size_t align);

/* Keeps a block that is in no page map; what has to go for it is in `out`, perhaps the block itself. */
void warm_put(struct warm *warm, struct extent *block, struct warm_evicted *out);

/* Everything. */
void warm_evict_all(struct warm *warm, struct warm_evicted *out);

/* At the end of an epoch, what has been idle; nothing before it, or while the owner is at it. */
void warm_evict_idle(struct warm *warm, uint64_t now_ns, uint64_t epoch_ns,
                     struct warm_evicted *out);
