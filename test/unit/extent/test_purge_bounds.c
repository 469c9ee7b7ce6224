/* The bounds on dirty and lazy memory over all domains, and when the next purge is due. */
#include "purge_by_hand.h"

enum { CHUNKS = 12, MIB_GRANULES = (1 << 20) >> GRANULE_SHIFT };

static struct chunk *chunks[CHUNKS];

/* Chunks of which one granule is in use and half is dirty: 1 MiB each. */
static void start_bounds(void) {
    char drawing[MIB_GRANULES + 2] = "a";
    start_purge();
    memset(drawing + 1, 'd', MIB_GRANULES);
    for (unsigned i = 0; i < CHUNKS; i++)
        chunks[i] = chunk_like(drawing);
}

TestSuite(purge_bounds, .init = start_bounds);

static unsigned mib(size_t granules) {
    return (unsigned)(granules / MIB_GRANULES);
}

Test(purge_bounds, the_totals_are_what_the_domains_have) {
    size_t slack = DOMAIN_TELL_GRANULES;
    cr_assert_geq(atomic_load(&domain_total_dirty) + slack, arena->domain.dirty);
    cr_assert_leq(atomic_load(&domain_total_dirty), arena->domain.dirty + slack);
    purge_all(false);
    cr_assert_leq(atomic_load(&domain_total_dirty), slack);
    cr_assert_geq(atomic_load(&domain_total_lazy) + slack, arena->domain.lazy);
    purge_all(true);
    cr_assert_leq(atomic_load(&domain_total_lazy), slack);
}

Test(purge_bounds, what_is_above_dirty_max_becomes_lazy_oldest_first) {
    options.dirty_max = CHUNKS;
    cr_assert_not(purge_is_over());
    options.dirty_max = 4;
    cr_assert(purge_is_over());
    purge_to_bounds_now(now);
    cr_assert_leq(mib(arena->domain.dirty), 5u); /* what was told of it lags by up to 1 MiB */
    cr_assert_geq(mib(arena->domain.dirty), 3u);
    cr_assert_neq(chunks[0]->lazy, (bits_t)0);
    cr_assert_eq(chunks[CHUNKS - 1]->lazy, (bits_t)0);
    expect_law();
}

Test(purge_bounds, what_is_above_lazy_max_is_given_back_oldest_first) {
    purge_all(false);
    options.lazy_max = 4;
    cr_assert(purge_is_over());
    purge_to_bounds_now(now);
    cr_assert_leq(mib(arena->domain.lazy), 5u);
    cr_assert_eq(chunks[0]->lazy, (bits_t)0);
    expect_law();
}

Test(purge_bounds, no_bound_is_none) {
    options.dirty_max = -1;
    options.lazy_max = -1;
    cr_assert_not(purge_is_over());
    options.dirty_max = 1;
    options.purge = PURGE_NEVER;
    cr_assert_not(purge_is_over());
}

/* --- due --- */

Test(purge_bounds, dirty_memory_is_due_at_the_epochs_end) {
    poll_after(0);
    uint64_t end = atomic_load(&arena->domain.decay.epoch_end_ns);
    cr_assert_eq(purge_due_ns(&arena->domain, now), end);
    cr_assert_eq(purge_due_ns(&arena->domain, end + 5 * ms), end + 6 * ms);
    options.dirty_decay_ms = -1;
    cr_assert_eq(purge_due_ns(&arena->domain, now), UINT64_MAX);
}

Test(purge_bounds, lazy_memory_is_due_at_its_age) {
    purge_all(false);
    uint64_t since = UINT64_MAX;
    for (unsigned i = 0; i < CHUNKS; i++)
        since = min_u64(since, chunks[i]->lazy_since_ns);
    cr_assert_eq(purge_due_ns(&arena->domain, now), since + LAZY_DECAY * ms);
    options.lazy_decay_ms = -1;
    cr_assert_eq(purge_due_ns(&arena->domain, now), UINT64_MAX);
}

Test(purge_bounds, nothing_is_due_when_all_is_clean_or_purging_is_off) {
    options.purge = PURGE_NEVER;
    cr_assert_eq(purge_due_ns(&arena->domain, now), UINT64_MAX);
    options.purge = PURGE_LAZY;
    purge_all(true);
    cr_assert_eq(purge_due_ns(&arena->domain, now), UINT64_MAX);
}
