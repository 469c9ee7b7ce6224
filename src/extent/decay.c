/* The end of an epoch. State is the caller's, under the caller's lock. */
#include "decay.h"

size_t decay_tick(struct decay *decay, size_t level, uint64_t now_ns, uint64_t epoch_ns) {
    size_t idle = 0;
    uint64_t end_ns = atomic_load_explicit(&decay->epoch_end_ns, memory_order_relaxed);
    uint64_t looked_ns = atomic_load_explicit(&decay->looked_ns, memory_order_relaxed);
    decay_note(decay, level);
    size_t low_since_look = decay->low_since_look;
    decay_look(decay, now_ns);
    decay_note(decay, level);
    if (now_ns < end_ns)
        return 0;
    if (end_ns != 0)
        idle = now_ns >= looked_ns && now_ns - looked_ns >= epoch_ns ? low_since_look : decay->low;
    decay->low = level;
    atomic_store_explicit(&decay->epoch_end_ns, now_ns + epoch_ns, memory_order_relaxed);
    return idle < level ? idle : level;
}
