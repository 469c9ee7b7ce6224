/* Purging: dirty -> lazy (MADV_FREE) -> clean (MADV_DONTNEED). decay.h says how much and when,
   this says which granules and by which system calls. No lock is held across a call: the granules
   in flight are marked busy under the domain's lock, and become what they turned out to be under
   it again. */
#pragma once

#include "domain.h"

/* Does what is due now in this domain, by the clock. Call it with no lock held, at the end of slow
   paths. Preserves errno. */
void purge_poll(struct domain *domain);

/* Every domain: all dirty memory becomes lazy; with `clean`, all dirty and lazy memory is given
   back. Returns the bytes for which the kernel agreed. */
size_t purge_all(bool clean);

/* A hint, without lock or clock: whether purge_poll() could find something. */
static inline bool purge_possible(const struct domain *domain) {
    return atomic_load_explicit(&domain->purgeable, memory_order_relaxed) != 0;
}
