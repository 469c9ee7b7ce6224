/* Extents over several chunks: their chunks and tails, resizing, moving, and the contents through all
   of it. */
#include <criterion/criterion.h>
#include <string.h>

#include "counters.h"
#include "huge_by_hand.h"
#include "os_map.h"
#include "picture.h"

TestSuite(huge, .init = start_huge);

static bool is_zero(const char *at, size_t bytes) {
    return at[0] == 0 && memcmp(at, at + 1, bytes - 1) == 0;
}

Test(huge, whole_chunks_belong_to_nobody_and_the_tail_to_the_arena) {
    struct extent *extent = take(2 * WHOLE + 5);
    expect_picture(part(extent, 0), "a");
    expect_picture(part(extent, 1), "a");
    expect_picture(part(extent, 2), "aaaaa.");
    cr_assert_null(part(extent, 0)->domain);
    cr_assert_null(part(extent, 1)->domain);
    cr_assert_eq(part(extent, 2)->domain, &arena->domain);
    cr_assert_eq(arena->domain.used, 5u);
    cr_assert_eq(atomic_load(&space_held_chunks), 2u);
    expect_law();
}

Test(huge, without_a_tail_the_arena_has_no_part_in_it) {
    struct extent *extent = take(3 * WHOLE);
    cr_assert_eq(arena->domain.chunks, 0u);
    huge_give(extent);
    cr_assert_eq(space_domain.chunks, 3u);
    cr_assert_eq(space_domain.dirty, 3u * WHOLE);
    expect_law();
}

Test(huge, the_tail_is_usable_by_other_extents) {
    struct extent *extent = take(WHOLE + 5);
    struct chunk *tail = part(extent, 1);
    bits_t stale;
    struct extent *other = arena_take(arena, 10, 1, &stale);
    cr_assert_eq(other->chunk, tail);
    cr_assert_eq(other->first, 5u);
    huge_give(extent);
    expect_picture(tail, "dddddaaaaaaaaaa.");
    cr_assert_eq(space_domain.chunks, 1u);
    expect_law();
    arena_give(other);
    cr_assert_eq(space_domain.chunks, 2u);
    expect_law();
}

Test(huge, extents_begin_at_multiples_of_the_step) {
    for (size_t step = 1; step <= 16; step *= 2) {
        struct extent *extent = huge_take(arena, 1, step, false);
        cr_assert(is_aligned((uintptr_t)extent->chunk->base, step * CHUNK_BYTES));
        struct extent *longer = huge_take(arena, 3 * WHOLE + 1, step, false);
        cr_assert(is_aligned((uintptr_t)longer->chunk->base, step * CHUNK_BYTES));
    }
    expect_law();
}

Test(huge, zero_is_zero_over_dirty_memory) {
    struct extent *extent = take(WHOLE + 7);
    char *base = extent->chunk->base;
    memset(base, 0x5a, bytes_of_granules(WHOLE + 7));
    huge_give(extent);
    extent = huge_take(arena, WHOLE + 9, 1, true);
    cr_assert_eq(extent->chunk->base, base);
    cr_assert(is_zero(base, bytes_of_granules(WHOLE + 9)));
}

Test(huge, without_zero_dirty_memory_is_left_as_it_is) {
    struct extent *extent = take(WHOLE + 7);
    mark(extent, 0, 77);
    huge_give(extent);
    cr_assert(is_marked(take(WHOLE + 7), WHOLE + 7, 77));
}

/* --- resizing --- */

static void expect_resized(struct extent *extent, size_t granules) {
    cr_assert(huge_resize(arena, extent, granules), "to %zu granules", granules);
    cr_assert_eq(extent->granules, granules);
    size_t i = 0;
    for (; i < granules / WHOLE; i++) {
        cr_assert(part(extent, i)->used == bits_low(WHOLE));
        cr_assert_null(part(extent, i)->domain);
    }
    if (granules % WHOLE != 0)
        cr_assert((part(extent, i)->used & bits_low(granules % WHOLE)) ==
                  bits_low(granules % WHOLE));
    expect_law();
}

Test(huge, grows_within_its_tail) {
    struct extent *extent = take(WHOLE + 5);
    expect_resized(extent, WHOLE + 9);
    expect_picture(part(extent, 1), "aaaaaaaaa.");
    expect_resized(extent, WHOLE + 127);
    cr_assert_eq(arena->domain.used, 127u);
}

Test(huge, grows_to_the_end_of_its_tail) {
    struct extent *extent = take(WHOLE + 5);
    expect_resized(extent, 2 * WHOLE);
    cr_assert_eq(arena->domain.chunks, 0u);
}

Test(huge, grows_beyond_its_tail) {
    struct extent *run = take(4 * WHOLE);
    expect_resized(run, WHOLE + 5); /* so that there is room behind it */
    mark(run, 0, 3);
    expect_resized(run, 3 * WHOLE + 2);
    cr_assert(is_marked(run, WHOLE + 5, 3));
    expect_picture(part(run, 3), "aad"); /* it was part of the run before */
}

Test(huge, grows_without_a_tail) {
    struct extent *run = take(4 * WHOLE);
    expect_resized(run, WHOLE);
    expect_resized(run, 2 * WHOLE);
    expect_resized(run, 2 * WHOLE + 1);
    huge_give(run);
    cr_assert_eq(space_domain.chunks, 4u);
    expect_law();
}

Test(huge, grows_into_address_space_that_is_mapped_for_it) {
    struct extent *run = take(4 * WHOLE);
    expect_resized(run, WHOLE + 1);
    cr_assert_eq(space_unmap_free(), 2u);
    expect_resized(run, 4 * WHOLE - 1);
    char *end = run->chunk->base + bytes_of_granules(run->granules);
    end[-1] = 1;
}

static void expect_refused(struct extent *extent, size_t granules) {
    size_t before = extent->granules, used = arena->domain.used;
    size_t held = atomic_load(&space_held_chunks);
    cr_assert_not(huge_resize(arena, extent, granules), "to %zu granules", granules);
    cr_assert_eq(extent->granules, before);
    cr_assert_eq(arena->domain.used, used);
    cr_assert_eq(atomic_load(&space_held_chunks), held);
    expect_law();
}

Test(huge, does_not_grow_over_another_extent_in_its_tail) {
    struct extent *run = take(4 * WHOLE);
    expect_resized(run, WHOLE + 5);
    bits_t stale;
    struct extent *other = arena_take(arena, 1, 1, &stale);
    cr_assert_eq(other->chunk, part(run, 1));
    expect_refused(run, WHOLE + 6);
    expect_refused(run, 2 * WHOLE);
    expect_refused(run, 2 * WHOLE + 6);
    arena_give(other);
    expect_resized(run, 2 * WHOLE + 6);
}

Test(huge, does_not_grow_over_a_held_chunk) {
    struct extent *run = take(3 * WHOLE);
    expect_resized(run, WHOLE + 5);
    cr_assert_not_null(space_take_at(run->chunk->base + 2 * CHUNK_BYTES, 1));
    expect_refused(run, 2 * WHOLE + 1);
    expect_resized(run, 2 * WHOLE);
    expect_refused(run, 2 * WHOLE + 1);
}

Test(huge, shrinks_to_a_tail_and_to_whole_chunks) {
    struct extent *extent = take(4 * WHOLE);
    mark(extent, 0, 9);
    expect_resized(extent, 2 * WHOLE + 3);
    expect_picture(part(extent, 2), "aaad");
    cr_assert_eq(space_domain.chunks, 1u);
    expect_resized(extent, 2 * WHOLE);
    cr_assert_eq(space_domain.chunks, 2u);
    cr_assert_eq(arena->domain.chunks, 0u);
    cr_assert(is_marked(extent, 2 * WHOLE, 9));
}

Test(huge, shrinks_below_one_chunk) {
    struct extent *extent = take(2 * WHOLE + 40);
    mark(extent, 0, 9);
    expect_resized(extent, 10);
    expect_picture(extent->chunk, "aaaaaaaaaad");
    cr_assert_eq(extent->chunk->domain, &arena->domain);
    cr_assert(is_marked(extent, 10, 9));
    arena_give(extent); /* it is an ordinary one now */
    cr_assert_eq(space_domain.chunks, 3u);
    expect_law();
}

Test(huge, to_its_own_size_nothing_changes) {
    struct extent *extent = take(WHOLE + 40);
    expect_resized(extent, WHOLE + 40);
    expect_picture(part(extent, 1), "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.");
}

/* --- moving --- */

static void expect_moved(size_t from_granules, size_t to_granules) {
    struct extent *from = take(from_granules), *to = take(to_granules);
    char *source = from->chunk->base;
    mark(from, 0, 1000);
    huge_move(from, to, bytes_of_granules(from_granules));
    cr_assert(is_marked(to, from_granules, 1000));
    expect_law();
    huge_give(to);
    expect_law();
    cr_assert_neq(to->chunk->base, source);
}

Test(huge, a_move_keeps_the_contents) {
    expect_moved(2 * WHOLE, 3 * WHOLE);
    expect_moved(2 * WHOLE + 9, 2 * WHOLE + 9);
    expect_moved(WHOLE + 127, 5 * WHOLE + 1);
}

Test(huge, a_move_goes_by_page_tables_and_leaves_the_source_clean) {
    skip_where_nothing_moves();
    struct extent *from = take(2 * WHOLE), *to = take(3 * WHOLE);
    struct chunk *source = from->chunk;
    char *base = source->base;
    mark(from, 0, 1000);
    huge_move(from, to, 2 * CHUNK_BYTES);
    cr_assert_eq(counters_read(COUNTER_remap_moves), 1u);
    cr_assert(is_marked(to, 2 * WHOLE, 1000));
    cr_assert_eq(space_domain.chunks, 2u);
    cr_assert_eq(space_domain.dirty, 0u);
    expect_picture(source, ".");
    cr_assert(is_zero(base, 2 * CHUNK_BYTES));
    struct extent *again = huge_take(arena, 2 * WHOLE, 1, true);
    cr_assert_eq(again->chunk, source);
    mark(again, 0, 5);
    cr_assert(is_marked(again, 2 * WHOLE, 5));
    cr_assert(is_marked(to, 2 * WHOLE, 1000));
}

Test(huge, the_rest_beyond_whole_chunks_is_copied) {
    struct extent *from = take(2 * WHOLE + 9), *to = take(4 * WHOLE);
    struct chunk *tail = part(from, 2);
    mark(from, 0, 1000);
    huge_move(from, to, bytes_of_granules(2 * WHOLE + 9));
    cr_assert(is_marked(to, 2 * WHOLE + 9, 1000));
    expect_picture(tail, "ddddddddd.");
    cr_assert_eq(tail->domain, &space_domain);
    expect_law();
}

Test(huge, of_a_move_only_the_bytes_of_interest_arrive) {
    struct extent *from = take(2 * WHOLE), *to = take(WHOLE + 1);
    mark(from, 0, 1000);
    huge_move(from, to, CHUNK_BYTES + GRANULE_BYTES);
    cr_assert(is_marked(to, WHOLE + 1, 1000));
    expect_law();
}

Test(huge, less_than_a_chunk_is_copied) {
    struct extent *from = take(WHOLE), *to = take(2 * WHOLE);
    struct chunk *source = from->chunk;
    mark(from, 0, 1000);
    huge_move(from, to, CHUNK_BYTES - 1);
    cr_assert_eq(counters_read(COUNTER_remap_moves), 0u);
    cr_assert(is_marked(to, WHOLE - 1, 1000));
    expect_picture(source, "d");
}

Test(huge, so_many_moves_have_used_up_the_maps_that_copying_goes_on) {
    struct extent *from = take(WHOLE);
    for (unsigned i = 0; i < 260; i++) {
        struct extent *to = take(WHOLE);
        *granule_word(from, 3, false) = i;
        huge_move(from, to, CHUNK_BYTES);
        cr_assert_eq(*granule_word(to, 3, false), i);
        from = to;
    }
    cr_assert_lt(counters_read(COUNTER_remap_moves), 260u);
    expect_law();
}

/* --- no memory --- */

Test(huge, without_address_space_nothing_is_taken) {
    skip_under_tools();
    struct extent *extent = take(2 * WHOLE);
    address_space_limit(CHUNK_BYTES);
    struct extent *refused = huge_take(arena, 4 * WHOLE, 1, false);
    bool grown = huge_resize(arena, extent, 4 * WHOLE);
    address_space_free();
    cr_assert_null(refused);
    cr_assert_not(grown);
    expect_law();
    cr_assert_null(huge_take(arena, (size_t)1 << 40, 1, false));
    expect_law();
}

Test(huge, without_memory_for_descriptors_nothing_is_taken_or_cut) {
    skip_under_tools();
    struct extent *run = take(5 * WHOLE); /* chunks 1 to 3 have no descriptors */
    cr_assert(huge_resize(arena, run, 3 * WHOLE));
    exhaust_metadata();
    bool cut = huge_resize(arena, run, 2 * WHOLE + 1);
    bool grown = huge_resize(arena, run, 3 * WHOLE + 1);
    bool cut_whole = huge_resize(arena, run, 2 * WHOLE);
    struct extent *refused = huge_take(arena, WHOLE + 1, 1, false);
    address_space_free();
    cr_assert_not(cut);
    cr_assert_not(grown);
    cr_assert(cut_whole);
    cr_assert_null(refused);
    cr_assert_eq(run->granules, 2u * WHOLE);
    expect_law();
    cr_assert(huge_resize(arena, run, WHOLE + 1));
    expect_law();
}
