/* The end of an epoch. State is the caller's, under the caller's lock. */
#include "decay.h"

size_t decay_tick(struct decay *decay, size_t level, uint64_t now_ns, uint64_t epoch_ns) {
    size_t idle = 0;
    if (!decay_is_due(decay, now_ns))
        return 0;
    if (atomic_load_explicit(&decay->epoch_end_ns, memory_order_relaxed) != 0)
        idle = decay->low < level ? decay->low : level;
    decay->low = level;
    atomic_store_explicit(&decay->epoch_end_ns, now_ns + epoch_ns, memory_order_relaxed);
    return idle;
}
