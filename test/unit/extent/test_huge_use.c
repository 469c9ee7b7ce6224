/* Huge extents in random use, by one thread and by several: the contents survive, and nothing is lost. */
#include <criterion/criterion.h>
#include <pthread.h>

#include "../random.h"
#include "huge_by_hand.h"

enum { BLOCKS = 6, STEPS = 400, THREADS = 3 };

TestSuite(huge_use, .init = start_huge);

static void random_step(struct extent **blocks, uint64_t *names, struct random *r) {
    unsigned i = random_below(r, BLOCKS);
    size_t granules = 1 + WHOLE + random_below(r, 3 * WHOLE);
    if (blocks[i] == NULL) {
        blocks[i] = take(granules);
        names[i] = random_next(r) >> 1;
    } else if (random_below(r, 3) == 0) {
        cr_assert(is_marked(blocks[i], blocks[i]->granules, names[i]));
        huge_give(blocks[i]);
        blocks[i] = NULL;
        return;
    } else {
        size_t kept = granules < blocks[i]->granules ? granules : blocks[i]->granules;
        if (!huge_resize(arena, blocks[i], granules)) {
            struct extent *to = take(granules);
            huge_move(blocks[i], to, bytes_of_granules(kept));
            blocks[i] = to;
        }
        cr_assert(is_marked(blocks[i], kept, names[i]));
    }
    mark(blocks[i], 0, names[i]);
}

Test(huge_use, contents_survive_random_resizing_and_moving) {
    struct extent *blocks[BLOCKS] = {NULL};
    uint64_t names[BLOCKS];
    struct random r = {19};
    for (unsigned step = 0; step < STEPS; step++) {
        random_step(blocks, names, &r);
        expect_law();
    }
    for (unsigned i = 0; i < BLOCKS; i++)
        if (blocks[i] != NULL)
            huge_give(blocks[i]);
    cr_assert_eq(atomic_load(&space_held_chunks), 0u);
    cr_assert_eq(space_domain.chunks, atomic_load(&space_mapped_chunks));
    expect_law();
}

/* --- threads: each resizes its own, in chunks whose tails and neighbours are others' --- */

enum { THREAD_STEPS = 4000 };

static void *take_resize_and_give(void *arg) {
    struct random r = {(uintptr_t)arg};
    struct extent *extent = take(WHOLE + 1), *small = NULL;
    for (unsigned i = 0; i < THREAD_STEPS; i++) {
        bits_t stale;
        uint64_t name = random_next(&r) >> 1;
        *granule_word(extent, 0, false) = name;
        (void)!huge_resize(arena, extent, WHOLE + 1 + random_below(&r, 2 * WHOLE));
        cr_assert_eq(*granule_word(extent, 0, false), name);
        if (small != NULL)
            arena_give(small);
        small = arena_take(arena, 1 + random_below(&r, WHOLE), 1, &stale);
        if (random_below(&r, 8) == 0) {
            huge_give(extent);
            extent = take(WHOLE + 1 + random_below(&r, WHOLE));
        }
    }
    arena_give(small);
    huge_give(extent);
    return NULL;
}

Test(huge_use, threads_resize_side_by_side) {
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, take_resize_and_give, (void *)(i + 1)), 0);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    cr_assert_eq(space_domain.chunks, atomic_load(&space_mapped_chunks));
    expect_law();
}
