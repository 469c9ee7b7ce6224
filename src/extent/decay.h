/* Purge policy: which part of the dirty memory demand has shown to be idle. Arithmetic on levels
   and on a time passed in; touches no memory and makes no call.

   Time runs in epochs. Within an epoch `low` is the lowest dirty level seen: so many granules
   stayed dirty all the time and nobody wanted them. At the epoch's end they are idle and become
   lazy. A loop that frees and allocates the same buffers brings the level down to the same low
   each time round, so once that is purged nothing is idle any more. Memory freed at time t is
   idle for the whole of the next epoch at the latest: it is found between one and two epochs
   after t. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct decay {
    _Atomic uint64_t epoch_end_ns; /* 0 before the first epoch; read without the lock as a hint */
    size_t low;                    /* lowest level in this epoch */
    _Atomic uint64_t looked_ns;    /* when somebody last looked; written without the lock, as is */
    _Atomic unsigned looks;        /* how often; may miss one of two at the same time */
    unsigned noted_looks;          /* `looks` at the last decay_note() */
    size_t level;                  /* at the last decay_note() */
    size_t low_since_look;         /* lowest level since the last look */
};

/* The level sank to `level`, or rose (no effect). */
static inline void decay_note(struct decay *decay, size_t level) {
    unsigned looks = atomic_load_explicit(&decay->looks, memory_order_relaxed);
    if (looks != decay->noted_looks) {
        decay->noted_looks = looks;
        decay->low_since_look = decay->level;
    }
    decay->level = level;
    if (level < decay->low)
        decay->low = level;
    if (level < decay->low_since_look)
        decay->low_since_look = level;
}

/* Somebody looked before the epoch's end. Without the lock. */
static inline void decay_look(struct decay *decay, uint64_t now_ns) {
    unsigned looks = atomic_load_explicit(&decay->looks, memory_order_relaxed);
    atomic_store_explicit(&decay->looks, looks + 1, memory_order_relaxed);
    atomic_store_explicit(&decay->looked_ns, now_ns, memory_order_relaxed);
}

/* Whether the epoch is over. */
static inline bool decay_is_due(const struct decay *decay, uint64_t now_ns) {
    return now_ns >= atomic_load_explicit(&decay->epoch_end_ns, memory_order_relaxed);
}

/* Looks at the clock. If the epoch's time has come, ends it and returns how much of `level` was idle in
   it; or, if nobody looked for a whole further epoch, in that one. */
size_t decay_tick(struct decay *decay, size_t level, uint64_t now_ns, uint64_t epoch_ns);
