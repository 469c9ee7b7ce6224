/* Purging: dirty -> lazy (MADV_FREE) -> clean (MADV_DONTNEED). decay.h says how much and when,
   this says which granules and by which system calls. No lock is held across a call: the granules
   in flight are marked busy under the domain's lock, and become what they turned out to be under
   it again. */
#pragma once

#include "domain.h"

/* Does what is due in this domain at `now_ns`. Called with no lock held. Preserves errno. */
void purge_poll_slow(struct domain *domain, uint64_t now_ns);

/* Every domain: all dirty memory becomes lazy; with `clean`, all dirty and lazy memory is given
   back. Returns the bytes for which the kernel agreed. */
size_t purge_all(bool clean);

static inline void purge_poll(struct domain *domain, uint64_t now_ns) {
    if (atomic_load_explicit(&domain->purgeable, memory_order_relaxed) != 0)
        purge_poll_slow(domain, now_ns);
}
