/* The purge on real memory, with times passed in: which granules become what, when, and by how many
   calls. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "counters.h"
#include "purge_by_hand.h"

TestSuite(purge, .init = start_purge);

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
    arena->domain.decay.low_since_look = 2;
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
