/* Arenas in random use, by one thread and by several: no two extents overlap, and nothing is lost. */
#include <criterion/criterion.h>
#include <pthread.h>

#include "../random.h"
#include "law.h"

enum { THREADS = 4, SLOTS = 120, STEPS = 6000 };

static void start_arenas(void) {
    start_space();
    options.narenas = 2;
    arena_attach(true);
    arena_attach(false);
}

TestSuite(arena_use, .init = start_arenas);

struct slot {
    struct extent *extent;
    struct chunk *chunk;
    unsigned first, n;
};

static void expect_apart(const struct slot *slots, const struct slot *new_slot) {
    for (unsigned i = 0; i < SLOTS; i++) {
        const struct slot *s = &slots[i];
        if (s == new_slot || s->extent == NULL || s->chunk != new_slot->chunk)
            continue;
        cr_assert(s->first + s->n <= new_slot->first || new_slot->first + new_slot->n <= s->first);
    }
}

static void random_step(struct slot *slots, struct random *r) {
    struct slot *s = &slots[random_below(r, SLOTS)];
    bits_t stale;
    if (s->extent == NULL) {
        unsigned step = 1U << random_below(r, 4);
        s->n = 1 + random_below(r, random_below(r, 10) == 0 ? CHUNK_GRANULES : 20);
        s->extent = arena_take(arena_at(random_below(r, arena_count())), s->n, step, &stale);
        s->chunk = s->extent->chunk;
        s->first = s->extent->first;
        cr_assert_eq(s->first % step, 0u);
        cr_assert_leq(s->first + s->n, CHUNK_GRANULES);
        expect_apart(slots, s);
    } else if (s->n > 1 && random_below(r, 4) == 0) {
        arena_shrink(s->extent, 1);
        s->n--;
    } else if (random_below(r, 4) == 0 && s->first + s->n < CHUNK_GRANULES) {
        if (arena_take_at(s->chunk, s->first + s->n, 1)) {
            s->extent->granules++;
            s->n++;
            expect_apart(slots, s);
        }
    } else {
        arena_give(s->extent);
        s->extent = NULL;
    }
}

Test(arena_use, extents_never_overlap_and_none_is_lost) {
    static struct slot slots[SLOTS];
    struct random r = {17};
    for (unsigned step = 0; step < STEPS; step++) {
        random_step(slots, &r);
        size_t used = 0;
        for (unsigned i = 0; i < SLOTS; i++)
            used += slots[i].extent != NULL ? slots[i].n : 0;
        cr_assert_eq(arena_at(0)->domain.used + arena_at(1)->domain.used, used);
        expect_law();
    }
    for (unsigned i = 0; i < SLOTS; i++)
        if (slots[i].extent != NULL)
            arena_give(slots[i].extent);
    cr_assert_eq(space_domain.chunks, atomic_load(&space_mapped_chunks));
    expect_law();
}

/* --- threads: each takes from its arena, and gives back what another took --- */

static _Atomic(struct extent *) exchange[64];

static void *take_and_pass_on(void *arg) {
    struct arena *own = arg;
    struct random r = {(uintptr_t)arg};
    bits_t stale;
    for (unsigned i = 0; i < STEPS; i++) {
        struct extent *extent = arena_take(own, 1 + random_below(&r, 60), 1, &stale);
        cr_assert_not_null(extent);
        extent = atomic_exchange(&exchange[random_below(&r, ARRAY_COUNT(exchange))], extent);
        if (extent != NULL)
            arena_give(extent);
    }
    return NULL;
}

Test(arena_use, threads_give_back_to_each_others_arenas) {
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, take_and_pass_on, arena_at(i % 2)), 0);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    expect_law();
    for (size_t i = 0; i < ARRAY_COUNT(exchange); i++)
        if (exchange[i] != NULL)
            arena_give(exchange[i]);
    cr_assert_eq(space_domain.chunks, atomic_load(&space_mapped_chunks));
    expect_law();
}
