/* The cache of a heap, without threads: every object is in the program's hands, in the cache or in its slab,
   exactly once; what a drain does at each moment of the owner's. */
#include <criterion/criterion.h>

#include "../environment.h"
#include "../random.h"
#include "by_hand.h"
#include "cache_fill.h"

enum { CLASS = 3, BIN = CLASS + 1, MANY = 500 }; /* of 64 bytes */

TestSuite(cache, .init = start_heaps);

static void *take(unsigned class) {
    void *p;
    return cache_pop(&heap_a.cache, cache_bin_of_class(class), &p)
               ? p
               : cache_malloc_slow(&heap_a, class);
}

static void give(void *p) {
    cr_assert_gt(pagemap_tag(p), 0u);
    if (!cache_push(&heap_a.cache, pagemap_tag(p), p))
        cache_free_slow(&heap_a, pagemap_get(p), p);
}

static size_t cached(unsigned bin) {
    return (size_t)(heap_a.cache.top[bin] - cache_base(&heap_a.cache, bin));
}

Test(cache, sizes_and_classes_meet) {
    for (size_t bytes = 0; bytes <= CACHE_MAX_BYTES; bytes++)
        cr_assert_eq(heap_a.cache.bin_of[(bytes + 15) / 16],
                     cache_bin_of_class(class_of_size(bytes)));
    cr_assert_eq(cache_bin_of_class(class_of_size(CACHE_MAX_BYTES + 1)), 0u);
    cr_assert_eq(class_bytes(CACHE_CLASSES - 1), (size_t)CACHE_MAX_BYTES);
}

Test(cache, the_object_freed_last_comes_first) {
    void *a = take(CLASS), *b = take(CLASS);
    give(a);
    give(b);
    cr_assert_eq(take(CLASS), b);
    cr_assert_eq(take(CLASS), a);
}

Test(cache, a_thread_without_a_heap_has_none) {
    void *p = take(CLASS), *q;
    for (unsigned bin = 0; bin < CACHE_BINS; bin++) {
        cr_assert_not(cache_pop(&cache_none, bin, &q));
        cr_assert_not(cache_push(&cache_none, bin, p));
    }
    cr_assert_not(cache_pop(&heap_a.cache, 0, &q));
    cr_assert_not(cache_push(&heap_a.cache, 0, p));
}

Test(cache, nothing_is_handed_out_twice_nor_lost) {
    static void *live[MANY];
    struct random random = {12345};
    size_t count = 0;
    for (size_t turn = 0; turn < 100000; turn++) {
        size_t i = random_below(&random, MANY);
        if (live[i] != NULL) {
            cr_assert_eq(*(size_t *)live[i], i);
            give(live[i]);
            live[i] = NULL;
            count--;
        } else {
            live[i] = take((unsigned)random_below(&random, CACHE_CLASSES));
            *(size_t *)live[i] = i;
            count++;
        }
        if (turn % 1000 == 0)
            cache_tick(&heap_a);
    }
    cr_assert_gt(count, 0u);
    for (size_t i = 0; i < MANY; i++)
        if (live[i] != NULL)
            give(live[i]);
    cache_flush(&heap_a);
    heap_flush(&heap_a);
    expect_all_given_back();
}

Test(cache, a_batch_of_two_lots_stays_in_it) {
    void *batch[2 * CACHE_LOT];
    for (unsigned round = 0; round < 4; round++) {
        size_t fills = heap_a.cache.fill[BIN];
        for (size_t i = 0; i < ARRAY_COUNT(batch); i++)
            batch[i] = take(CLASS);
        for (size_t i = 0; i < ARRAY_COUNT(batch); i++)
            give(batch[i]);
        cr_assert_geq(cached(BIN), ARRAY_COUNT(batch));
        cr_assert(round == 0 || fills == heap_a.cache.fill[BIN]);
    }
}

Test(cache, what_is_not_needed_leaves_with_the_epochs) {
    void *live[CACHE_SLOTS];
    for (size_t i = 0; i < ARRAY_COUNT(live); i++)
        live[i] = take(CLASS);
    for (size_t i = 0; i < ARRAY_COUNT(live); i++)
        give(live[i]);
    size_t before = cached(BIN);
    cache_tick(&heap_a);
    cr_assert_eq(cached(BIN), before); /* nobody knows yet */
    for (unsigned epoch = 0; epoch < 10; epoch++)
        cache_tick(&heap_a);
    cr_assert_eq(cached(BIN), 0u);
}

Test(cache, what_is_needed_stays) {
    void *live[8];
    for (unsigned epoch = 0; epoch < 20; epoch++) {
        for (size_t i = 0; i < ARRAY_COUNT(live); i++)
            live[i] = take(CLASS);
        for (size_t i = 0; i < ARRAY_COUNT(live); i++)
            give(live[i]);
        cache_tick(&heap_a);
        cr_assert_geq(cached(BIN), ARRAY_COUNT(live));
    }
}

Test(cache, a_closed_bin_is_gone_round) {
    void *p = take(CLASS);
    give(p);
    struct cache *cache = &heap_a.cache;
    size_t n = cached(BIN);
    cache->bottom[BIN] = CACHE_NO_BOTTOM;
    cache->limit[BIN] = CACHE_CLOSED;
    void *q = take(CLASS);
    cr_assert_not_null(q);
    cr_assert_neq(p, q);
    give(q);
    cache_tick(&heap_a);
    cr_assert_eq(cached(BIN), n);
    cr_assert_eq(cache->limit[BIN], CACHE_CLOSED);
    cache_open(cache, BIN); /* the drain leaves it alone */
    cr_assert_eq(take(CLASS), p);
}

Test(cache, a_drained_bin_keeps_what_was_left) {
    void *live[10];
    for (size_t i = 0; i < ARRAY_COUNT(live); i++)
        live[i] = take(CLASS);
    cache_flush(&heap_a);
    for (size_t i = 0; i < ARRAY_COUNT(live); i++)
        give(live[i]);
    struct cache *cache = &heap_a.cache;
    cr_assert_eq(cached(BIN), ARRAY_COUNT(live));
    cache->bottom[BIN] = CACHE_NO_BOTTOM;
    cache->taken[BIN] = 9;
    cache->limit[BIN] = CACHE_DRAINED;
    cr_assert_eq(take(CLASS), live[9]);
    cr_assert_eq(cached(BIN), 0u);
    for (size_t i = 0; i < 9; i++)
        heap_free(&heap_a, live[i]);
    give(live[9]);
    cr_assert_eq(cached(BIN), 1u);
}
