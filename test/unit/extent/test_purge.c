/* The purge on real memory, with times passed in: which granules, by how many calls, and what becomes
   of them when the kernel refuses. */
#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../random.h"
#include "counters.h"
#include "law.h"
#include "os_clock.h"
#include "os_smaps.h"
#include "picture.h"
#include "purge.h"

enum { DIRTY_DECAY = 100, EPOCH = DIRTY_DECAY / 2, LAZY_DECAY = 1000, BYTE = 0x5a };

static const uint64_t ms = 1000000;

static struct arena *arena;
static uint64_t now; /* the time that is passed in; begins at the real one */

static void start_purge(void) {
    start_space();
    options.narenas = 2;
    options.dirty_decay_ms = DIRTY_DECAY;
    options.lazy_decay_ms = LAZY_DECAY;
    arena = arena_attach(true);
    now = os_clock_coarse_ns();
}

TestSuite(purge, .init = start_purge);

/* A new chunk of the arena as drawn, in use or dirty, its memory written to; clean behind that. */
static struct chunk *chunk_like(const char *drawing) {
    unsigned n = (unsigned)strlen(drawing);
    struct chunk *chunk = space_take(1, 1);
    cr_assert(chunk_make_extents(chunk));
    chunk_take(chunk, 0, n);
    arena_add_chunk(arena, chunk);
    memset(chunk->base, BYTE, bytes_of_granules(n));
    for (unsigned i = 0; i < n; i++)
        if (drawing[i] == 'd')
            arena_give_at(chunk, i, 1, false);
    return chunk;
}

static bool granule_is(const struct chunk *chunk, unsigned granule, int byte) {
    const char *at = chunk_address(chunk, granule);
    return at[0] == byte && memcmp(at, at + 1, GRANULE_BYTES - 1) == 0;
}

/* Polls the arena `after` milliseconds later than the last time. */
static void poll_after(uint64_t after) {
    now += after * ms;
    purge_poll(&arena->domain, now);
    domain_check_locked(&arena->domain);
    cr_assert_eq(arena->domain.busy, 0u);
}

/* The kernel refuses any purge of a locked granule. Not by mlock(), which sanitizers disarm. */
static void lock_granule(const struct chunk *chunk, unsigned granule) {
    if (syscall(SYS_mlock, chunk_address(chunk, granule), GRANULE_BYTES) != 0)
        cr_skip_test("no memory may be locked here");
}

static void unlock_granule(const struct chunk *chunk, unsigned granule) {
    cr_assert_eq(syscall(SYS_munlock, chunk_address(chunk, granule), GRANULE_BYTES), 0);
}

static uint64_t purge_calls(void) {
    return counters_read(COUNTER_lazy_advise_calls) + counters_read(COUNTER_clean_advise_calls) +
           counters_read(COUNTER_lazy_refused) + counters_read(COUNTER_clean_refused);
}

/* --- on request --- */

Test(purge, dirty_becomes_lazy_and_what_is_in_use_stays) {
    struct chunk *chunk = chunk_like("addadda");
    cr_assert_eq(purge_all(false), 4 * GRANULE_BYTES);
    expect_picture(chunk, "a~~a~~a.");
    cr_assert_eq(arena->domain.lazy, 4u);
    cr_assert(granule_is(chunk, 0, BYTE));
    cr_assert(granule_is(chunk, 3, BYTE));
    cr_assert(granule_is(chunk, 6, BYTE));
    expect_law();
}

Test(purge, clean_memory_reads_as_zero) {
    struct chunk *chunk = chunk_like("addadda");
    cr_assert_eq(purge_all(true), 4 * GRANULE_BYTES);
    expect_picture(chunk, "a..a..a.");
    for (unsigned i = 0; i < 7; i++)
        cr_assert(granule_is(chunk, i, i % 3 == 0 ? BYTE : 0), "granule %u", i);
    expect_law();
}

Test(purge, lazy_becomes_clean) {
    struct chunk *chunk = chunk_like("adda");
    purge_all(false);
    arena_give_at(chunk, 3, 1, false);
    expect_picture(chunk, "a~~d.");
    cr_assert_eq(purge_all(true), 3 * GRANULE_BYTES);
    expect_picture(chunk, "a.");
    cr_assert(granule_is(chunk, 1, 0));
    cr_assert(granule_is(chunk, 3, 0));
}

Test(purge, a_second_request_finds_nothing) {
    chunk_like("adda");
    purge_all(false);
    uint64_t calls = purge_calls();
    cr_assert_eq(purge_all(false), 0u);
    cr_assert_eq(purge_calls(), calls);
    purge_all(true);
    cr_assert_eq(purge_all(true), 0u);
}

Test(purge, one_call_is_made_for_each_run) {
    chunk_like("addaddddaadddd");
    purge_all(false);
    cr_assert_eq(counters_read(COUNTER_lazy_advise_calls), 3u);
    cr_assert_eq(counters_read(COUNTER_lazy_advised_bytes), 10 * GRANULE_BYTES);
    cr_assert_eq(counters_read(COUNTER_clean_advise_calls), 0u);
    purge_all(true);
    cr_assert_eq(counters_read(COUNTER_clean_advise_calls), 3u);
    cr_assert_eq(counters_read(COUNTER_clean_advised_bytes), 10 * GRANULE_BYTES);
    cr_assert_eq(counters_read(COUNTER_lazy_refused), 0u);
    cr_assert_eq(counters_read(COUNTER_clean_refused), 0u);
}

Test(purge, every_arena_and_the_space_are_purged) {
    struct arena *other = arena_attach(false);
    struct chunk *here = chunk_like("ad");
    bits_t stale;
    struct extent *there = arena_take(other, 4, 1, &stale);
    arena_shrink(there, 1);
    struct chunk *emptied = chunk_like("a");
    arena_give_at(emptied, 0, 1, false);
    cr_assert_eq(emptied->domain, &space_domain);
    cr_assert_eq(purge_all(false), 3 * GRANULE_BYTES);
    expect_picture(here, "a~.");
    expect_picture(there->chunk, "aaa~.");
    expect_picture(emptied, "~.");
    cr_assert_eq(purge_all(true), 3 * GRANULE_BYTES);
    cr_assert_eq(arena->domain.lazy + other->domain.lazy + space_domain.lazy, 0u);
    expect_law();
}

Test(purge, more_chunks_than_fit_one_batch_are_purged) {
    enum { CHUNKS = 70 };
    struct chunk *chunks[CHUNKS];
    for (unsigned i = 0; i < CHUNKS; i++)
        chunks[i] = chunk_like("adad");
    cr_assert_eq(purge_all(false), CHUNKS * 2 * GRANULE_BYTES);
    cr_assert_eq(purge_all(true), CHUNKS * 2 * GRANULE_BYTES);
    for (unsigned i = 0; i < CHUNKS; i++)
        expect_picture(chunks[i], "a.a.");
    expect_law();
}

Test(purge, errno_is_left_alone) {
    struct chunk *chunk = chunk_like("ada");
    lock_granule(chunk, 1);
    errno = EXDEV;
    cr_assert_eq(purge_all(true), 0u);
    poll_after(0);
    poll_after(EPOCH);
    cr_assert_eq(errno, EXDEV);
}

/* --- by demand and time --- */

Test(purge, what_is_idle_becomes_lazy_within_dirty_decay) {
    struct chunk *chunk = chunk_like("adda");
    poll_after(0); /* the first epoch begins */
    poll_after(EPOCH - 1);
    expect_picture(chunk, "adda.");
    poll_after(1);
    expect_picture(chunk, "a~~a.");
}

Test(purge, nothing_happens_before_an_epochs_end) {
    struct chunk *chunk = chunk_like("adda");
    poll_after(0);
    for (unsigned i = 1; i < EPOCH; i++)
        poll_after(1);
    expect_picture(chunk, "adda.");
    cr_assert_eq(purge_calls(), 0u);
}

Test(purge, what_was_needed_in_the_epoch_stays_dirty) {
    struct chunk *chunk = chunk_like("addddda");
    poll_after(0);
    cr_assert(arena_take_at(chunk, 1, 3));
    arena_give_at(chunk, 1, 3, false);
    poll_after(EPOCH);
    expect_picture(chunk, "addd~~a."); /* from the top: extents are placed from the bottom up */
}

Test(purge, a_loop_over_the_same_buffers_makes_no_call) {
    struct chunk *chunk = chunk_like("aaaaaaaa");
    for (unsigned i = 0; i < 40; i++) {
        arena_give_at(chunk, 2, 4, false);
        poll_after(EPOCH / 4);
        cr_assert(arena_take_at(chunk, 2, 4));
        poll_after(EPOCH / 4);
    }
    cr_assert_eq(purge_calls(), 0u);
}

Test(purge, the_oldest_chunk_goes_first) {
    struct chunk *old = chunk_like("add"), *young = chunk_like("add");
    poll_after(0);
    arena->domain.decay.low = 2; /* as if two of the four had been needed */
    poll_after(EPOCH);
    expect_picture(old, "a~~.");
    expect_picture(young, "add.");
}

Test(purge, with_no_decay_every_poll_purges) {
    options.dirty_decay_ms = 0;
    struct chunk *chunk = chunk_like("aadd");
    poll_after(0);
    expect_picture(chunk, "aa~~.");
    arena_give_at(chunk, 0, 1, false);
    poll_after(0);
    expect_picture(chunk, "~a~~.");
}

Test(purge, with_endless_decay_no_poll_purges) {
    options.dirty_decay_ms = -1;
    struct chunk *chunk = chunk_like("add");
    for (unsigned i = 0; i < 10; i++)
        poll_after(10000);
    expect_picture(chunk, "add.");
    cr_assert_eq(purge_all(false), 2 * GRANULE_BYTES);
}

Test(purge, never_means_never_but_on_request) {
    options.purge = PURGE_NEVER;
    options.dirty_decay_ms = 0;
    struct chunk *chunk = chunk_like("add");
    for (unsigned i = 0; i < 10; i++)
        poll_after(10000);
    expect_picture(chunk, "add.");
    cr_assert_eq(purge_calls(), 0u);
    cr_assert_eq(purge_all(true), 2 * GRANULE_BYTES);
    expect_picture(chunk, "a.");
}

Test(purge, dontneed_goes_straight_to_clean) {
    options.purge = PURGE_DONTNEED;
    struct chunk *chunk = chunk_like("add");
    poll_after(0);
    poll_after(EPOCH);
    expect_picture(chunk, "a.");
    cr_assert_eq(counters_read(COUNTER_lazy_advise_calls), 0u);
    cr_assert_eq(counters_read(COUNTER_clean_advise_calls), 1u);
    arena_give_at(chunk, 0, 1, false);
    purge_all(false); /* on request too */
    expect_picture(chunk, ".");
}

Test(purge, lazy_memory_is_given_back_when_it_is_old) {
    struct chunk *chunk = chunk_like("add");
    poll_after(0);
    poll_after(EPOCH);
    expect_picture(chunk, "a~~.");
    uint64_t lazy_since = chunk->lazy_since_ns; /* real time: a little after the first `now` */
    now = lazy_since + LAZY_DECAY * ms - 1;
    poll_after(0);
    expect_picture(chunk, "a~~.");
    poll_after(EPOCH);
    expect_picture(chunk, "a.");
}

Test(purge, with_no_lazy_decay_it_is_given_back_by_the_next_poll) {
    options.lazy_decay_ms = 0;
    struct chunk *chunk = chunk_like("add");
    poll_after(0);
    poll_after(EPOCH);
    poll_after(EPOCH);
    expect_picture(chunk, "a.");
}

Test(purge, with_endless_lazy_decay_it_stays_lazy) {
    options.lazy_decay_ms = -1;
    struct chunk *chunk = chunk_like("add");
    poll_after(0);
    poll_after(EPOCH);
    poll_after(86400000);
    poll_after(86400000);
    expect_picture(chunk, "a~~.");
}

Test(purge, lazy_memory_that_is_used_again_is_not_given_back) {
    struct chunk *chunk = chunk_like("add");
    poll_after(0);
    poll_after(EPOCH);
    cr_assert(arena_take_at(chunk, 1, 1));
    memset(chunk_address(chunk, 1), 7, GRANULE_BYTES);
    poll_after(LAZY_DECAY + EPOCH);
    poll_after(LAZY_DECAY + EPOCH);
    expect_picture(chunk, "aa.");
    cr_assert(granule_is(chunk, 1, 7));
}

Test(purge, without_anything_to_purge_a_poll_does_not_even_begin_an_epoch) {
    chunk_like("aa");
    poll_after(0);
    cr_assert_eq(atomic_load(&arena->domain.decay.epoch_end_ns), 0u);
}

/* --- refusals --- */

Test(purge, a_refused_range_is_counted_and_its_neighbours_are_purged) {
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

Test(purge, a_refused_range_is_tried_again_when_it_is_old) {
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

Test(purge, a_request_tries_again_what_was_refused) {
    struct chunk *chunk = chunk_like("ada");
    lock_granule(chunk, 1);
    purge_all(false);
    cr_assert_eq(purge_all(false), 0u);
    cr_assert_eq(counters_read(COUNTER_lazy_refused), 2u);
    unlock_granule(chunk, 1);
    cr_assert_eq(purge_all(false), GRANULE_BYTES);
    expect_picture(chunk, "a~a.");
}

Test(purge, lazy_memory_that_is_refused_is_dirty_again) {
    struct chunk *chunk = chunk_like("adda");
    purge_all(false);
    lock_granule(chunk, 2);
    cr_assert_eq(purge_all(true), 0u);
    expect_picture(chunk, "adda."); /* one run, one call, one answer */
    unlock_granule(chunk, 2);
    cr_assert_eq(purge_all(true), 2 * GRANULE_BYTES);
    expect_law();
}

Test(purge, all_refused_is_no_endless_loop) {
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

Test(purge, lazyfree_grows_in_the_first_stage_and_rss_falls_in_the_second) {
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

Test(purge, dontneed_lowers_rss_at_once) {
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

Test(purge, a_purge_never_touches_what_is_in_use) {
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
