/* The purge mechanism: batches of granules, the ladder of advices, and the settling of the
   outcome. Which rung was refused is remembered for the process only to skip a call that cannot
   work (ENOSYS and the like on fresh memory); a refusal on one range concerns that range, whose
   chunk is left alone until it is old enough to be tried again. */
#include "purge.h"

#include <errno.h>

#include "arena.h"
#include "counters.h"
#include "options.h"
#include "os_advise.h"
#include "os_assert.h"
#include "os_clock.h"
#include "space.h"

enum { PURGE_BATCH = 32 };

static const uint64_t purge_ns_per_ms = 1000000;

/* A refused chunk is tried again after this long. */
static const uint64_t purge_retry_ns = 10000000000;

/* The epoch where dirty_decay_ms gives none. */
static const uint64_t purge_default_epoch_ns = 50000000;

/* A partly used huge page is broken up when at most a quarter of it is in use and it has had idle
   memory for so many epochs. Each then costs two memory maps, so their number is bounded. */
enum {
    PURGE_BREAK_IN_USE = CHUNK_GRANULES / 4,
    PURGE_BREAK_EPOCHS = 4,
    PURGE_BREAK_MAPS_MAX = 200
};

enum purge_stage { PURGE_STAGE_LAZY, PURGE_STAGE_CLEAN };

static uint64_t purge_epoch_ns(void) {
    return options.dirty_decay_ms > 0 ? (uint64_t)options.dirty_decay_ms * purge_ns_per_ms / 2
                                      : purge_default_epoch_ns;
}

struct purge_item {
    struct chunk *chunk;
    bool breaks;               /* a huge page that is to be broken up first */
    bits_t taken, lazy, clean; /* what was made busy; of it, what became lazy and clean */
};

struct purge_batch {
    struct purge_item items[PURGE_BATCH];
    size_t count;
};

/* Adds granules of a chunk to the batch and marks them busy. */
static void purge_collect_locked(struct domain *domain, struct chunk *chunk, bits_t set,
                                 bool breaks, struct purge_batch *batch) {
    batch->items[batch->count++] =
        (struct purge_item){.chunk = chunk, .breaks = breaks, .taken = set};
    domain_start_purge_locked(domain, chunk, set);
    if (domain->is_space)
        space_settle_locked(chunk);
    else
        arena_settle_locked(container_of(domain, struct arena, domain), chunk);
}

/* Of `set`, whole runs from the top down until `budget` granules are reached: the allocator places
   extents from the bottom up, so the top is the coldest. */
static bits_t purge_coldest(bits_t set, size_t budget) {
    bits_t result = 0;
    size_t have = 0;
    if (bits_count(set) <= budget)
        return set;
    for (unsigned i = CHUNK_GRANULES; i-- > 0 && have < budget;) {
        bits_t bit = (bits_t)1 << i;
        if ((set & bit) != 0) {
            result |= bit;
            have++;
        }
    }
    return result;
}

/* Whether a chunk on a huge page may be purged in part. All of a wholly free one is purged anyway. */
static bool purge_may_break(const struct chunk *chunk, bool at_once, uint64_t now_ns) {
    uint64_t patience_ns = PURGE_BREAK_EPOCHS * purge_epoch_ns();
    if (chunk->lone)
        return false; /* the rest goes together with its block */
    return at_once ||
           (chunk->in_use <= PURGE_BREAK_IN_USE && now_ns - chunk->dirty_since_ns >= patience_ns);
}

/* Fills the batch from the domain's oldest dirty chunks. Returns what is left of the budget. */
static size_t purge_collect_dirty(struct domain *domain, size_t budget, bool at_once,
                                  uint64_t now_ns, struct purge_batch *batch) {
    os_lock_acquire(&domain->lock);
    LIST_FOR_EACH (node, &domain->dirty_chunks) {
        struct chunk *chunk = LIST_ENTRY(node, struct chunk, dirty_node);
        if (batch->count == PURGE_BATCH || budget == 0)
            break;
        if (chunk->refused && now_ns - chunk->dirty_since_ns < purge_retry_ns)
            continue;
        bool breaks = chunk->huge && !domain->is_space;
        if (breaks && !purge_may_break(chunk, at_once, now_ns))
            continue;
        if (breaks) {
            domain_dirty_clean_locked(domain, chunk);
            chunk->huge = false;
        }
        chunk->refused = false;
        bits_t set = chunk->huge || breaks ? chunk->dirty : purge_coldest(chunk->dirty, budget);
        budget -= min_size(bits_count(set), budget);
        purge_collect_locked(domain, chunk, set, breaks, batch);
    }
    os_lock_release(&domain->lock);
    return budget;
}

/* Fills the batch from chunks that have been lazy since before `before_ns`. */
static void purge_collect_lazy(struct domain *domain, uint64_t before_ns,
                               struct purge_batch *batch) {
    os_lock_acquire(&domain->lock);
    LIST_FOR_EACH (node, &domain->lazy_chunks) {
        struct chunk *chunk = LIST_ENTRY(node, struct chunk, lazy_node);
        if (batch->count == PURGE_BATCH || chunk->lazy_since_ns > before_ns)
            break;
        purge_collect_locked(domain, chunk, chunk->lazy, false, batch);
    }
    os_lock_release(&domain->lock);
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
    counters_add(COUNTER_clean_advise_calls, 1);
    counters_add(COUNTER_clean_advised_bytes, bytes);
    if (os_dontneed_zeroes())
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
static size_t purge_finish(struct domain *domain, struct purge_batch *batch, uint64_t now_ns) {
    size_t done = 0;
    os_lock_acquire(&domain->lock);
    for (size_t i = 0; i < batch->count; i++) {
        struct purge_item *item = &batch->items[i];
        struct chunk *chunk = item->chunk;
        bits_t agreed = item->lazy | item->clean;
        done += bits_count(agreed);
        domain_end_purge_locked(domain, chunk, item->taken, item->lazy, item->clean);
        if (agreed != item->taken) {
            chunk->refused = true;
            chunk->dirty_since_ns = now_ns;
        }
        if (domain->is_space)
            space_settle_locked(chunk);
        else
            arena_settle_locked(container_of(domain, struct arena, domain), chunk);
    }
    os_lock_release(&domain->lock);
    return done;
}

static size_t purge_dirty(struct domain *domain, size_t budget, enum purge_stage stage,
                          bool at_once, uint64_t now_ns) {
    size_t done = 0;
    while (budget > 0) {
        struct purge_batch batch = {.count = 0};
        budget = purge_collect_dirty(domain, budget, at_once, now_ns, &batch);
        if (batch.count == 0)
            break;
        purge_advise_batch(&batch, stage);
        done += purge_finish(domain, &batch, now_ns);
    }
    return done;
}

static size_t purge_lazy(struct domain *domain, uint64_t before_ns, uint64_t now_ns) {
    size_t done = 0;
    for (;;) {
        struct purge_batch batch = {.count = 0};
        purge_collect_lazy(domain, before_ns, &batch);
        if (batch.count == 0)
            break;
        purge_advise_batch(&batch, PURGE_STAGE_CLEAN);
        done += purge_finish(domain, &batch, now_ns);
    }
    return done;
}

/* What dirty memory becomes. */
static enum purge_stage purge_first_stage(void) {
    return options.purge == PURGE_DONTNEED ? PURGE_STAGE_CLEAN : PURGE_STAGE_LAZY;
}

/* An epoch has ended: how many dirty granules were idle in it. */
static size_t purge_idle(struct domain *domain, uint64_t now_ns) {
    os_lock_acquire(&domain->lock);
    size_t idle = decay_tick(&domain->decay, domain->dirty, now_ns, purge_epoch_ns());
    os_lock_release(&domain->lock);
    if (options.dirty_decay_ms == 0)
        return SIZE_MAX;
    return options.dirty_decay_ms > 0 ? idle : 0;
}

void purge_poll_slow(struct domain *domain, uint64_t now_ns) {
    if (options.purge == PURGE_NEVER)
        return;
    if (options.dirty_decay_ms != 0 && !decay_is_due(&domain->decay, now_ns))
        return;
    size_t idle = purge_idle(domain, now_ns);
    if (idle > 0)
        purge_dirty(domain, idle, purge_first_stage(), options.dirty_decay_ms == 0, now_ns);
    uint64_t age_ns = (uint64_t)options.lazy_decay_ms * purge_ns_per_ms;
    if (options.lazy_decay_ms >= 0 && now_ns >= age_ns)
        purge_lazy(domain, now_ns - age_ns, now_ns);
}

/* An explicit purge tries again what was refused before. */
static void purge_forget_refusals(struct domain *domain) {
    os_lock_acquire(&domain->lock);
    LIST_FOR_EACH (node, &domain->dirty_chunks)
        LIST_ENTRY(node, struct chunk, dirty_node)->refused = false;
    os_lock_release(&domain->lock);
}

static size_t purge_whole(struct domain *domain, bool clean, uint64_t now_ns) {
    purge_forget_refusals(domain);
    size_t done = purge_dirty(domain, SIZE_MAX, clean ? PURGE_STAGE_CLEAN : purge_first_stage(),
                              true, now_ns);
    if (clean)
        done += purge_lazy(domain, UINT64_MAX, now_ns);
    return done;
}

size_t purge_all(bool clean) {
    uint64_t now_ns = os_clock_coarse_ns();
    size_t done = 0;
    for (unsigned i = 0; i < arena_count(); i++)
        done += purge_whole(&arena_at(i)->domain, clean, now_ns);
    done += purge_whole(&space_domain, clean, now_ns);
    return bytes_of_granules(done);
}
