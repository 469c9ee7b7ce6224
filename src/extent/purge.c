/* What is purged when: the epochs of decay.h applied to the domains' lists, and purges on request. How
   it is done is purge_batch.h's. Holds a domain's lock only while it fills a batch. */
#include "purge.h"

#include "arena.h"
#include "options.h"
#include "os_clock.h"
#include "purge_batch.h"
#include "space.h"

static const uint64_t purge_ns_per_ms = 1000000;

/* A refused chunk is tried again after this long. */
static const uint64_t purge_retry_ns = 10000000000;

/* The epoch where dirty_decay_ms gives none. */
static const uint64_t purge_default_epoch_ns = 50000000;

/* A huge page that is hardly used is broken up when it has been so for so many epochs. */
enum { PURGE_BREAK_EPOCHS = 4 };

/* One round over a domain. */
struct purge_round {
    struct domain *domain;
    enum purge_stage stage; /* of dirty memory */
    bool at_once;           /* whatever is dirty, huge pages that are in use included */
    uint64_t now_ns;
};

static uint64_t purge_epoch_ns(void) {
    return options.dirty_decay_ms > 0 ? (uint64_t)options.dirty_decay_ms * purge_ns_per_ms / 2
                                      : purge_default_epoch_ns;
}

/* The clock was read before the lock was taken, so `since_ns` may be later. */
static bool purge_is_older(uint64_t since_ns, uint64_t now_ns, uint64_t age_ns) {
    return now_ns > since_ns && now_ns - since_ns >= age_ns;
}

/* Of `set`, granules from the top down until there are `budget` of them: the allocator places extents
   from the bottom up, so the top is the coldest. */
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

/* Fills the batch with up to `budget` granules of the oldest chunks. Returns what is left of it. */
static size_t purge_collect_dirty(const struct purge_round *round, size_t budget,
                                  struct purge_batch *batch) {
    struct domain *domain = round->domain;
    os_lock_acquire(&domain->lock);
    LIST_FOR_EACH (node, &domain->dirty_chunks) {
        struct chunk *chunk = LIST_ENTRY(node, struct chunk, dirty_node);
        if (purge_batch_is_full(batch) || budget == 0)
            break;
        /* An empty huge page is one thing. */
        bits_t set = chunk->huge ? chunk->dirty : purge_coldest(chunk->dirty, budget);
        budget -= min_size(bits_count(set), budget);
        purge_batch_add_locked(batch, domain, chunk, set, false);
    }
    os_lock_release(&domain->lock);
    return budget;
}

/* Fills the batch with huge pages to be broken up, from one of the two lists of such. */
static void purge_collect_huge(const struct purge_round *round, struct list_node *chunks,
                               struct purge_batch *batch) {
    os_lock_acquire(&round->domain->lock);
    LIST_FOR_EACH (node, chunks) {
        struct chunk *chunk = LIST_ENTRY(node, struct chunk, dirty_node);
        if (purge_batch_is_full(batch) ||
            (!round->at_once && !purge_is_older(chunk->dirty_since_ns, round->now_ns,
                                                PURGE_BREAK_EPOCHS * purge_epoch_ns())))
            break;
        if (chunk->lone)
            continue; /* the rest of it goes when its block goes */
        domain_dirty_clean_locked(round->domain, chunk);
        chunk->huge = false;
        purge_batch_add_locked(batch, round->domain, chunk, chunk->dirty, true);
    }
    os_lock_release(&round->domain->lock);
}

/* Fills the batch from chunks that have been lazy since before `before_ns`. */
static void purge_collect_lazy(struct domain *domain, uint64_t before_ns,
                               struct purge_batch *batch) {
    os_lock_acquire(&domain->lock);
    LIST_FOR_EACH (node, &domain->lazy_chunks) {
        struct chunk *chunk = LIST_ENTRY(node, struct chunk, lazy_node);
        if (purge_batch_is_full(batch) || chunk->lazy_since_ns > before_ns)
            break;
        purge_batch_add_locked(batch, domain, chunk, chunk->lazy, false);
    }
    os_lock_release(&domain->lock);
}

/* What was refused so long ago counts as idle again. Returns the granules. */
static size_t purge_retry_refused(struct domain *domain, uint64_t now_ns, uint64_t age_ns) {
    size_t idle = 0;
    os_lock_acquire(&domain->lock);
    LIST_FOR_EACH (node, &domain->refused_chunks) {
        struct chunk *chunk = LIST_ENTRY(node, struct chunk, dirty_node);
        if (age_ns != 0 && !purge_is_older(chunk->dirty_since_ns, now_ns, age_ns))
            break;
        idle += bits_count(chunk->dirty);
        domain_set_refused_locked(domain, chunk, false);
    }
    os_lock_release(&domain->lock);
    return idle;
}

static size_t purge_dirty(const struct purge_round *round, size_t budget) {
    size_t done = 0;
    while (budget > 0) {
        struct purge_batch batch = {.count = 0};
        budget = purge_collect_dirty(round, budget, &batch);
        if (batch.count == 0)
            break;
        done += purge_batch_run(&batch, round->domain, round->stage);
    }
    return done;
}

static size_t purge_huge(const struct purge_round *round, struct list_node *chunks) {
    size_t done = 0;
    for (;;) {
        struct purge_batch batch = {.count = 0};
        purge_collect_huge(round, chunks, &batch);
        if (batch.count == 0)
            return done;
        done += purge_batch_run(&batch, round->domain, round->stage);
    }
}

static size_t purge_lazy(struct domain *domain, uint64_t before_ns) {
    size_t done = 0;
    for (;;) {
        struct purge_batch batch = {.count = 0};
        purge_collect_lazy(domain, before_ns, &batch);
        if (batch.count == 0)
            return done;
        done += purge_batch_run(&batch, domain, PURGE_STAGE_CLEAN);
    }
}

/* What dirty memory becomes. */
static enum purge_stage purge_first_stage(void) {
    return options.purge == PURGE_DONTNEED ? PURGE_STAGE_CLEAN : PURGE_STAGE_LAZY;
}

/* How many dirty granules are due: all, or those that were idle in the epoch that ends now. */
static size_t purge_due(struct domain *domain, uint64_t now_ns) {
    os_lock_acquire(&domain->lock);
    size_t idle =
        decay_tick(&domain->decay, domain_decaying_locked(domain), now_ns, purge_epoch_ns());
    os_lock_release(&domain->lock);
    if (options.dirty_decay_ms == 0)
        return SIZE_MAX;
    return options.dirty_decay_ms > 0 ? idle : 0;
}

void purge_poll_slow(struct domain *domain, uint64_t now_ns) {
    struct purge_round round = {domain, purge_first_stage(), options.dirty_decay_ms == 0, now_ns};
    if (options.purge == PURGE_NEVER)
        return;
    if (options.dirty_decay_ms != 0 && !decay_is_due(&domain->decay, now_ns))
        return;
    size_t due = purge_due(domain, now_ns);
    size_t again = purge_retry_refused(domain, now_ns, purge_retry_ns);
    purge_dirty(&round, due > SIZE_MAX - again ? SIZE_MAX : due + again);
    if (options.dirty_decay_ms >= 0)
        purge_huge(&round, &domain->sparse_chunks);
    if (round.at_once)
        purge_huge(&round, &domain->held_chunks);
    uint64_t age_ns = (uint64_t)options.lazy_decay_ms * purge_ns_per_ms;
    if (options.lazy_decay_ms >= 0 && now_ns >= age_ns)
        purge_lazy(domain, now_ns - age_ns);
}

static size_t purge_whole(struct domain *domain, bool clean, uint64_t now_ns) {
    enum purge_stage stage = clean ? PURGE_STAGE_CLEAN : purge_first_stage();
    struct purge_round round = {domain, stage, true, now_ns};
    purge_retry_refused(domain, now_ns, 0);
    size_t done = purge_dirty(&round, SIZE_MAX);
    done += purge_huge(&round, &domain->sparse_chunks);
    done += purge_huge(&round, &domain->held_chunks);
    if (clean)
        done += purge_lazy(domain, UINT64_MAX);
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
