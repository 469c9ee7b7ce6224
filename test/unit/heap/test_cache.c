/* The cache of a heap, without threads: every object is in the program's hands, in the cache or in its slab,
   exactly once; what a drain does at each moment of the owner's. */
#include <criterion/criterion.h>

#include "../environment.h"
#include "../random.h"
#include "by_hand.h"
#include "cache_fill.h"
#include "counters.h"
#include "options.h"

enum { CLASS = 3, BIN = CLASS + 1, MANY = 500 }; /* of 64 bytes */

TestSuite(cache, .init = start_heaps);

static void *take(unsigned class) {
    void *p;
    bool zero = false;
    return cache_pop(&heap_a.cache, cache_bin_of_class(class), &p)
               ? p
               : cache_malloc_slow(&heap_a, class, &zero);
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
    for (size_t bytes = 0; bytes <= CACHE_TABLE_BYTES; bytes++)
        cr_assert_eq(heap_a.cache.bin_of[(bytes + 15) / 16],
                     cache_bin_of_class(class_of_size(bytes)));
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
            live[i] = take((unsigned)random_below(&random, CLASS_COUNT));
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

/* Takes so many at once, and gives them back. */
static void go_round(unsigned class, size_t count) {
    void *live[CACHE_SLOTS];
    cr_assert_leq(count, ARRAY_COUNT(live));
    for (size_t i = 0; i < count; i++)
        live[i] = take(class);
    for (size_t i = 0; i < count; i++)
        give(live[i]);
}

static size_t room(unsigned class) {
    return heap_a.cache.room[cache_bin_of_class(class)];
}

/* The bins of larger objects. */
static size_t extra_bytes(void) {
    size_t bytes = 0;
    for (unsigned bin = 1; bin < CACHE_BINS; bin++)
        if (heap_a.cache.room[bin] > cache_first_room(bin))
            bytes += (heap_a.cache.room[bin] - cache_first_room(bin)) * class_bytes(bin - 1);
    return bytes;
}

Test(cache, a_bin_has_room_for_so_many_bytes) {
    cr_assert_eq(room(class_of_size(16)), (size_t)CACHE_SLOTS);
    cr_assert_eq(room(class_of_size(4096)), 4u);
    cr_assert_eq(room(class_of_size(32768)), 0u);
    go_round(class_of_size(4096), 3);
    cr_assert_eq(cached(cache_bin_of_class(class_of_size(4096))), 3u);
    go_round(class_of_size(32768), 3);
    cr_assert_eq(cached(cache_bin_of_class(class_of_size(32768))), 0u);
}

Test(cache, a_bin_that_is_spilled_and_wanted_again_gets_more_room) {
    unsigned class = class_of_size(32768);
    for (size_t rounds = 0; rounds < 10; rounds++)
        go_round(class, 64);
    cr_assert_geq(room(class), 64u);
    cr_assert_eq(heap_a.cache.room_bytes, extra_bytes());
    size_t filled = heap_a.cache.fill[cache_bin_of_class(class)];
    cr_assert_eq(cached(cache_bin_of_class(class)), 64u);
    go_round(class, 64); /* without a slab's being asked */
    cr_assert_eq(heap_a.cache.fill[cache_bin_of_class(class)], filled);
}

Test(cache, one_that_only_spills_does_not) {
    unsigned class = class_of_size(32768);
    go_round(class, 64);
    cr_assert_eq(room(class), 0u);
    go_round(class_of_size(8192), 96);
    cr_assert_eq(room(class_of_size(8192)), 2u);
}

Test(cache, all_rooms_together_have_a_bound) {
    for (size_t rounds = 0; rounds < 12; rounds++)
        for (unsigned class = 0; class < CLASS_COUNT; class ++)
            go_round(class, CACHE_SLOTS);
    cr_assert_leq(extra_bytes(), (size_t)CACHE_ROOMS_BYTES);
    cr_assert_gt(extra_bytes(), (size_t)CACHE_ROOMS_BYTES / 2);
    cr_assert_eq(heap_a.cache.room_bytes, extra_bytes());
    cache_flush(&heap_a);
    heap_flush(&heap_a);
    expect_all_given_back();
}

Test(cache, little_may_be_dirty_and_so_the_rooms_stay_small) {
    options.dirty_max = 1;
    for (size_t rounds = 0; rounds < 12; rounds++)
        go_round(class_of_size(32768), 64);
    cr_assert_leq(extra_bytes(), ((size_t)1 << 20) / CACHE_ROOMS_OF_DIRTY_MAX);
}

Test(cache, a_room_that_is_not_needed_shrinks) {
    unsigned class = class_of_size(32768);
    for (size_t rounds = 0; rounds < 10; rounds++)
        go_round(class, 64);
    for (unsigned epoch = 0; epoch < 20; epoch++)
        cache_tick(&heap_a);
    cr_assert_eq(cached(cache_bin_of_class(class)), 0u);
    cr_assert_eq(room(class), 0u);
    cr_assert_eq(heap_a.cache.room_bytes, 0u);
}

Test(cache, an_object_known_to_be_zero_is_asked_for_by_name) {
    unsigned class = class_of_size(8192);
    bool zero = true;
    unsigned char *p = cache_malloc_slow(&heap_a, class, &zero);
    cr_assert(zero);
    cr_assert_eq(heap_a.current[class], &slab_none); /* it is where a sweep reaches it */
    for (size_t i = 0; i < 8192; i++)
        cr_assert_eq(p[i], 0);
    *p = 1;
    give(p);
    zero = true;
    cr_assert_not_null(cache_malloc_slow(&heap_a, class, &zero));
    cr_assert_not(zero); /* that one was at hand */
}

/* The slab is given back at the first of the two, and by the second its granules are somebody else's, or nobody's. */
Test(cache, a_second_free_of_what_went_home_is_seen) {
    unsigned class = class_of_size(16384);
    size_t seen = counters_read(COUNTER_double_frees);
    for (unsigned others = 0; others < 2; others++) {
        void *p = take(class);
        heap_put_current_back(&heap_a, class);
        cache_flush(&heap_a);
        heap_flush(&heap_a);
        struct cache *cache = &heap_a.cache;
        heap_a.parked_bytes = HEAP_PARKED_MAX; /* an empty slab is not kept */
        void **top = cache->top[cache_bin_of_class(class)];
        top[0] = p;
        top[1] = p;
        cache->top[cache_bin_of_class(class)] = top + 2;
        cache_flush(&heap_a);
        heap_a.parked_bytes = 0;
        cr_assert_eq(counters_read(COUNTER_double_frees), ++seen);
        cr_assert_null(pagemap_get(p));
    }
    heap_flush(&heap_a);
    expect_all_given_back();
}
