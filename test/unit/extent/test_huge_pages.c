/* Chunks on huge pages: which ones ask for them, and that those are broken up only when hardly used,
   after a while or on request. Which granules count as dirty does not depend on whether the kernel
   has a huge page at hand. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "../environment.h"
#include "counters.h"
#include "huge.h"
#include "law.h"
#include "os_clock.h"
#include "os_file.h"
#include "os_residence.h"
#include "os_status.h"
#include "os_thp.h"
#include "picture.h"
#include "purge.h"

enum { EPOCH = 50, SPARSE = CHUNK_SPARSE_MAX, SMALL_CHUNKS = 7 };

static const uint64_t ms = 1000000;

static struct arena *arena;
static uint64_t now;

static void start_huge_pages(void) {
    if (!os_thp_usable())
        cr_skip_test("no huge pages here");
    space_init();
    options.thp = THP_ALWAYS;
    options.dirty_decay_ms = 2 * EPOCH;
    options.lazy_decay_ms = -1;
    arena = arena_attach(true);
    now = os_clock_coarse_ns();
}

TestSuite(huge_pages, .init = start_huge_pages);

/* A new chunk of the arena with `used` granules in use from the bottom, and `dirty` above those. */
static struct chunk *chunk_with(unsigned used, unsigned dirty) {
    struct chunk *chunk = space_take(1, 1);
    cr_assert(chunk_make_extents(chunk));
    chunk_take(chunk, 0, used + dirty);
    arena_add_chunk(arena, chunk);
    memset(chunk->base, 0x5a, bytes_of_granules(used + dirty));
    if (dirty > 0)
        arena_give_at(chunk, used, dirty, false);
    return chunk;
}

static void poll_after(uint64_t after) {
    now += after * ms;
    purge_poll(&arena->domain, now);
    purge_poll(&space_domain, now);
    expect_law();
}

static bool is_kept(const struct chunk *chunk, unsigned used) {
    for (size_t i = 0; i < bytes_of_granules(used); i += 512)
        if (chunk->base[i] != 0x5a)
            return false;
    return true;
}

/* --- which chunks --- */

Test(huge_pages, always_means_every_chunk) {
    struct chunk *run = space_take(3, 1);
    for (size_t i = 0; i < 3; i++)
        cr_assert(space_chunk_at(run->base + i * CHUNK_BYTES)->huge);
    cr_assert_eq(counters_read(COUNTER_huge_advised_chunks), 3u);
}

Test(huge_pages, never_means_none) {
    options.thp = THP_NEVER;
    for (unsigned i = 0; i < 20; i++)
        cr_assert_not(space_take(1, 1)->huge);
    cr_assert_eq(counters_read(COUNTER_huge_advised_chunks), 0u);
}

Test(huge_pages, a_small_process_stays_on_small_ones) {
    options.thp = THP_AUTO;
    for (unsigned i = 0; i < SMALL_CHUNKS; i++)
        cr_assert_not(space_take(1, 1)->huge, "chunk %u", i);
    struct chunk *chunk = space_take(1, 1);
    for (unsigned i = 0; i < SMALL_CHUNKS && !chunk->huge; i++)
        chunk = space_take(1, 1);
    cr_assert(chunk->huge);
}

Test(huge_pages, a_clean_chunk_may_ask_when_it_is_taken_again) {
    options.thp = THP_NEVER;
    struct chunk *chunk = space_take(1, 1);
    space_give(chunk);
    options.thp = THP_ALWAYS;
    cr_assert_eq(space_take(1, 1), chunk);
    cr_assert(chunk->huge);
}

Test(huge_pages, one_that_is_not_clean_is_made_so_first) {
    options.thp = THP_NEVER;
    struct chunk *chunk = space_take(1, 1);
    memset(chunk->base, 1, CHUNK_BYTES);
    chunk->dirty = bits_low(CHUNK_GRANULES);
    options.thp = THP_ALWAYS;
    space_make_huge(chunk);
    cr_assert(chunk->huge);
    expect_picture(chunk, ".");
    cr_assert_eq(chunk->base[0], 0);
    space_make_huge(chunk); /* again: nothing */
    cr_assert_eq(counters_read(COUNTER_huge_advised_chunks), 1u);
}

/* --- purging --- */

Test(huge_pages, one_that_is_much_in_use_is_left_alone_by_time) {
    struct chunk *chunk = chunk_with(SPARSE + 1, 40);
    cr_assert_eq(arena->domain.held, 40u);
    for (unsigned i = 0; i < 20; i++)
        poll_after(EPOCH);
    cr_assert_eq(bits_count(chunk->dirty), 40u);
    cr_assert(chunk->huge);
    cr_assert_eq(counters_read(COUNTER_lazy_advise_calls), 0u);
}

Test(huge_pages, one_that_is_hardly_used_is_broken_up_after_a_while) {
    struct chunk *chunk = chunk_with(SPARSE, 40);
    for (unsigned i = 0; i < 3; i++)
        poll_after(EPOCH);
    cr_assert(chunk->huge);
    for (unsigned i = 0; i < 2; i++)
        poll_after(EPOCH);
    cr_assert_not(chunk->huge);
    cr_assert_eq(counters_read(COUNTER_huge_broken_chunks), 1u);
    cr_assert_eq(bits_count(chunk->lazy), CHUNK_GRANULES - SPARSE); /* all that was resident */
    cr_assert_eq(arena->domain.held, 0u);
    cr_assert(is_kept(chunk, SPARSE));
}

/* Somebody holds the first page: the kernel cannot split the huge one. */
static int hold_page(const struct chunk *chunk) {
    int pipe_ends[2];
    struct iovec page = {.iov_base = chunk->base, .iov_len = 1};
    cr_assert_eq(pipe(pipe_ends), 0);
    cr_assert_eq(vmsplice(pipe_ends[1], &page, 1, 0), 1);
    close(pipe_ends[1]);
    return pipe_ends[0];
}

Test(huge_pages, one_that_the_kernel_did_not_split_stays_dirty_and_is_tried_again) {
    skip_under_tools();
    arena_attach(true); /* no small process any more */
    struct chunk *chunk = chunk_with(SPARSE, 40);
    int pagemap = os_residence_open();
    if (!os_status_is_unfiltered() || !os_residence_is_huge(pagemap, chunk->base, CHUNK_BYTES))
        cr_skip_test("no huge page at hand, or it cannot be seen");
    int held = hold_page(chunk);
    for (unsigned i = 0; i < 5; i++)
        poll_after(EPOCH);
    cr_assert_eq(counters_read(COUNTER_huge_broken_chunks), 1u);
    cr_assert(os_residence_is_huge(pagemap, chunk->base, CHUNK_BYTES));
    cr_assert_eq(chunk->lazy, (bits_t)0);
    cr_assert_eq(bits_count(chunk->dirty), CHUNK_GRANULES - SPARSE);
    cr_assert_eq(counters_read(COUNTER_huge_unsplit_bytes),
                 bytes_of_granules(CHUNK_GRANULES - SPARSE));
    close(held);
    poll_after(11000);
    cr_assert_not(os_residence_is_huge(pagemap, chunk->base, CHUNK_BYTES));
    cr_assert_eq(bits_count(chunk->lazy), CHUNK_GRANULES - SPARSE);
    cr_assert(is_kept(chunk, SPARSE));
    os_file_close(pagemap);
}

Test(huge_pages, one_that_is_used_more_again_is_not_broken_up) {
    struct chunk *chunk = chunk_with(SPARSE, 40);
    poll_after(2 * EPOCH);
    cr_assert(arena_take_at(chunk, SPARSE, 1));
    for (unsigned i = 0; i < 20; i++)
        poll_after(EPOCH);
    cr_assert(chunk->huge);
    cr_assert_eq(counters_read(COUNTER_huge_broken_chunks), 0u);
}

Test(huge_pages, a_request_breaks_up_all) {
    struct chunk *much = chunk_with(100, 20), *little = chunk_with(3, 20);
    cr_assert_eq(purge_all(true), bytes_of_granules(28 + 125));
    cr_assert_not(much->huge);
    cr_assert_not(little->huge);
    cr_assert_eq(counters_read(COUNTER_huge_broken_chunks), 2u);
    cr_assert(is_kept(much, 100));
    cr_assert(is_kept(little, 3));
    cr_assert_eq(much->base[100 * GRANULE_BYTES], 0);
    cr_assert_eq(arena->domain.dirty + arena->domain.held, 0u);
    expect_law();
}

Test(huge_pages, an_empty_one_is_one_thing) {
    struct chunk *chunk = chunk_with(1, 9);
    arena_give_at(chunk, 0, 1, false);
    cr_assert_eq(chunk->domain, &space_domain);
    expect_picture(chunk, "d"); /* it is resident as a whole */
    poll_after(0);
    poll_after(EPOCH);
    expect_picture(chunk, "~");
    cr_assert(chunk->huge);
    cr_assert_eq(counters_read(COUNTER_lazy_advise_calls), 1u);
    cr_assert_eq(counters_read(COUNTER_lazy_advised_bytes), CHUNK_BYTES);
}

Test(huge_pages, a_lazy_one_is_dirty_as_a_whole_when_it_is_taken) {
    struct chunk *chunk = chunk_with(1, 9);
    arena_give_at(chunk, 0, 1, false);
    purge_all(false);
    expect_picture(chunk, "~");
    cr_assert_eq(space_take(1, 1), chunk);
    expect_picture(chunk, "d"); /* one write, and none of it is lazy any more */
}

/* --- blocks alone in their chunks --- */

static struct extent *take(unsigned n) {
    bits_t stale;
    return arena_take(arena, n, 1, &stale);
}

Test(huge_pages, where_all_is_purged_at_once_large_blocks_get_chunks_of_their_own) {
    options.dirty_decay_ms = 0;
    arena_give(take(40)); /* from now on large blocks are known to come and go */
    struct extent *a = take(40), *b = take(40), *small = take(4);
    cr_assert_neq(a->chunk, b->chunk);
    cr_assert(a->chunk->lone);
    cr_assert_neq(small->chunk, a->chunk);
    cr_assert_neq(small->chunk, b->chunk);
    cr_assert_eq(arena->lone_chunks, 2u);
    expect_law();
    arena_give(a);
    cr_assert_eq(arena->lone_chunks, 1u);
    arena_give(b);
    cr_assert_eq(arena->lone_chunks, 0u);
    expect_law();
}

Test(huge_pages, what_a_lone_block_gave_back_waits_for_the_rest) {
    options.dirty_decay_ms = 0;
    arena_give(take(40));
    struct extent *a = take(40);
    struct chunk *chunk = a->chunk;
    memset(chunk->base, 0x5a, bytes_of_granules(40));
    arena_shrink(a, 20);
    for (unsigned i = 0; i < 10; i++)
        poll_after(EPOCH);
    expect_picture(chunk, "aaaaaaaaaaaaaaaaaaaad");
    cr_assert(chunk->huge);
    arena_give(a);
    poll_after(EPOCH);
    expect_picture(chunk, "~");
    cr_assert_eq(counters_read(COUNTER_huge_broken_chunks), 0u);
}

Test(huge_pages, there_are_only_so_many_chunks_of_one_block) {
    options.dirty_decay_ms = 0;
    arena_give(take(40));
    for (unsigned i = 0; i < 60; i++)
        take(40);
    cr_assert_leq(arena->lone_chunks, 8u);
    cr_assert_leq(arena->domain.chunks, 8u + (60 - 8 + 2) / 3);
    expect_law();
}

Test(huge_pages, with_decay_large_blocks_share_chunks) {
    arena_give(take(40));
    struct extent *a = take(40), *b = take(40);
    cr_assert_eq(a->chunk, b->chunk);
    cr_assert_eq(arena->lone_chunks, 0u);
}

/* --- zeroes over a large block --- */

static struct extent *take_huge(size_t chunks, bool zero) {
    struct extent *extent = huge_take(arena, chunks * CHUNK_GRANULES, 1, zero);
    cr_assert_not_null(extent);
    return extent;
}

static bool reads_zero(const struct extent *extent) {
    for (size_t i = 0; i < bytes_of_granules(extent->granules); i += 512)
        if (extent->chunk->base[i] != 0)
            return false;
    return true;
}

Test(huge_pages, a_large_block_that_shall_read_as_zero_is_given_back_first) {
    enum { CHUNKS = 8 };
    struct extent *extent = take_huge(CHUNKS, false);
    memset(extent->chunk->base, 0x5a, (size_t)CHUNKS << CHUNK_SHIFT);
    huge_give(extent);
    cr_assert_eq(space_domain.dirty, (size_t)CHUNKS * CHUNK_GRANULES);
    extent = take_huge(CHUNKS, true);
    cr_assert(reads_zero(extent));
    cr_assert_eq(counters_read(COUNTER_zeroed_by_kernel_bytes), (uint64_t)CHUNKS << CHUNK_SHIFT);
    huge_give(extent);
    expect_law();
}

Test(huge_pages, a_smaller_one_or_one_on_small_pages_is_zeroed) {
    struct extent *extent = take_huge(7, false);
    memset(extent->chunk->base, 0x5a, (size_t)7 << CHUNK_SHIFT);
    huge_give(extent);
    huge_give(take_huge(7, true));
    options.thp = THP_NEVER;
    extent = take_huge(9, false); /* seven of them are on huge pages */
    memset(extent->chunk->base, 0x5a, (size_t)9 << CHUNK_SHIFT);
    huge_give(extent);
    extent = take_huge(9, true);
    cr_assert(reads_zero(extent));
    cr_assert_eq(counters_read(COUNTER_zeroed_by_kernel_bytes), 0u);
    huge_give(extent);
    expect_law();
}
