/* Purging: dirty -> lazy (MADV_FREE) -> clean (MADV_DONTNEED). decay.h says how much and when,
   this says which granules and by which system calls. No lock is held across a call: the granules
   in flight are marked busy under the domain's lock, and become what they turned out to be under
   it again. */
#pragma once

#include "domain.h"
#include "purge_batch.h"

/* Does what is due in this domain at `now_ns`. Called with no lock held. Preserves errno. */
void purge_poll_slow(struct domain *domain, uint64_t now_ns);

/* The same with the caller's own batch, which is empty. */
void purge_poll_with(struct purge_batch *batch, struct domain *domain, uint64_t now_ns);

/* When there will be something to do in this domain, if nothing changes; UINT64_MAX: never. */
uint64_t purge_due_ns(struct domain *domain, uint64_t now_ns);

/* What dirty memory becomes. */
enum purge_stage purge_first_stage(void);

/* Adds a chunk on a huge page to a batch that is not full, to be broken up: all of it that is free. */
void purge_break_locked(struct purge_batch *batch, struct domain *domain, struct chunk *chunk);

/* A huge page that is hardly used is broken up when it has been so for this long. */
uint64_t purge_patience_ns(void);

/* Whether there is more dirty or lazy memory, over all domains, than dirty_max and lazy_max allow. */
bool purge_is_over(void);

/* Purges what is above the bounds, the oldest first; with the caller's own batch, or one on the stack. */
void purge_to_bounds(struct purge_batch *batch, uint64_t now_ns);
void purge_to_bounds_now(uint64_t now_ns);

/* Every domain: all dirty memory becomes lazy; with `clean`, all dirty and lazy memory is given
   back. Returns the bytes for which the kernel agreed. */
size_t purge_all(bool clean);

static inline void purge_poll(struct domain *domain, uint64_t now_ns) {
    if (atomic_load_explicit(&domain->purgeable, memory_order_relaxed) != 0)
        purge_poll_slow(domain, now_ns);
}
