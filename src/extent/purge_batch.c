/* The purge mechanism: the ladder of advices and the settling of what came of them. A refusal on one
   range concerns that range: it stays dirty, and its chunk is marked, to be left alone for a while.
   Counters move by what the kernel answered. */
#include "purge_batch.h"

#include "arena.h"
#include "counters.h"
#include "os_advise.h"
#include "space.h"

/* A broken up huge page costs two memory maps, so their number is bounded. */
enum { PURGE_BREAK_MAPS_MAX = 200 };

/* After granules became busy or ceased to be: the chunk's place in its domain. */
static void purge_settle_locked(struct domain *domain, struct chunk *chunk) {
    if (domain->is_space)
        space_settle_locked(chunk);
    else
        arena_settle_locked(container_of(domain, struct arena, domain), chunk);
}

void purge_batch_add_locked(struct purge_batch *batch, struct domain *domain, struct chunk *chunk,
                            bits_t set, bool breaks) {
    batch->items[batch->count++] =
        (struct purge_item){.chunk = chunk, .breaks = breaks, .taken = set};
    domain_start_purge_locked(domain, chunk, set);
    purge_settle_locked(domain, chunk);
}

/* One range down the ladder: MADV_FREE, where it is wanted, then MADV_DONTNEED, then keep. Of a huge
   page, MADV_DONTNEED of a part lowers Rss but not the cgroup's usage; MADV_FREE splits it truly, so
   that goes first. */
static void purge_advise(struct purge_item *item, bits_t run, void *base, size_t bytes,
                         enum purge_stage stage) {
    if (stage == PURGE_STAGE_LAZY) {
        if (os_advise(base, bytes, OS_ADVISE_FREE) == 0) {
            counters_add(COUNTER_lazy_advise_calls, 1);
            counters_add(COUNTER_lazy_advised_bytes, bytes);
            item->lazy |= run;
            return;
        }
        counters_add(COUNTER_lazy_refused, 1);
    }
    if (item->breaks && stage == PURGE_STAGE_CLEAN)
        (void)!os_advise(base, bytes, OS_ADVISE_FREE);
    if (os_advise(base, bytes, OS_ADVISE_DONTNEED) != 0) {
        counters_add(COUNTER_clean_refused, 1);
        return;
    }
    if (!os_dontneed_zeroes()) { /* it said yes and did nothing */
        counters_add(COUNTER_clean_refused, 1);
        return;
    }
    counters_add(COUNTER_clean_advise_calls, 1);
    counters_add(COUNTER_clean_advised_bytes, bytes);
    item->clean |= run;
}

/* Before the ranges of a huge page are purged in part: keeps it from being collapsed again. */
static void purge_break(const struct purge_item *item) {
    static _Atomic unsigned maps;
    counters_add(COUNTER_huge_broken_chunks, 1);
    if (atomic_fetch_add_explicit(&maps, 2, memory_order_relaxed) < PURGE_BREAK_MAPS_MAX)
        (void)!os_advise(item->chunk->base, CHUNK_BYTES, OS_ADVISE_NOHUGEPAGE);
}

static void purge_advise_batch(struct purge_batch *batch, enum purge_stage stage) {
    for (size_t i = 0; i < batch->count; i++) {
        struct purge_item *item = &batch->items[i];
        if (item->breaks)
            purge_break(item);
        for (bits_t rest = item->taken; rest != 0;) {
            unsigned first = bits_first(rest);
            unsigned n = bits_run_from(rest, first);
            bits_t run = bits_range(first, n);
            purge_advise(item, run, chunk_address(item->chunk, first), bytes_of_granules(n), stage);
            rest &= ~run;
        }
    }
}

/* Settles the outcome; returns the granules for which the kernel agreed. */
static size_t purge_batch_settle(struct purge_batch *batch, struct domain *domain) {
    size_t done = 0;
    os_lock_acquire(&domain->lock);
    for (size_t i = 0; i < batch->count; i++) {
        struct purge_item *item = &batch->items[i];
        struct chunk *chunk = item->chunk;
        bits_t agreed = item->lazy | item->clean;
        done += bits_count(agreed);
        domain_end_purge_locked(domain, chunk, item->taken, item->lazy, item->clean);
        if (agreed != item->taken)
            domain_set_refused_locked(domain, chunk, true);
        purge_settle_locked(domain, chunk);
    }
    os_lock_release(&domain->lock);
    return done;
}

size_t purge_batch_run(struct purge_batch *batch, struct domain *domain, enum purge_stage stage) {
    purge_advise_batch(batch, stage);
    return purge_batch_settle(batch, domain);
}
