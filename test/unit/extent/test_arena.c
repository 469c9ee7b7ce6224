/* Extents inside chunks: where they go, and what becomes of chunks. Nothing here touches the extents'
   memory. */
#include <criterion/criterion.h>
#include <sys/wait.h>
#include <unistd.h>

#include "law.h"
#include "os_cpu.h"
#include "picture.h"

static struct arena *arena;

static void start_arena(void) {
    start_space();
    arena = arena_attach(true);
}

TestSuite(arena, .init = start_arena);

static struct extent *take(unsigned n) {
    bits_t stale;
    struct extent *extent = arena_take(arena, n, 1, &stale);
    cr_assert_not_null(extent);
    cr_assert_eq(extent->granules, n);
    return extent;
}

/* A full chunk of extents of these lengths, from the bottom up. */
static void fill_chunk(struct extent **extents, const unsigned char *lengths, size_t n) {
    for (size_t i = 0; i < n; i++) {
        extents[i] = take(lengths[i]);
        cr_assert_eq(extents[i]->chunk, extents[0]->chunk);
    }
    expect_picture(extents[0]->chunk, "a");
}

/* --- which arena --- */

Test(arena, there_are_as_many_as_the_option_says) {
    options.narenas = 3;
    struct arena *second = arena_attach(false), *third = arena_attach(false);
    cr_assert_neq(second, arena);
    cr_assert_neq(third, arena);
    cr_assert_neq(third, second);
    cr_assert_eq(arena_count(), 3u);
    for (unsigned i = 3; i < 12; i++)
        arena_attach(false);
    cr_assert_eq(arena_count(), 3u);
    for (unsigned i = 0; i < 3; i++)
        cr_assert_eq(atomic_load(&arena_at(i)->heaps), 4u);
}

Test(arena, a_new_heap_gets_the_one_with_the_fewest) {
    options.narenas = 2;
    struct arena *second = arena_attach(false);
    cr_assert_eq(arena_attach(false), arena);
    cr_assert_eq(arena_attach(false), second);
    arena_detach(second);
    arena_detach(second);
    cr_assert_eq(arena_attach(false), second);
}

Test(arena, none_is_made_while_another_has_no_heap) {
    options.narenas = 8;
    arena_detach(arena);
    cr_assert_eq(arena_attach(false), arena);
    cr_assert_eq(arena_count(), 1u);
}

Test(arena, without_the_option_there_are_no_more_than_cpus) {
    unsigned usable = os_cpu_usable();
    for (unsigned i = 0; i < 4 * usable; i++)
        cr_assert_not_null(arena_attach(false));
    cr_assert_leq(arena_count(), usable);
}

Test(arena, the_first_can_be_asked_for) {
    options.narenas = 4;
    for (unsigned i = 0; i < 5; i++)
        cr_assert_eq(arena_attach(true), arena);
    cr_assert_eq(arena_count(), 1u);
}

/* --- where extents go --- */

Test(arena, a_new_extent_reads_as_zero_and_begins_a_chunk) {
    bits_t stale = 1;
    struct extent *extent = arena_take(arena, 5, 1, &stale);
    cr_assert(stale == 0);
    cr_assert_eq(extent->first, 0u);
    cr_assert_eq(extent->granules, 5u);
    cr_assert_eq(extent, &extent->chunk->extents[0]);
    cr_assert_eq(extent->chunk->domain, &arena->domain);
    expect_picture(extent->chunk, "aaaaa.");
    expect_law();
}

Test(arena, extents_are_packed) {
    struct extent *a = take(5), *b = take(3), *c = take(120);
    cr_assert_eq(b->chunk, a->chunk);
    cr_assert_eq(b->first, 5u);
    cr_assert_eq(c->chunk, a->chunk);
    cr_assert_eq(c->first, 8u);
    expect_picture(a->chunk, "a");
    cr_assert_neq(take(1)->chunk, a->chunk);
    expect_law();
}

Test(arena, what_was_used_before_is_said_to_be_stale) {
    struct extent *a = take(4), *b = take(4);
    arena_give(a);
    expect_picture(b->chunk, "ddddaaaa.");
    bits_t stale;
    a = arena_take(arena, 6, 1, &stale);
    cr_assert_eq(a->first, 8u); /* six do not fit in front */
    cr_assert(stale == 0);
    a = arena_take(arena, 3, 1, &stale);
    cr_assert_eq(a->first, 0u);
    cr_assert(stale == bits_low(3));
    expect_law();
}

Test(arena, the_tightest_hole_is_taken) {
    static const unsigned char lengths[] = {40, 8, 32, 20, 28};
    struct extent *extents[ARRAY_COUNT(lengths)], *others[ARRAY_COUNT(lengths)];
    fill_chunk(extents, lengths, ARRAY_COUNT(lengths));
    fill_chunk(others, lengths, ARRAY_COUNT(lengths));
    arena_give(extents[1]);
    arena_give(others[3]);
    cr_assert_eq(take(8)->chunk, extents[0]->chunk);
    cr_assert_eq(take(8)->chunk, others[0]->chunk);
    expect_law();
}

Test(arena, of_equal_holes_that_in_the_fullest_chunk_is_taken) {
    static const unsigned char lengths[] = {40, 8, 32, 8, 40};
    struct extent *full[ARRAY_COUNT(lengths)], *sparse[ARRAY_COUNT(lengths)];
    fill_chunk(full, lengths, ARRAY_COUNT(lengths));
    fill_chunk(sparse, lengths, ARRAY_COUNT(lengths));
    arena_give(full[1]);
    arena_give(sparse[1]);
    arena_give(sparse[3]);
    cr_assert_eq(take(8)->chunk, full[0]->chunk);
    cr_assert_eq(take(8)->chunk, sparse[0]->chunk);
    arena_give(sparse[1]);
    arena_give(full[1]); /* the other order of coming free */
    cr_assert_eq(take(5)->chunk, full[0]->chunk);
    expect_law();
}

Test(arena, steps_are_kept) {
    bits_t stale;
    take(1);
    for (unsigned step = 1; step <= CHUNK_GRANULES; step *= 2) {
        struct extent *extent = arena_take(arena, 1, step, &stale);
        cr_assert_eq(extent->first % step, 0u, "step %u", step);
    }
    expect_law();
}

Test(arena, a_hole_without_a_multiple_in_it_is_passed_over) {
    static const unsigned char lengths[] = {3, 3, 122};
    struct extent *extents[ARRAY_COUNT(lengths)];
    bits_t stale;
    fill_chunk(extents, lengths, ARRAY_COUNT(lengths));
    arena_give(extents[1]); /* granules 3 to 5 */
    struct extent *extent = arena_take(arena, 2, 4, &stale);
    cr_assert_eq(extent->first, 4u);
    arena_give(extent);
    extent = arena_take(arena, 3, 4, &stale);
    cr_assert_neq(extent->chunk, extents[0]->chunk);
    expect_law();
}

Test(arena, a_whole_chunk_is_an_extent_too) {
    struct extent *extent = take(CHUNK_GRANULES);
    expect_picture(extent->chunk, "a");
    arena_give(extent);
    cr_assert_eq(space_domain.chunks, 1u);
    expect_law();
}

/* --- and back --- */

Test(arena, a_chunk_goes_back_to_the_space_when_its_last_extent_does) {
    struct extent *a = take(5), *b = take(5);
    struct chunk *chunk = a->chunk;
    arena_give(b);
    cr_assert_eq(arena->domain.chunks, 1u);
    arena_give(a);
    cr_assert_eq(arena->domain.chunks, 0u);
    cr_assert_eq(chunk->domain, &space_domain);
    expect_picture(chunk, "dddddddddd.");
    expect_law();
    cr_assert_eq(take(1)->chunk, chunk);
    cr_assert_eq(atomic_load(&space_mapped_chunks), 1u);
}

Test(arena, an_extent_finds_its_arena_by_itself) {
    options.narenas = 2;
    struct arena *other = arena_attach(false);
    bits_t stale;
    struct extent *extent = arena_take(other, 5, 1, &stale);
    take(5);
    cr_assert_eq(other->domain.used, 5u);
    arena_give(extent);
    cr_assert_eq(other->domain.used, 0u);
    cr_assert_eq(arena->domain.used, 5u);
    expect_law();
}

Test(arena, the_end_of_an_extent_can_be_given_back) {
    struct extent *extent = take(10);
    arena_shrink(extent, 4);
    cr_assert_eq(extent->granules, 6u);
    expect_picture(extent->chunk, "aaaaaadddd.");
    arena_give(extent);
    cr_assert_eq(arena->domain.chunks, 0u);
    expect_law();
}

Test(arena, granules_behind_an_extent_can_be_taken_if_they_are_free) {
    struct extent *a = take(4), *b = take(4);
    struct chunk *chunk = a->chunk;
    cr_assert_not(arena_take_at(chunk, 4, 1));
    cr_assert_not(arena_take_at(chunk, 7, 2));
    cr_assert(arena_take_at(chunk, 8, 3));
    expect_picture(chunk, "aaaaaaaaaaa.");
    arena_give(b);
    cr_assert(arena_take_at(chunk, 4, 2));
    expect_picture(chunk, "aaaaaaddaaa.");
    cr_assert_not(arena_take_at(chunk, 120, 9)); /* beyond the chunk */
    cr_assert(arena_take_at(chunk, 11, 117));
    expect_picture(chunk, "aaaaaadda");
    expect_law();
}

Test(arena, granules_in_a_purge_cannot_be_taken) {
    struct extent *a = take(4);
    arena_shrink(a, 2);
    domain_start_purge_locked(&arena->domain, a->chunk, bits_range(2, 1));
    arena_settle_locked(arena, a->chunk);
    cr_assert_not(arena_take_at(a->chunk, 2, 1));
    cr_assert(arena_take_at(a->chunk, 3, 1));
    expect_picture(a->chunk, "aaba.");
}

Test(arena, clean_granules_may_be_given_back_as_such) {
    struct extent *extent = take(6);
    arena_give_at(extent->chunk, 4, 2, true);
    extent->granules -= 2;
    expect_picture(extent->chunk, "aaaa.");
    cr_assert_eq(arena->domain.dirty, 0u);
    expect_law();
}

Test(arena, a_chunk_that_is_emptied_in_a_purge_stays_until_its_end) {
    struct extent *a = take(4), *b = take(4);
    struct chunk *chunk = a->chunk;
    arena_give(a);
    domain_start_purge_locked(&arena->domain, chunk, bits_low(4));
    arena_settle_locked(arena, chunk);
    arena_give(b);
    cr_assert_eq(chunk->domain, &arena->domain);
    expect_picture(chunk, "bbbbdddd.");
    expect_law();
    domain_end_purge_locked(&arena->domain, chunk, bits_low(4), bits_low(4), 0);
    arena_settle_locked(arena, chunk);
    cr_assert_eq(chunk->domain, &space_domain);
    expect_picture(chunk, "~~~~dddd.");
    expect_law();
}

Test(arena, a_chunk_from_elsewhere_can_join_and_leave) {
    struct chunk *chunk = space_take(1, 1);
    cr_assert(chunk_make_extents(chunk));
    chunk_take(chunk, 0, 120);
    arena_add_chunk(arena, chunk);
    expect_law();
    struct extent *extent = take(8);
    cr_assert_eq(extent->chunk, chunk);
    cr_assert_eq(extent->first, 120u);
    arena_remove_full_chunk(chunk);
    cr_assert_null(chunk->domain);
    cr_assert_eq(arena->domain.used, 0u);
    expect_law();
    cr_assert_neq(take(1)->chunk, chunk);
}

/* --- no memory --- */

Test(arena, without_address_space_there_is_no_extent) {
    skip_under_tools();
    struct extent *first = take(100);
    address_space_limit(CHUNK_BYTES / 2);
    bits_t stale;
    struct extent *refused = arena_take(arena, 100, 1, &stale);
    struct extent *fits = arena_take(arena, 28, 1, &stale);
    address_space_free();
    cr_assert_null(refused);
    cr_assert_not_null(fits);
    cr_assert_eq(fits->chunk, first->chunk);
    expect_law();
}

Test(arena, without_memory_for_descriptors_the_chunk_stays_in_the_space) {
    skip_under_tools();
    space_give(space_take(1, 1)); /* a header, but no descriptors */
    exhaust_metadata();
    bits_t stale;
    struct extent *refused = arena_take(arena, 1, 1, &stale);
    address_space_free();
    cr_assert_null(refused);
    cr_assert_eq(space_domain.chunks, 1u);
    cr_assert_eq(arena->domain.chunks, 0u);
    expect_law();
    take(1);
}

/* --- fork --- */

Test(arena, in_a_forked_child_purges_of_the_parents_are_undone) {
    struct extent *a = take(4), *b = take(4);
    struct chunk *kept = a->chunk;
    arena_shrink(a, 2);
    domain_start_purge_locked(&arena->domain, kept, bits_range(2, 2));
    arena_settle_locked(arena, kept);
    struct extent *c = take(125); /* in a chunk of its own that falls empty */
    struct chunk *emptied = c->chunk;
    arena_shrink(c, 120);
    domain_start_purge_locked(&arena->domain, emptied, bits_range(5, 120));
    arena_settle_locked(arena, emptied);
    arena_give(c);
    arena_lock_for_fork();
    space_lock_for_fork();
    pid_t child = fork();
    if (child == 0) {
        space_unlock_after_fork(true);
        arena_unlock_after_fork(true);
        expect_picture(kept, "aaddaaaa.");
        cr_assert_eq(emptied->domain, &space_domain);
        cr_assert_eq(arena->domain.busy, 0u);
        expect_law();
        arena_give(a);
        arena_give(b);
        cr_assert_eq(arena->domain.chunks, 0u);
        leave_child(0);
    }
    space_unlock_after_fork(false);
    arena_unlock_after_fork(false);
    int status = -1;
    waitpid(child, &status, 0);
    cr_assert_eq(status, 0);
    expect_picture(kept, "aabbaaaa.");
    cr_assert_eq(arena->domain.busy, 122u);
}

/* Debug builds check that locks of one rank are taken by ascending address. */
Test(arena, as_many_as_there_may_be_can_be_locked_at_once) {
    options.narenas = ARENA_MAX;
    for (unsigned i = 1; i < ARENA_MAX + 3U; i++)
        cr_assert_not_null(arena_attach(false));
    cr_assert_eq(arena_count(), (unsigned)ARENA_MAX);
    arena_lock_for_fork();
    arena_unlock_after_fork(false);
}
