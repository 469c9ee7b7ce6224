/* Heaps by hand: what is current, partial and parked, what goes to others, and what goes back. */
#include <criterion/criterion.h>
#include <string.h>

#include "../capture.h"
#include "../environment.h"
#include "by_hand.h"
#include "counters.h"
#include "orphans.h"
#include "purge.h"

enum { MAX_OBJECTS = 4096 };

static const uint64_t epoch_ns = 50000000;

TestSuite(heap, .init = start_heaps);

static void *objects[MAX_OBJECTS];

/* Allocates until `n` objects of the class are there. */
static void alloc_many(struct heap *heap, unsigned class, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        objects[i] = heap_alloc(heap, class);
        cr_assert_not_null(objects[i]);
    }
    expect_heap(heap);
}

static void free_many(struct heap *heap, unsigned from, unsigned to) {
    for (unsigned i = from; i < to; i++)
        heap_free(heap, objects[i]);
    expect_heap(heap);
}

static unsigned capacity(unsigned class) {
    return slab_shapes[class].capacity;
}

Test(heap, a_new_one_has_nothing) {
    for (unsigned class = 0; class < CLASS_COUNT; class ++)
        cr_assert_eq(heap_a.current[class], &slab_none);
    cr_assert_eq(heap_partial_slabs(&heap_a), 0u);
    expect_heap(&heap_a);
    expect_all_given_back();
}

Test(heap, every_class_gives_objects_of_its_size_that_lie_apart) {
    for (unsigned class = 0; class < CLASS_COUNT; class ++) {
        char *a = heap_alloc(&heap_a, class), *b = heap_alloc(&heap_a, class);
        memset(a, 1, class_bytes(class));
        memset(b, 2, class_bytes(class));
        cr_assert_eq(a[0] + a[class_bytes(class) - 1], 2, "class %u", class);
        cr_assert(is_aligned((uintptr_t)a, 16));
        cr_assert_eq(pagemap_get(a)->class, class);
    }
    expect_heap(&heap_a);
}

Test(heap, the_object_freed_last_is_the_next_one) {
    alloc_many(&heap_a, class_of_size(100), 3);
    heap_free(&heap_a, objects[1]);
    cr_assert_eq(heap_alloc(&heap_a, class_of_size(100)), objects[1]);
    expect_heap(&heap_a);
}

Test(heap, a_full_slab_belongs_to_nobody) {
    unsigned class = class_of_size(1024), n = capacity(class);
    alloc_many(&heap_a, class, n);
    struct extent *slab = pagemap_get(objects[0]);
    cr_assert_eq(heap_a.current[class], slab);
    void *next = heap_alloc(&heap_a, class);
    cr_assert_neq(pagemap_get(next), slab);
    cr_assert_eq(atomic_load(&slab->owner), EXTENT_NO_OWNER);
    cr_assert_eq(atomic_load(&slab->remote), 0u);
    cr_assert_eq(slab->used, n);
    cr_assert_eq(heap_partial_slabs(&heap_a), 0u);
    expect_heap(&heap_a);
}

Test(heap, whoever_frees_into_a_full_slab_owns_it) {
    unsigned class = class_of_size(1024), n = capacity(class);
    alloc_many(&heap_a, class, n + 1);
    struct extent *slab = pagemap_get(objects[0]);
    heap_free(&heap_b, objects[0]);
    cr_assert_eq(atomic_load(&slab->owner), &heap_b);
    cr_assert_eq(list_first(&heap_b.partial[class]), &slab->node);
    heap_free(&heap_a, objects[1]); /* waits for heap_b */
    cr_assert_eq(atomic_load(&slab->owner), &heap_b);
    expect_heap(&heap_a);
    expect_heap(&heap_b);
    cr_assert_eq(heap_alloc(&heap_b, class), objects[1]);
    cr_assert_eq(heap_alloc(&heap_b, class), objects[0]);
    expect_heap(&heap_b);
}

Test(heap, a_partial_slab_is_used_before_a_new_one_is_made) {
    unsigned class = class_of_size(1024), n = capacity(class);
    alloc_many(&heap_a, class, 2 * n);
    heap_free(&heap_a, objects[2]);
    heap_free(&heap_a, objects[3]);
    heap_free(&heap_a, objects[5]);
    size_t used = arena->domain.used;
    cr_assert_eq(heap_alloc(&heap_a, class), objects[5]);
    cr_assert_eq(heap_alloc(&heap_a, class), objects[3]);
    cr_assert_eq(heap_alloc(&heap_a, class), objects[2]);
    cr_assert_eq(arena->domain.used, used);
    expect_heap(&heap_a);
}

Test(heap, what_others_freed_is_used_before_a_new_slab_is_made) {
    unsigned class = class_of_size(1024), n = capacity(class);
    alloc_many(&heap_a, class, n);
    heap_free(&heap_b, objects[7]); /* heap_a owns the slab: it is its current one */
    size_t used = arena->domain.used;
    cr_assert_eq(heap_alloc(&heap_a, class), objects[7]);
    cr_assert_eq(arena->domain.used, used);
    cr_assert_eq(counters_read(COUNTER_remote_frees), 1u);
    expect_heap(&heap_a);
}

Test(heap, a_single_free_object_is_taken_without_making_its_slab_current) {
    unsigned class = class_of_size(1024), n = capacity(class);
    alloc_many(&heap_a, class, n + 1);
    struct extent *slab = pagemap_get(objects[0]);
    struct extent *current = heap_a.current[class];
    cr_assert_null(heap_malloc_single(&heap_a, class));
    heap_free(&heap_a, objects[4]);
    cr_assert_eq(heap_malloc_single(&heap_a, class), objects[4]);
    cr_assert_eq(heap_a.current[class], current);
    cr_assert_eq(atomic_load(&slab->owner), EXTENT_NO_OWNER);
    expect_heap(&heap_a);
    heap_free(&heap_a, objects[4]);
    heap_free(&heap_a, objects[5]);
    cr_assert_null(heap_malloc_single(&heap_a, class)); /* two are worth it */
    expect_heap(&heap_a);
}

Test(heap, a_slab_into_which_others_freed_stays_with_its_heap) {
    unsigned class = class_of_size(1024), n = capacity(class);
    alloc_many(&heap_a, class, n + 1);
    struct extent *slab = pagemap_get(objects[0]);
    heap_free(&heap_a, objects[4]);
    heap_free(&heap_b, objects[5]);
    cr_assert_eq(heap_malloc_single(&heap_a, class), objects[4]);
    cr_assert_eq(atomic_load(&slab->owner), &heap_a);
    cr_assert_eq(list_first(&heap_a.partial[class]), &slab->node);
    expect_heap(&heap_a);
}

/* --- zero --- */

static bool reads_zero(const char *p, size_t bytes) {
    return p[0] == 0 && memcmp(p, p + 1, bytes - 1) == 0;
}

Test(heap, large_objects_never_used_before_are_known_to_be_zero) {
    for (unsigned class = class_of_size(4096); class < CLASS_COUNT; class ++) {
        for (unsigned i = 0; i < 2; i++) {
            bool zero = true;
            char *p = heap_malloc_slow(&heap_a, class, &zero);
            cr_assert(zero, "class %u", class);
            cr_assert(reads_zero(p, class_bytes(class)));
            memset(p, 1, class_bytes(class));
        }
    }
    expect_heap(&heap_a);
}

Test(heap, nothing_is_called_zero_that_may_not_be) {
    for (unsigned class = 0; class < CLASS_COUNT; class ++) {
        char *p = heap_alloc(&heap_a, class);
        memset(p, 1, class_bytes(class));
        heap_free(&heap_a, p); /* a double free to the current slab would be told */
        bool zero = true;
        char *q = heap_malloc_slow(&heap_a, class, &zero);
        cr_assert(!zero || reads_zero(q, class_bytes(class)), "class %u", class);
    }
    heap_retire(&heap_a);
    for (unsigned class = 0; class < CLASS_COUNT; class ++) {
        bool zero = true; /* over dirty granules now */
        char *p = heap_malloc_slow(&heap_b, class, &zero);
        cr_assert(!zero || reads_zero(p, class_bytes(class)), "class %u", class);
    }
}

/* --- empty slabs --- */

Test(heap, an_empty_slab_is_parked) {
    unsigned class = class_of_size(1024), n = capacity(class);
    alloc_many(&heap_a, class, n + 1);
    struct extent *slab = pagemap_get(objects[0]);
    free_many(&heap_a, 0, n);
    cr_assert_eq(atomic_load(&slab->owner), EXTENT_PARKED);
    cr_assert_eq(heap_a.parked_bytes, bytes_of_granules(slab->granules));
    cr_assert_not_null(pagemap_get(objects[0]));
}

Test(heap, a_parked_slab_is_used_again) {
    unsigned class = class_of_size(1024), n = capacity(class);
    alloc_many(&heap_a, class, n + 1);
    struct extent *slab = pagemap_get(objects[0]);
    free_many(&heap_a, 0, n);
    size_t used = arena->domain.used;
    for (unsigned i = 0; i < 2 * n - 1; i++)
        objects[i] = heap_alloc(&heap_a, class);
    cr_assert_eq(arena->domain.used, used);
    cr_assert_eq(heap_a.parked_bytes, 0u);
    cr_assert_eq(heap_a.current[class], slab);
    expect_heap(&heap_a);
}

Test(heap, no_more_is_parked_than_the_bound) {
    static const size_t sizes[] = {16, 1024, 8192, 40000, 131072, 262144};
    for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
        unsigned class = class_of_size(sizes[i]), n = 20 * capacity(class);
        n = n < MAX_OBJECTS ? n : MAX_OBJECTS;
        alloc_many(&heap_a, class, n);
        for (unsigned k = 0; k < n; k++) {
            heap_free(&heap_a, objects[k]);
            cr_assert_leq(heap_a.parked_bytes, (size_t)HEAP_PARKED_MAX);
        }
        expect_heap(&heap_a);
    }
    cr_assert_gt(heap_a.parked_bytes, 0u);
}

Test(heap, flush_gives_everything_back) {
    for (unsigned class = 0; class < CLASS_COUNT; class ++) {
        unsigned n = capacity(class) + 1;
        alloc_many(&heap_a, class, n);
        free_many(&heap_a, 0, n);
    }
    cr_assert_gt(arena->domain.used, 0u);
    heap_flush(&heap_a);
    cr_assert_eq(heap_a.parked_bytes, 0u);
    expect_heap(&heap_a);
    expect_all_given_back();
}

Test(heap, flush_gives_back_what_others_have_emptied) {
    unsigned class = class_of_size(1024), n = 3 * capacity(class);
    alloc_many(&heap_a, class, n);
    free_many(&heap_a, 0, 1);             /* heap_a owns the first slab, */
    free_many(&heap_a, n / 3, n / 3 + 1); /* the second, and the third, which is current */
    free_many(&heap_b, 1, n / 3);
    free_many(&heap_b, n / 3 + 1, n);
    cr_assert_eq(heap_partial_slabs(&heap_b), 0u);
    heap_flush(&heap_a);
    expect_heap(&heap_a);
    expect_all_given_back();
}

Test(heap, flush_leaves_what_is_in_use) {
    unsigned class = class_of_size(1024), n = 3 * capacity(class);
    alloc_many(&heap_a, class, n);
    for (unsigned i = 0; i < n; i++)
        memset(objects[i], (int)i, 1024);
    free_many(&heap_a, 1, n);
    heap_flush(&heap_a);
    cr_assert_eq(*(char *)objects[0], 0);
    cr_assert_eq(arena->domain.used, slab_shapes[class].granules);
    expect_heap(&heap_a);
    free_many(&heap_a, 0, 1);
    heap_flush(&heap_a);
    expect_all_given_back();
}

Test(heap, what_stays_empty_goes_back_after_two_epochs) {
    unsigned class = class_of_size(1024), n = capacity(class);
    uint64_t now = 1000 * epoch_ns;
    heap_tick(&heap_a, now);
    alloc_many(&heap_a, class, n + 1);
    free_many(&heap_a, 0, n + 1); /* one is parked, the other is current */
    size_t used = arena->domain.used;
    heap_tick(&heap_a, now + epoch_ns - 1);
    cr_assert_eq(arena->domain.used, used);
    heap_tick(&heap_a, now + epoch_ns);
    cr_assert_eq(arena->domain.used, used);
    heap_tick(&heap_a, now + 2 * epoch_ns - 1);
    cr_assert_eq(arena->domain.used, used);
    heap_tick(&heap_a, now + 2 * epoch_ns);
    expect_heap(&heap_a);
    expect_all_given_back();
}

Test(heap, an_epochs_end_finds_what_others_have_emptied) {
    unsigned class = class_of_size(1024), n = capacity(class);
    uint64_t now = 1000 * epoch_ns;
    heap_tick(&heap_a, now);
    alloc_many(&heap_a, class, 2 * n);
    free_many(&heap_a, 0, 1); /* the first slab is heap_a's again, and partial */
    free_many(&heap_b, 1, n);
    cr_assert_eq(heap_a.parked_bytes, 0u);
    heap_tick(&heap_a, now + epoch_ns);
    cr_assert_gt(heap_a.parked_bytes, 0u);
    expect_heap(&heap_a);
}

Test(heap, what_is_used_in_every_epoch_stays) {
    unsigned class = class_of_size(1024), n = capacity(class);
    uint64_t now = 1000 * epoch_ns;
    for (unsigned round = 0; round < 10; round++) {
        alloc_many(&heap_a, class, n + 1);
        heap_tick(&heap_a, now += epoch_ns);
        free_many(&heap_a, 0, n + 1);
        heap_tick(&heap_a, now += epoch_ns);
        cr_assert_gt(arena->domain.used, 0u);
    }
    cr_assert_eq(atomic_load(&space_mapped_chunks), 1u);
}

/* --- the end of a heap --- */

Test(heap, a_retired_one_has_nothing_left) {
    for (unsigned class = 0; class < CLASS_COUNT; class += 3) {
        unsigned n = 2 * capacity(class) + 1;
        n = n < MAX_OBJECTS ? n : MAX_OBJECTS;
        alloc_many(&heap_a, class, n);
        free_many(&heap_a, 1, n);
    }
    heap_retire(&heap_a);
    cr_assert_eq(heap_a.parked_bytes, 0u);
    cr_assert_eq(heap_partial_slabs(&heap_a), 0u);
    for (unsigned class = 0; class < CLASS_COUNT; class ++)
        cr_assert_eq(heap_a.current[class], &slab_none);
    expect_heap(&heap_a);
}

Test(heap, without_live_objects_retiring_gives_all_back) {
    alloc_many(&heap_a, class_of_size(100), 500);
    free_many(&heap_a, 0, 500);
    alloc_many(&heap_a, class_of_size(30000), 50);
    free_many(&heap_a, 0, 50);
    heap_retire(&heap_a);
    expect_all_given_back();
}

Test(heap, the_slabs_of_a_retired_one_are_adopted_by_the_next_that_needs_them) {
    unsigned class = class_of_size(1024);
    alloc_many(&heap_a, class, 3);
    struct extent *slab = pagemap_get(objects[0]);
    heap_retire(&heap_a);
    void *p = heap_alloc(&heap_b, class);
    cr_assert_eq(pagemap_get(p), slab);
    cr_assert_eq(counters_read(COUNTER_slabs_adopted), 1u);
    expect_heap(&heap_b);
    heap_free(&heap_b, p);
    free_many(&heap_b, 0, 3);
    heap_flush(&heap_b);
    expect_all_given_back();
}

Test(heap, the_slabs_of_a_retired_one_are_adopted_by_whoever_frees_into_them) {
    unsigned class = class_of_size(1024);
    alloc_many(&heap_a, class, 3);
    struct extent *slab = pagemap_get(objects[0]);
    heap_retire(&heap_a);
    heap_free(&heap_b, objects[0]);
    cr_assert_eq(atomic_load(&slab->owner), &heap_b);
    cr_assert_null(orphans_take(class, &heap_a));
    free_many(&heap_b, 1, 3);
    heap_flush(&heap_b);
    expect_all_given_back();
}

Test(heap, a_retired_one_can_begin_anew) {
    alloc_many(&heap_a, class_of_size(1024), 3);
    heap_retire(&heap_a);
    heap_init(&heap_a, arena, false);
    free_many(&heap_a, 0, 3);
    heap_flush(&heap_a);
    expect_all_given_back();
}

/* --- double frees that can be seen --- */

static void expect_double_free(void (*run)(void *p), void *p) {
    char text[256];
    uint64_t before = counters_read(COUNTER_double_frees);
    struct capture c = capture_start();
    run(p);
    capture_end(c, text, sizeof text);
    cr_assert_eq(counters_read(COUNTER_double_frees), before + 1);
    cr_assert_not_null(strstr(text, "double free"));
    expect_heap(&heap_a);
    expect_heap(&heap_b);
}

static void free_in_a(void *p) {
    heap_free(&heap_a, p);
}

static void free_in_b(void *p) {
    heap_free(&heap_b, p);
}

Test(heap, a_second_free_into_a_current_slab_without_live_objects_is_seen) {
    void *p = heap_alloc(&heap_a, class_of_size(1024));
    heap_free(&heap_a, p);
    expect_double_free(free_in_a, p);
    cr_assert_eq(heap_alloc(&heap_a, class_of_size(1024)), p);
    cr_assert_neq(heap_alloc(&heap_a, class_of_size(1024)), p);
}

Test(heap, a_second_free_into_a_parked_slab_is_seen) {
    unsigned class = class_of_size(1024), n = capacity(class);
    alloc_many(&heap_a, class, n + 1);
    free_many(&heap_a, 0, n);
    expect_double_free(free_in_a, objects[3]);
    expect_double_free(free_in_b, objects[3]);
}

Test(heap, a_second_free_by_another_heap_of_what_was_freed_last_is_seen) {
    alloc_many(&heap_a, class_of_size(1024), 5);
    heap_free(&heap_a, objects[2]);
    expect_double_free(free_in_b, objects[2]);
}

/* --- no memory --- */

Test(heap, without_address_space_there_is_no_new_slab_and_nothing_is_lost) {
    skip_under_tools();
    alloc_many(&heap_a, class_of_size(1024), 3);
    address_space_limit(CHUNK_BYTES / 2);
    unsigned n = 3;
    while (n < MAX_OBJECTS && (objects[n] = heap_alloc(&heap_a, class_of_size(40000))) != NULL)
        n++;
    bool zero = true;
    void *large = heap_malloc_slow(&heap_a, class_of_size(262144), &zero);
    address_space_free();
    cr_assert_lt(n, (unsigned)MAX_OBJECTS);
    cr_assert_null(large);
    cr_assert_not(zero);
    expect_heap(&heap_a);
    free_many(&heap_a, 0, n);
    heap_flush(&heap_a);
    expect_all_given_back();
}
