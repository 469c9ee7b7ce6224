/* Where chunks come from and go to. Nothing here touches the chunks' memory: what is dirty or lazy
   is so by its bits. */
#include <criterion/criterion.h>

#include "counters.h"
#include "os_map.h"
#include "picture.h"
#include "space_by_hand.h"

TestSuite(space, .init = start_space);

Test(space, a_new_chunk_is_clean_aligned_and_belongs_to_nobody) {
    struct chunk *chunk = space_take(1, 1);
    cr_assert_not_null(chunk);
    cr_assert(is_aligned((uintptr_t)chunk->base, CHUNK_BYTES));
    expect_picture(chunk, ".");
    cr_assert_null(chunk->domain);
    cr_assert_eq(mapped(), 1u);
    cr_assert_eq(held(), 1u);
    cr_assert_eq(counters_read(COUNTER_chunks_mapped), 1u);
    cr_assert_eq(space_chunk_at(chunk->base), chunk);
    cr_assert_eq(space_chunk_at(chunk->base + CHUNK_BYTES - 1), chunk);
    expect_law();
}

Test(space, nothing_is_known_of_other_addresses) {
    struct chunk *chunk = space_take(1, 1);
    int local = 0;
    cr_assert_null(space_chunk_at(NULL));
    cr_assert_null(space_chunk_at(&local));
    cr_assert_null(space_chunk_at(chunk->base + CHUNK_BYTES));
    cr_assert_null(space_chunk_at((void *)UINTPTR_MAX));
}

Test(space, a_chunk_given_back_is_handed_out_again) {
    struct chunk *chunk = space_take(1, 1);
    space_give(chunk);
    cr_assert_eq(space_domain.chunks, 1u);
    cr_assert_eq(chunk->domain, &space_domain);
    cr_assert_eq(held(), 0u);
    cr_assert_eq(space_take(1, 1), chunk);
    cr_assert_eq(space_domain.chunks, 0u);
    cr_assert_eq(mapped(), 1u);
    expect_law();
}

Test(space, resident_chunks_are_handed_out_before_clean_ones) {
    struct chunk *run = space_take(4, 1);
    struct chunk *dirty = neighbour(run, 2), *lazy = neighbour(run, 3);
    space_give(run);
    space_give(neighbour(run, 1));
    give_dirty(dirty);
    give_lazy(lazy);
    cr_assert_eq(space_take(1, 1), dirty);
    cr_assert_eq(space_take(1, 1), lazy);
    cr_assert_eq(space_take(1, 1), run);
    expect_law();
}

Test(space, a_run_is_neighbours_in_order_of_address) {
    struct chunk *run = space_take(5, 1);
    for (size_t i = 0; i < 5; i++) {
        struct chunk *chunk = neighbour(run, i);
        cr_assert_not_null(chunk);
        cr_assert_eq(chunk->base, run->base + i * CHUNK_BYTES);
        cr_assert_null(chunk->domain);
    }
    cr_assert_eq(mapped(), 5u);
    cr_assert_eq(held(), 5u);
}

Test(space, neighbours_given_back_one_by_one_are_a_run_again) {
    struct chunk *run = space_take(5, 1);
    static const unsigned char back[] = {3, 0, 4, 2, 1};
    for (size_t i = 0; i < ARRAY_COUNT(back); i++)
        space_give(neighbour(run, back[i]));
    cr_assert_eq(space_take(5, 1), run);
    cr_assert_eq(mapped(), 5u);
    expect_law();
}

Test(space, a_run_has_no_gaps) {
    struct chunk *run = space_take(7, 1);
    give_run(run, 3);
    give_run(neighbour(run, 4), 3);
    struct chunk *four = space_take(4, 1);
    cr_assert(four->base + 4 * CHUNK_BYTES <= run->base ||
              four->base >= run->base + 7 * CHUNK_BYTES);
    cr_assert_eq(mapped(), 11u);
    cr_assert_eq(space_take(3, 1), run);
    cr_assert_eq(space_take(3, 1), neighbour(run, 4));
    cr_assert_eq(mapped(), 11u);
    expect_law();
}

Test(space, new_chunks_are_at_multiples_of_the_step) {
    for (size_t step = 1; step <= 64; step *= 2) {
        struct chunk *chunk = space_take(1, step);
        cr_assert(is_aligned((uintptr_t)chunk->base, step * CHUNK_BYTES), "step %zu", step);
    }
    expect_law();
}

Test(space, free_chunks_are_taken_at_multiples_of_the_step) {
    struct chunk *run = space_take(8, 8);
    give_run(neighbour(run, 1), 7); /* the first multiple of 4 stays away */
    size_t before = mapped();
    cr_assert_eq(space_take(1, 4), neighbour(run, 4));
    cr_assert_eq(space_take(2, 2), neighbour(run, 2));
    cr_assert_eq(space_take(2, 2), neighbour(run, 6));
    cr_assert_eq(mapped(), before);
    expect_law();
}

Test(space, a_run_may_reach_beyond_the_first_multiple) {
    struct chunk *run = space_take(8, 8);
    give_run(neighbour(run, 1), 5);
    cr_assert_eq(space_take(4, 2), neighbour(run, 2)); /* 1 is free too, but no multiple */
}

Test(space, a_run_may_cross_a_border_of_4_gib) {
    struct chunk *run = take_at_a_border();
    if (run == NULL)
        cr_skip_test("no border is free");
    give_run(run, 2);
    cr_assert_eq(space_take(2, 1), run);
    cr_assert_eq(mapped(), 2u);
    cr_assert_neq((uintptr_t)run->base >> 32, (uintptr_t)neighbour(run, 1)->base >> 32);
    expect_law();
}

/* --- at a given address --- */

Test(space, free_chunks_can_be_had_by_address) {
    struct chunk *run = space_take(4, 1);
    give_run(neighbour(run, 1), 3);
    cr_assert_eq(space_take_at(run->base + CHUNK_BYTES, 2), neighbour(run, 1));
    cr_assert_eq(mapped(), 4u);
    cr_assert_eq(held(), 3u);
    expect_law();
}

Test(space, a_chunk_that_is_held_cannot_be_had_by_address) {
    struct chunk *run = space_take(3, 1);
    space_give(run);
    cr_assert_null(space_take_at(run->base, 2));
    cr_assert_null(space_take_at(run->base + CHUNK_BYTES, 1));
    cr_assert_eq(space_domain.chunks, 1u);
    expect_law();
}

Test(space, chunks_of_an_arena_cannot_be_had_by_address) {
    struct arena *arena = arena_attach(true);
    bits_t stale;
    struct extent *extent = arena_take(arena, 1, 1, &stale);
    cr_assert_null(space_take_at(extent->chunk->base, 1));
    expect_law();
}

Test(space, what_is_not_mapped_yet_is_mapped_at_the_address) {
    struct chunk *run = space_take(4, 1);
    char *base = run->base;
    give_run(run, 4);
    cr_assert_eq(space_unmap_free(), 4u);
    struct chunk *first = space_take_at(base, 1);
    cr_assert_not_null(first);
    space_give(first);
    cr_assert_eq(space_take_at(base, 4)->base, base); /* one known, three new */
    cr_assert_eq(held(), 4u);
    expect_law();
}

Test(space, what_others_have_mapped_is_left_to_them) {
    struct chunk *run = space_take(3, 1);
    char *base = run->base;
    give_run(run, 3);
    space_unmap_free();
    cr_assert(os_map_fixed_noreplace(base + 2 * CHUNK_BYTES, CHUNK_BYTES));
    space_give(space_take_at(base, 1));
    uint64_t failures = counters_read(COUNTER_map_failures);
    cr_assert_null(space_take_at(base, 3));
    cr_assert_eq(counters_read(COUNTER_map_failures), failures + 1);
    cr_assert_eq(space_domain.chunks, 1u); /* the one that was free is so again */
    base[2 * CHUNK_BYTES] = 1;
    expect_law();
}

/* --- back to the kernel --- */

Test(space, free_chunks_can_be_unmapped_and_the_others_stay) {
    struct chunk *run = space_take(5, 1);
    char *base = run->base;
    give_run(run, 2);
    give_dirty(neighbour(run, 4));
    cr_assert_eq(space_unmap_free(), 3u);
    cr_assert_eq(mapped(), 2u);
    cr_assert_eq(held(), 2u);
    cr_assert_eq(space_domain.chunks, 0u);
    cr_assert_eq(counters_read(COUNTER_chunks_unmapped), 3u);
    for (size_t i = 0; i < 5; i++)
        cr_assert_eq(space_chunk_at(base + i * CHUNK_BYTES) != NULL, i == 2 || i == 3);
    cr_assert_eq(space_unmap_free(), 0u);
    expect_law();
}

Test(space, a_chunk_whose_memory_went_elsewhere_is_forgotten) {
    struct chunk *chunk = space_take(1, 1);
    char *base = chunk->base;
    cr_assert(os_unmap(base, CHUNK_BYTES));
    space_forget(chunk);
    cr_assert_null(space_chunk_at(base));
    cr_assert_eq(mapped(), 0u);
    cr_assert_eq(held(), 0u);
    cr_assert_eq(space_take(1, 1), chunk); /* the header is used again */
    expect_law();
}

Test(space, a_chunk_in_a_purge_is_not_handed_out_before_its_end) {
    struct chunk *chunk = space_take(1, 1);
    give_dirty(chunk);
    os_lock_acquire(&space_domain.lock);
    domain_start_purge_locked(&space_domain, chunk, bits_low(3));
    space_settle_locked(chunk);
    os_lock_release(&space_domain.lock);
    cr_assert_neq(space_take(1, 1), chunk);
    cr_assert_null(space_take_at(chunk->base, 1));
    cr_assert_eq(space_unmap_free(), 0u);
    os_lock_acquire(&space_domain.lock);
    domain_end_purge_locked(&space_domain, chunk, bits_low(3), bits_low(3), 0);
    space_settle_locked(chunk);
    os_lock_release(&space_domain.lock);
    cr_assert_eq(space_take(1, 1), chunk);
    expect_picture(chunk, "~~~d");
    expect_law();
}
