/* Heaps in random use: two in one thread that free each other's objects, and one a thread. Nothing is
   lost, and no object is handed out twice. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <string.h>

#include "../environment.h"
#include "../random.h"
#include "by_hand.h"

enum { SLOTS = 3000, STEPS = 60000, THREADS = 4, THREAD_STEPS = 40000 };

static const uint64_t epoch_ns = 50000000;

TestSuite(heap_use, .init = start_heaps);

struct slot {
    unsigned char *p;
    unsigned class;
    unsigned char mark;
};

static void expect_marked(const struct slot *s) {
    size_t bytes = class_bytes(s->class);
    cr_assert_eq(s->p[0], s->mark);
    cr_assert_eq(s->p[bytes / 2], s->mark);
    cr_assert_eq(s->p[bytes - 1], s->mark);
}

static void random_step(struct slot *s, struct random *r) {
    struct heap *heap = random_below(r, 2) == 0 ? &heap_a : &heap_b;
    if (s->p != NULL) {
        expect_marked(s);
        heap_free(heap, s->p);
        s->p = NULL;
        return;
    }
    s->class = random_below(r, random_below(r, 20) == 0 ? CLASS_COUNT : 40);
    s->mark = (unsigned char)random_next(r);
    s->p = heap_alloc(heap, s->class);
    cr_assert_not_null(s->p);
    memset(s->p, s->mark, class_bytes(s->class));
}

Test(heap_use, two_of_them_free_each_others_objects_at_random) {
    static struct slot slots[SLOTS];
    struct random r = {23};
    unsigned steps = under_valgrind() ? STEPS / 10 : STEPS;
    for (unsigned step = 0; step < steps; step++) {
        random_step(&slots[random_below(&r, SLOTS)], &r);
        if (step % 512 == 0) {
            expect_heap(&heap_a);
            expect_heap(&heap_b);
            heap_tick(&heap_a, step * epoch_ns / 1024);
        }
        if (step % 8192 == 0) {
            heap_retire(&heap_b);
            heap_init(&heap_b, arena, false);
        }
    }
    for (unsigned i = 0; i < SLOTS; i++)
        if (slots[i].p != NULL)
            random_step(&slots[i], &r);
    heap_retire(&heap_a);
    heap_retire(&heap_b);
    expect_all_given_back();
}

/* --- threads --- */

static _Atomic(void *) exchange[256];

static void *alloc_and_pass_on(void *arg) {
    struct random r = {(uintptr_t)arg};
    struct heap *heap = arg;
    uint64_t now = epoch_ns;
    heap_init(heap, arena, false);
    for (unsigned i = 0; i < THREAD_STEPS; i++) {
        unsigned class = random_below(&r, 24);
        uint64_t *p = heap_alloc(heap, class);
        cr_assert_not_null(p);
        p[0] = p[1] = (uintptr_t)p; /* the smallest object has two words */
        p = atomic_exchange(&exchange[random_below(&r, ARRAY_COUNT(exchange))], p);
        if (p != NULL) {
            cr_assert_eq(p[0], (uintptr_t)p);
            cr_assert_eq(p[1], (uintptr_t)p);
            heap_free(heap, p);
        }
        if (i % 4096 == 0)
            heap_tick(heap, now += epoch_ns);
    }
    heap_retire(heap);
    expect_heap(heap);
    return NULL;
}

Test(heap_use, threads_free_each_others_objects) {
    static struct heap heaps[THREADS];
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, alloc_and_pass_on, &heaps[i]), 0);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < ARRAY_COUNT(exchange); i++)
        if (exchange[i] != NULL)
            heap_free(&heap_a, exchange[i]);
    expect_heap(&heap_a);
    heap_retire(&heap_a);
    expect_all_given_back();
}
