/* The purge and the kernel: ranges that it refuses to purge, what it counts as resident, and memory
   that others take and give meanwhile. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <string.h>

#include "../random.h"
#include "counters.h"
#include "os_smaps.h"
#include "purge_by_hand.h"

TestSuite(purge_kernel, .init = start_purge);

/* --- refusals --- */

Test(purge_kernel, a_refused_range_is_counted_and_its_neighbours_are_purged) {
    struct chunk *chunk = chunk_like("adaddad"), *other = chunk_like("add");
    lock_granule(chunk, 1);
    cr_assert_eq(purge_all(false), 5 * GRANULE_BYTES);
    expect_picture(chunk, "ada~~a~.");
    expect_picture(other, "a~~.");
    cr_assert_eq(counters_read(COUNTER_lazy_refused), 1u);
    cr_assert_eq(counters_read(COUNTER_clean_refused), 1u); /* tried next */
    cr_assert_eq(counters_read(COUNTER_lazy_advised_bytes), 5 * GRANULE_BYTES);
    cr_assert(granule_is(chunk, 1, BYTE));
    expect_law();
}

Test(purge_kernel, a_refused_range_is_tried_again_when_it_is_old) {
    options.lazy_decay_ms = -1;
    struct chunk *chunk = chunk_like("ada");
    lock_granule(chunk, 1);
    poll_after(0);
    poll_after(EPOCH);
    cr_assert_eq(counters_read(COUNTER_lazy_refused), 1u);
    for (unsigned i = 0; i < 20; i++)
        poll_after(EPOCH);
    cr_assert_eq(counters_read(COUNTER_lazy_refused), 1u);
    expect_picture(chunk, "ada.");
    unlock_granule(chunk, 1);
    poll_after(11000);
    expect_picture(chunk, "a~a.");
}

Test(purge_kernel, a_request_tries_again_what_was_refused) {
    struct chunk *chunk = chunk_like("ada");
    lock_granule(chunk, 1);
    purge_all(false);
    cr_assert_eq(purge_all(false), 0u);
    cr_assert_eq(counters_read(COUNTER_lazy_refused), 2u);
    unlock_granule(chunk, 1);
    cr_assert_eq(purge_all(false), GRANULE_BYTES);
    expect_picture(chunk, "a~a.");
}

Test(purge_kernel, lazy_memory_that_is_refused_is_dirty_again) {
    struct chunk *chunk = chunk_like("adda");
    purge_all(false);
    lock_granule(chunk, 2);
    cr_assert_eq(purge_all(true), 0u);
    expect_picture(chunk, "adda."); /* one run, one call, one answer */
    unlock_granule(chunk, 2);
    cr_assert_eq(purge_all(true), 2 * GRANULE_BYTES);
    expect_law();
}

Test(purge_kernel, all_refused_is_no_endless_loop) {
    for (unsigned i = 0; i < 40; i++)
        lock_granule(chunk_like("ad"), 1);
    cr_assert_eq(purge_all(true), 0u);
    cr_assert_eq(counters_read(COUNTER_clean_refused), 40u);
    cr_assert_eq(arena->domain.dirty, 40u);
    options.dirty_decay_ms = 0;
    poll_after(20000);
    cr_assert_eq(arena->domain.dirty, 40u);
    expect_law();
}

/* --- as the kernel counts --- */

static struct os_smaps smaps(void) {
    struct os_smaps smaps;
    cr_assert(os_smaps_read(&smaps));
    return smaps;
}

Test(purge_kernel, lazyfree_grows_in_the_first_stage_and_rss_falls_in_the_second) {
    enum { CHUNKS = 8 };
    skip_under_tools();
    char drawing[CHUNK_GRANULES + 1];
    memset(drawing, 'd', CHUNK_GRANULES);
    drawing[0] = 'a';
    drawing[CHUNK_GRANULES] = '\0';
    for (unsigned i = 0; i < CHUNKS; i++)
        chunk_like(drawing);
    size_t free_bytes = bytes_of_granules(CHUNKS * (CHUNK_GRANULES - 1));
    size_t slack = (size_t)1 << 20;
    struct os_smaps dirty = smaps();
    cr_assert_eq(purge_all(false), free_bytes);
    struct os_smaps lazy = smaps();
    cr_assert_geq(lazy.lazyfree_bytes, dirty.lazyfree_bytes + free_bytes - slack);
    cr_assert_geq(lazy.rss_bytes + slack, dirty.rss_bytes);
    cr_assert_eq(purge_all(true), free_bytes);
    struct os_smaps clean = smaps();
    cr_assert_leq(clean.lazyfree_bytes, slack);
    cr_assert_leq(clean.rss_bytes + free_bytes, dirty.rss_bytes + slack);
}

Test(purge_kernel, dontneed_lowers_rss_at_once) {
    enum { GRANULES = 100 };
    skip_under_tools();
    options.purge = PURGE_DONTNEED;
    options.dirty_decay_ms = 0;
    char drawing[GRANULES + 1] = "a";
    memset(drawing + 1, 'd', GRANULES - 1);
    chunk_like(drawing);
    struct os_smaps before = smaps();
    poll_after(0);
    struct os_smaps after = smaps();
    cr_assert_leq(after.rss_bytes + bytes_of_granules(GRANULES - 1),
                  before.rss_bytes + (64U << 10));
}

/* --- while others take and give --- */

static _Atomic bool stop;

static void *take_and_give(void *arg) {
    struct random r = {(uintptr_t)arg};
    for (unsigned i = 0; i < 3000; i++) {
        bits_t stale;
        unsigned n = 1 + random_below(&r, 12);
        struct extent *extent = arena_take(arena, n, 1, &stale);
        char *base = chunk_extent_base(extent);
        for (unsigned k = 0; k < n; k++) {
            if ((stale >> (extent->first + k) & 1) == 0)
                cr_assert_eq(base[k * GRANULE_BYTES], 0);
            base[k * GRANULE_BYTES] = (char)(i | 1);
        }
        for (unsigned k = 0; k < n; k++)
            cr_assert_eq(base[k * GRANULE_BYTES], (char)(i | 1));
        arena_give(extent);
    }
    return NULL;
}

static void *keep_purging(void *arg) {
    (void)arg;
    while (!atomic_load(&stop)) {
        purge_all(false);
        purge_all(true);
        now += 20 * ms;
        purge_poll(&arena->domain, now);
        purge_poll(&space_domain, now);
    }
    return NULL;
}

Test(purge_kernel, a_purge_never_touches_what_is_in_use) {
    pthread_t users[2], purger;
    chunk_like("a"); /* keeps a chunk, so that extents are purged in the arena as well */
    cr_assert_eq(pthread_create(&purger, NULL, keep_purging, NULL), 0);
    for (uintptr_t i = 0; i < 2; i++)
        cr_assert_eq(pthread_create(&users[i], NULL, take_and_give, (void *)(i + 1)), 0);
    for (unsigned i = 0; i < 2; i++)
        pthread_join(users[i], NULL);
    atomic_store(&stop, true);
    pthread_join(purger, NULL);
    cr_assert_eq(arena->domain.busy + space_domain.busy, 0u);
    cr_assert_eq(arena->domain.used, 1u);
    expect_law();
    purge_all(true);
    cr_assert_eq(arena->domain.dirty + arena->domain.lazy, 0u);
    cr_assert_eq(space_domain.dirty + space_domain.lazy, 0u);
}
