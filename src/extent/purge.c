/* What is purged when: the epochs of decay.h applied to the domains' lists, and purges on request. How
   it is done is purge_batch.h's. Holds a domain's lock only while it fills a batch. */
#include "purge.h"

#include "arena.h"
#include "options.h"
#include "os_clock.h"
#include "os_thread.h"
#include "purge_batch.h"
#include "space.h"
#include "survival.h"

static const uint64_t purge_ns_per_ms = 1000000;

/* A refused chunk is tried again after this long. */
static const uint64_t purge_retry_ns = 10000000000;

/* The epoch where dirty_decay_ms gives none. */
static const uint64_t purge_default_epoch_ns = 50000000;

/* A huge page that is hardly used is broken up when it has been so for so many epochs. */
enum { PURGE_BREAK_EPOCHS = 4 };

/* How long a purge on request waits for what others are purging just now: so many milliseconds. */
enum { PURGE_NAPS_MAX = 100 };

/* One round over a domain. */
struct purge_round {
    struct domain *domain;
    struct purge_batch *batch; /* empty */
    enum purge_stage stage;    /* of dirty memory */
    bool at_once;              /* whatever is dirty, huge pages that are in use included */
    uint64_t now_ns;
};

/* What is idle is found within two epochs. A tenth of dirty_decay_ms is left for the coarse clock, for waking
   up and for the calls. */
static uint64_t purge_epoch_ns(void) {
    return options.dirty_decay_ms > 0 ? (uint64_t)options.dirty_decay_ms * purge_ns_per_ms / 20 * 9
                                      : purge_default_epoch_ns;
}

uint64_t purge_patience_ns(void) {
    return PURGE_BREAK_EPOCHS * purge_epoch_ns();
}

/* What was made lazy on small pages is advised once more after so long. */
static uint64_t purge_again_ns(void) {
    return 2 * purge_epoch_ns();
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
static size_t purge_collect_dirty(const struct purge_round *round, size_t budget) {
    struct domain *domain = round->domain;
    struct purge_batch *batch = round->batch;
    os_lock_acquire(&domain->lock);
    LIST_FOR_EACH (node, &domain->dirty_chunks) {
        struct chunk *chunk = LIST_ENTRY(node, struct chunk, dirty_node);
        if (purge_batch_is_full(batch) || budget == 0)
            break;
        /* An empty huge page is one thing. */
        bits_t set = chunk->huge ? chunk->dirty : purge_coldest(chunk->dirty, budget);
        budget -= min_size(bits_count(set), budget);
        purge_batch_add_locked(batch, domain, chunk, set);
    }
    os_lock_release(&domain->lock);
    return budget;
}

void purge_break_locked(struct purge_batch *batch, struct domain *domain, struct chunk *chunk) {
    domain_dirty_clean_locked(domain, chunk);
    chunk->huge = false;
    if (chunk->dirty != 0)
        purge_batch_add_locked(batch, domain, chunk, chunk->dirty)->breaks = true;
}

/* Fills the batch with huge pages to be broken up, from one of the two lists of such. */
static void purge_collect_huge(const struct purge_round *round, struct list_node *chunks) {
    os_lock_acquire(&round->domain->lock);
    LIST_FOR_EACH (node, chunks) {
        struct chunk *chunk = LIST_ENTRY(node, struct chunk, dirty_node);
        if (purge_batch_is_full(round->batch) ||
            (!round->at_once &&
             !purge_is_older(chunk->dirty_since_ns, round->now_ns, purge_patience_ns())))
            break;
        if (chunk->lone)
            continue; /* the rest of it goes when its block goes */
        purge_break_locked(round->batch, round->domain, chunk);
    }
    os_lock_release(&round->domain->lock);
}

/* Fills the batch from chunks that have been lazy since before `before_ns`. */
static void purge_collect_lazy(const struct purge_round *round, uint64_t before_ns) {
    os_lock_acquire(&round->domain->lock);
    LIST_FOR_EACH (node, &round->domain->lazy_chunks) {
        struct chunk *chunk = LIST_ENTRY(node, struct chunk, lazy_node);
        if (purge_batch_is_full(round->batch) || chunk->lazy_since_ns > before_ns)
            break;
        purge_batch_add_locked(round->batch, round->domain, chunk, chunk->lazy);
    }
    os_lock_release(&round->domain->lock);
}

/* Fills the batch with what was advised once, long enough ago. */
static void purge_collect_once(const struct purge_round *round) {
    os_lock_acquire(&round->domain->lock);
    LIST_FOR_EACH (node, &round->domain->once_chunks) {
        struct chunk *chunk = LIST_ENTRY(node, struct chunk, once_node);
        if (purge_batch_is_full(round->batch) ||
            !purge_is_older(chunk->once_since_ns, round->now_ns, purge_again_ns()))
            break;
        purge_batch_add_locked(round->batch, round->domain, chunk, chunk->once)->again = true;
    }
    os_lock_release(&round->domain->lock);
}

/* Fills the batch with lazy granules of chunks that a survey has not been to. */
static void purge_collect_unsurveyed(const struct purge_round *round, unsigned survey) {
    os_lock_acquire(&round->domain->lock);
    LIST_FOR_EACH (node, &round->domain->lazy_chunks) {
        struct chunk *chunk = LIST_ENTRY(node, struct chunk, lazy_node);
        if (purge_batch_is_full(round->batch))
            break;
        if (chunk->surveyed == survey)
            continue;
        chunk->surveyed = survey;
        purge_batch_add_locked(round->batch, round->domain, chunk, chunk->lazy);
    }
    os_lock_release(&round->domain->lock);
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
        budget = purge_collect_dirty(round, budget);
        if (round->batch->count == 0)
            break;
        done += purge_batch_run(round->batch, round->domain, round->stage);
    }
    return done;
}

static size_t purge_huge(const struct purge_round *round, struct list_node *chunks) {
    size_t done = 0;
    for (;;) {
        purge_collect_huge(round, chunks);
        if (round->batch->count == 0)
            return done;
        done += purge_batch_run(round->batch, round->domain, round->stage);
    }
}

static size_t purge_lazy(const struct purge_round *round, uint64_t before_ns) {
    size_t done = 0;
    for (;;) {
        purge_collect_lazy(round, before_ns);
        if (round->batch->count == 0)
            return done;
        done += purge_batch_run(round->batch, round->domain, PURGE_STAGE_CLEAN);
    }
}

static void purge_once(const struct purge_round *round) {
    for (;;) {
        purge_collect_once(round);
        if (round->batch->count == 0)
            return;
        purge_batch_run(round->batch, round->domain, PURGE_STAGE_LAZY);
    }
}

static void purge_survey(const struct purge_round *round) {
    unsigned survey = survival_surveys(round->now_ns);
    if (atomic_exchange_explicit(&round->domain->surveyed, survey, memory_order_relaxed) == survey)
        return;
    for (;;) {
        purge_collect_unsurveyed(round, survey);
        if (round->batch->count == 0)
            return;
        purge_batch_run(round->batch, round->domain, PURGE_STAGE_SURVEY);
    }
}

enum purge_stage purge_first_stage(void) {
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

void purge_poll_with(struct purge_batch *batch, struct domain *domain, uint64_t now_ns) {
    struct purge_round round = {domain, batch, purge_first_stage(), options.dirty_decay_ms == 0,
                                now_ns};
    if (options.purge == PURGE_NEVER)
        return;
    if (options.dirty_decay_ms != 0 && !decay_is_due(&domain->decay, now_ns)) {
        decay_look(&domain->decay, now_ns);
        return;
    }
    size_t due = purge_due(domain, now_ns);
    size_t again = purge_retry_refused(domain, now_ns, purge_retry_ns);
    purge_dirty(&round, due > SIZE_MAX - again ? SIZE_MAX : due + again);
    if (options.dirty_decay_ms >= 0)
        purge_huge(&round, &domain->sparse_chunks);
    if (round.at_once)
        purge_huge(&round, &domain->held_chunks);
    purge_once(&round);
    purge_survey(&round);
    uint64_t age_ns = (uint64_t)options.lazy_decay_ms * purge_ns_per_ms;
    if (options.lazy_decay_ms >= 0 && now_ns >= age_ns)
        purge_lazy(&round, now_ns - age_ns);
}

void purge_poll_slow(struct domain *domain, uint64_t now_ns) {
    PURGE_BATCH_ON_STACK(batch);
    purge_poll_with(&batch, domain, now_ns);
}

/* When the first chunk of a list has reached an age. */
#define PURGE_FIRST_DUE(list, node_member, since, age_ns) \
    (list_is_empty(list) ? UINT64_MAX                     \
                         : LIST_ENTRY((list)->next, struct chunk, node_member)->since + (age_ns))

uint64_t purge_due_ns(struct domain *domain, uint64_t now_ns) {
    uint64_t due = UINT64_MAX;
    if (options.purge == PURGE_NEVER)
        return due;
    os_lock_acquire(&domain->lock);
    if (options.dirty_decay_ms > 0 && domain_decaying_locked(domain) > 0)
        due = 0; /* when the epoch ends */
    if (options.dirty_decay_ms >= 0)
        due = min_u64(due, PURGE_FIRST_DUE(&domain->sparse_chunks, dirty_node, dirty_since_ns,
                                           purge_patience_ns()));
    due = min_u64(
        due, PURGE_FIRST_DUE(&domain->once_chunks, once_node, once_since_ns, purge_again_ns()));
    due = min_u64(
        due, PURGE_FIRST_DUE(&domain->refused_chunks, dirty_node, dirty_since_ns, purge_retry_ns));
    if (options.lazy_decay_ms >= 0)
        due = min_u64(due, PURGE_FIRST_DUE(&domain->lazy_chunks, lazy_node, lazy_since_ns,
                                           (uint64_t)options.lazy_decay_ms * purge_ns_per_ms));
    uint64_t epoch_end_ns = atomic_load_explicit(&domain->decay.epoch_end_ns, memory_order_relaxed);
    os_lock_release(&domain->lock);
    return due == UINT64_MAX ? due : max_u64(max_u64(due, epoch_end_ns), now_ns + purge_ns_per_ms);
}

/* All domains: the space, whose chunks are the cheapest to purge, then the arenas. */
static struct domain *purge_domain_at(unsigned i) {
    return i == 0 ? &space_domain : &arena_at(i - 1)->domain;
}

/* How many granules there are above a bound of so many MiB; -1: no bound. */
static size_t purge_excess(const _Atomic size_t *total, int64_t max_mib) {
    size_t have = atomic_load_explicit(total, memory_order_relaxed);
    size_t most = max_mib < 0 ? SIZE_MAX : granules_of_bytes((size_t)max_mib << 20);
    return have > most && have < SIZE_MAX / 2 ? have - most : 0;
}

bool purge_is_over(void) {
    return options.purge != PURGE_NEVER &&
           (purge_excess(&domain_total_dirty, options.dirty_max) > 0 ||
            purge_excess(&domain_total_lazy, options.lazy_max) > 0);
}

/* The domain whose lazy memory has waited longest, or NULL. */
static struct domain *purge_oldest_lazy(void) {
    struct domain *oldest = NULL;
    uint64_t oldest_ns = UINT64_MAX;
    for (unsigned i = 0; i <= arena_count(); i++) {
        struct domain *domain = purge_domain_at(i);
        os_lock_acquire(&domain->lock);
        uint64_t since_ns = PURGE_FIRST_DUE(&domain->lazy_chunks, lazy_node, lazy_since_ns, 0);
        os_lock_release(&domain->lock);
        if (since_ns < oldest_ns) {
            oldest_ns = since_ns;
            oldest = domain;
        }
    }
    return oldest;
}

void purge_to_bounds(struct purge_batch *batch, uint64_t now_ns) {
    if (!purge_is_over())
        return;
    struct purge_round round = {NULL, batch, purge_first_stage(), true, now_ns};
    for (unsigned i = 0; i <= arena_count(); i++) {
        size_t excess = purge_excess(&domain_total_dirty, options.dirty_max);
        if (excess == 0)
            break;
        round.domain = purge_domain_at(i);
        size_t done = purge_dirty(&round, excess);
        if (done < excess)
            done += purge_huge(&round, &round.domain->sparse_chunks);
        if (done < excess)
            purge_huge(&round, &round.domain->held_chunks);
    }
    while (purge_excess(&domain_total_lazy, options.lazy_max) > 0) {
        round.domain = purge_oldest_lazy();
        if (round.domain == NULL)
            break;
        purge_collect_lazy(&round, UINT64_MAX);
        if (batch->count == 0 || purge_batch_run(batch, round.domain, PURGE_STAGE_CLEAN) == 0)
            break;
    }
}

void purge_to_bounds_now(uint64_t now_ns) {
    PURGE_BATCH_ON_STACK(batch);
    purge_to_bounds(&batch, now_ns);
}

static size_t purge_whole(struct purge_batch *batch, struct domain *domain, bool clean,
                          uint64_t now_ns) {
    enum purge_stage stage = clean ? PURGE_STAGE_CLEAN : purge_first_stage();
    struct purge_round round = {domain, batch, stage, true, now_ns};
    purge_retry_refused(domain, now_ns, 0);
    size_t done = purge_dirty(&round, SIZE_MAX);
    done += purge_huge(&round, &domain->sparse_chunks);
    done += purge_huge(&round, &domain->held_chunks);
    if (clean)
        done += purge_lazy(&round, UINT64_MAX);
    return done;
}

static bool purge_is_in_flight(void) {
    size_t busy = 0;
    for (unsigned i = 0; i <= arena_count(); i++) {
        struct domain *domain = purge_domain_at(i);
        os_lock_acquire(&domain->lock);
        busy += domain->busy;
        os_lock_release(&domain->lock);
    }
    return busy != 0;
}

size_t purge_all(bool clean) {
    PURGE_BATCH_ON_STACK(batch);
    size_t done = 0;
    for (unsigned naps = 0;; naps++) {
        uint64_t now_ns = os_clock_coarse_ns();
        /* The space last: chunks that were busy pass to it when they are empty. */
        for (unsigned i = arena_count() + 1; i-- > 0;)
            done += purge_whole(&batch, purge_domain_at(i), clean, now_ns);
        if (naps == PURGE_NAPS_MAX || !purge_is_in_flight())
            return bytes_of_granules(done);
        os_thread_nap(); /* another thread is at it; what it leaves dirty or lazy is done here */
    }
}
