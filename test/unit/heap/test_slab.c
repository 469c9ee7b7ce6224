/* One slab: its objects page by page, its free lists, and its ownership handed to and fro between
   two heaps. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#include "../environment.h"
#include "by_hand.h"
#include "counters.h"
#include "os_advise.h"
#include "os_assert.h"
#include "os_page.h"
#include "purge.h"

enum { THREADS = 4, OBJECTS_MAX = 4096 };

TestSuite(slab, .init = start_heaps);

static struct extent *create(size_t object_bytes) {
    struct extent *slab = slab_create(&heap_a, class_of_size(object_bytes));
    cr_assert_not_null(slab);
    return slab;
}

/* Takes every object; none is linked then. */
static void take_all(struct extent *slab, void **objects) {
    for (unsigned i = 0; i < slab->capacity; i++)
        objects[i] = slab_take_fresh(slab);
    cr_assert_null(slab_take_fresh(slab));
    slab_check(slab);
}

static size_t resident_pages(const char *base, size_t bytes) {
    unsigned char pages[CHUNK_GRANULES * 4];
    size_t resident = 0;
    cr_assert_eq(mincore((void *)(uintptr_t)base, bytes, pages), 0);
    for (size_t i = 0; i < bytes / os_page_size(); i++)
        resident += pages[i] & 1;
    return resident;
}

Test(slab, a_new_one_is_empty_and_in_the_page_map) {
    for (unsigned class = 0; class < CLASS_COUNT; class ++) {
        struct extent *slab = slab_create(&heap_a, class);
        char *base = chunk_extent_base(slab);
        cr_assert_eq(slab->class, class);
        cr_assert_eq(slab->capacity, slab_shapes[class].capacity);
        cr_assert_eq(slab->granules, slab_shapes[class].granules);
        cr_assert_eq(slab->used + slab->fresh, 0u);
        cr_assert_null(slab->free);
        cr_assert_eq(atomic_load(&slab->owner), &heap_a);
        cr_assert(list_is_empty(&slab->node));
        for (unsigned i = 0; i < slab->capacity; i++)
            cr_assert_eq(pagemap_get(base + i * class_bytes(class)), slab, "class %u", class);
        slab_check(slab);
    }
}

Test(slab, inside_the_only_object_of_a_slab_the_page_map_has_nothing) {
    struct extent *slab = create(256 << 10);
    cr_assert_eq(slab->capacity, 1u);
    cr_assert_null(pagemap_get(chunk_extent_base(slab) + GRANULE_BYTES));
}

Test(slab, a_destroyed_one_is_out_of_the_page_map_and_back_in_its_arena) {
    struct extent *slab = create(6000);
    char *base = chunk_extent_base(slab);
    slab_destroy(slab);
    for (unsigned i = 0; i < slab_shapes[class_of_size(6000)].granules; i++)
        cr_assert_null(pagemap_get(base + i * GRANULE_BYTES));
    expect_all_given_back();
}

Test(slab, over_clean_memory_objects_are_known_to_be_zero) {
    struct extent *slab = create(4096);
    cr_assert(slab->flags & EXTENT_ZERO);
    memset(chunk_extent_base(slab), 1, 4096);
    slab_destroy(slab);
    slab = create(4096); /* the same granules, dirty */
    cr_assert_not(slab->flags & EXTENT_ZERO);
    slab_destroy(slab);
    purge_all(false); /* lazy: may have been taken by the kernel or not */
    slab = create(4096);
    cr_assert_not(slab->flags & EXTENT_ZERO);
    slab_destroy(slab);
    purge_all(true);
    cr_assert(create(4096)->flags & EXTENT_ZERO);
}

/* --- objects --- */

Test(slab, extending_touches_no_page_but_the_next) {
    struct extent *slab = create(64);
    char *base = chunk_extent_base(slab);
    size_t bytes = bytes_of_granules(slab->granules), page = os_page_size();
    cr_assert_eq(os_advise(slab->chunk->base, CHUNK_BYTES, OS_ADVISE_NOHUGEPAGE), 0);
    cr_assert_eq(resident_pages(base, bytes), 0u);
    for (size_t i = 1; i <= bytes / page; i++) {
        cr_assert(slab_extend(slab));
        cr_assert_eq(slab->fresh, i * page / 64);
        cr_assert_eq(resident_pages(base, bytes), i);
        cr_assert_eq(resident_pages(base, i * page), i);
        slab_check(slab);
    }
    cr_assert_not(slab_extend(slab));
}

Test(slab, every_class_is_linked_in_order_and_completely) {
    for (unsigned class = 0; class < CLASS_COUNT; class ++) {
        struct extent *slab = slab_create(&heap_a, class);
        char *next = chunk_extent_base(slab);
        size_t bytes = class_bytes(class);
        while (slab_extend(slab)) {
            cr_assert_neq(slab->free, NULL);
            char *page = (char *)align_down((size_t)next, os_page_size());
            while (slab->free != NULL) {
                char *object = slab_pop(slab);
                cr_assert_eq(object, next);
                cr_assert_lt(object, page + os_page_size());
                next += bytes;
            }
        }
        cr_assert_eq(slab->used, slab->capacity);
        cr_assert_leq(next, chunk_extent_base(slab) + bytes_of_granules(slab->granules));
    }
}

Test(slab, a_fresh_object_is_not_touched) {
    struct extent *slab = create(4096);
    char *base = chunk_extent_base(slab);
    for (unsigned i = 0; i < slab->capacity; i++)
        cr_assert_eq(slab_take_fresh(slab), base + i * 4096U);
    cr_assert_null(slab_take_fresh(slab));
    cr_assert_eq(slab->used, slab->capacity);
    cr_assert_eq(resident_pages(base, bytes_of_granules(slab->granules)), 0u);
}

Test(slab, fresh_and_linked_objects_do_not_overlap) {
    struct extent *slab = create(1024);
    char *base = chunk_extent_base(slab);
    cr_assert_eq(slab_take_fresh(slab), base);
    cr_assert(slab_extend(slab));
    cr_assert_eq(slab_pop(slab), base + 1024);
    cr_assert_eq(slab_take_fresh(slab), base + 4096);
    slab_check(slab);
}

Test(slab, the_object_freed_last_is_handed_out_first) {
    struct extent *slab = create(64);
    slab_extend(slab);
    void *a = slab_pop(slab), *b = slab_pop(slab);
    slab->used -= 2;
    slab_push(slab, a);
    slab_push(slab, b);
    cr_assert_eq(slab_pop(slab), b);
    cr_assert_eq(slab_pop(slab), a);
    slab_check(slab);
}

/* --- ownership --- */

Test(slab, what_others_free_waits_until_it_is_collected) {
    void *objects[64];
    bool listed;
    struct extent *slab = create(1024);
    take_all(slab, objects);
    cr_assert_not(slab_collect(slab));
    for (unsigned i = 0; i < 3; i++) {
        cr_assert_not(slab_claim(slab, &heap_b, &listed));
        cr_assert(slab_push_remote(slab, objects[i]));
    }
    cr_assert_eq(slab->used, slab->capacity);
    cr_assert_null(slab->free);
    cr_assert(slab_collect(slab));
    cr_assert_eq(slab->used, slab->capacity - 3u);
    slab_check(slab);
    cr_assert_eq(slab_pop(slab), objects[2]);
    cr_assert_eq(slab_pop(slab), objects[1]);
    cr_assert_eq(slab_pop(slab), objects[0]);
    cr_assert_eq(counters_read(COUNTER_remote_frees), 3u);
}

Test(slab, collected_objects_go_before_those_the_owner_freed) {
    void *objects[64];
    struct extent *slab = create(1024);
    take_all(slab, objects);
    slab->used--;
    slab_push(slab, objects[0]);
    cr_assert(slab_push_remote(slab, objects[1]));
    cr_assert(slab_collect(slab));
    slab_check(slab);
    cr_assert_eq(slab_pop(slab), objects[1]);
    cr_assert_eq(slab_pop(slab), objects[0]);
}

Test(slab, collecting_nothing_tells_of_the_own_free_list) {
    void *objects[64];
    struct extent *slab = create(1024);
    take_all(slab, objects);
    cr_assert_not(slab_collect(slab));
    slab->used--;
    slab_push(slab, objects[0]);
    cr_assert(slab_collect(slab));
}

/* A free of what is no object, inside one: the bits of the word that are no address are not its own. */
Test(slab, an_odd_address_leaves_the_owner_what_he_is) {
    void *objects[64];
    if (UNDER_SANITIZER)
        cr_skip_test("the store of the list's link is not aligned");
    struct extent *slab = create(1024);
    take_all(slab, objects);
    cr_assert(slab_push_remote(slab, (char *)objects[0] + REMOTE_LISTED));
    uintptr_t remote = atomic_load(&slab->remote);
    cr_assert_eq(remote & (REMOTE_OWNED | REMOTE_LISTED), (uintptr_t)REMOTE_OWNED);
    cr_assert_eq(remote & REMOTE_ADDRESS, (uintptr_t)objects[0]);
}

Test(slab, a_full_one_can_be_left_to_nobody_and_claimed_by_anybody) {
    void *objects[64];
    bool listed = true;
    struct extent *slab = create(1024);
    take_all(slab, objects);
    cr_assert(slab_release(slab, atomic_load(&slab->owner)));
    cr_assert_eq(atomic_load(&slab->owner), EXTENT_NO_OWNER);
    cr_assert_eq(atomic_load(&slab->remote), 0u);
    cr_assert_not(slab_push_remote(slab, objects[5])); /* to whom? */
    cr_assert(slab_claim(slab, &heap_b, &listed));
    cr_assert_not(listed);
    cr_assert_eq(atomic_load(&slab->owner), &heap_b);
    cr_assert_not(slab_claim(slab, &heap_a, &listed));
    cr_assert(slab_push_remote(slab, objects[5]));
    cr_assert(slab_collect(slab));
    cr_assert_eq(slab->used, slab->capacity - 1u);
    slab_check(slab);
}

Test(slab, one_into_which_others_freed_is_not_left) {
    void *objects[64];
    struct extent *slab = create(1024);
    take_all(slab, objects);
    cr_assert(slab_push_remote(slab, objects[0]));
    cr_assert_not(slab_release(slab, atomic_load(&slab->owner)));
    cr_assert_eq(atomic_load(&slab->owner), &heap_a);
    cr_assert(slab_collect(slab));
    cr_assert_eq(slab_pop(slab), objects[0]);
    cr_assert(slab_release(slab, atomic_load(&slab->owner)));
}

Test(slab, ownership_goes_to_and_fro) {
    void *objects[64];
    bool listed;
    struct heap *heaps[] = {&heap_a, &heap_b};
    struct extent *slab = create(1024);
    take_all(slab, objects);
    for (unsigned round = 0; round < 20; round++) {
        struct heap *next = heaps[round % 2];
        cr_assert(slab_release(slab, atomic_load(&slab->owner)));
        cr_assert(slab_claim(slab, next, &listed));
        cr_assert_eq(atomic_load(&slab->owner), next);
        cr_assert(slab_push_remote(slab, objects[round % 16]));
        cr_assert(slab_collect(slab));
        cr_assert_eq(slab_pop(slab), objects[round % 16]);
        slab_check(slab);
    }
}

#if FALLOW_DEBUG

Test(slab, check_finds_an_object_too_many, .signal = SIGABRT) {
    struct extent *slab = create(1024);
    slab_extend(slab);
    slab->used++;
    slab_check(slab);
}

Test(slab, destroying_one_in_use_is_caught, .signal = SIGABRT) {
    struct extent *slab = create(1024);
    slab_take_fresh(slab);
    slab_destroy(slab);
}

#endif

/* --- threads --- */

struct pusher {
    struct extent *slab;
    void **objects;
    size_t count;
    unsigned claimed;
    struct heap heap;
};

static pthread_barrier_t barrier;

/* Frees as heap_free_remote() does. Whoever claims the slab frees the rest as its owner. */
static void *push_all(void *arg) {
    struct pusher *pusher = arg;
    bool listed;
    pthread_barrier_wait(&barrier);
    for (size_t i = 0; i < pusher->count; i++) {
        while (pusher->claimed == 0 && !slab_push_remote(pusher->slab, pusher->objects[i]))
            pusher->claimed += slab_claim(pusher->slab, &pusher->heap, &listed);
        if (pusher->claimed != 0) {
            slab_push(pusher->slab, pusher->objects[i]);
            pusher->slab->used--;
        }
    }
    return NULL;
}

/* Each thread frees its share of the slab's objects; returns how many thought they became owner. */
static unsigned push_from_threads(struct extent *slab, void **objects) {
    static struct pusher pushers[THREADS];
    pthread_t threads[THREADS];
    unsigned claims = 0;
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (unsigned i = 0; i < THREADS; i++) {
        size_t share = slab->capacity / THREADS;
        pushers[i] = (struct pusher){.slab = slab, .objects = objects + i * share, .count = share};
        cr_assert_eq(pthread_create(&threads[i], NULL, push_all, &pushers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        claims += pushers[i].claimed;
    }
    return claims;
}

Test(slab, no_free_of_several_threads_is_lost) {
    void *objects[OBJECTS_MAX];
    for (unsigned round = 0; round < 20; round++) {
        struct extent *slab = create(16);
        take_all(slab, objects);
        cr_assert_eq(push_from_threads(slab, objects), 0u);
        cr_assert(slab_collect(slab));
        cr_assert_eq(slab->used, 0u);
        slab_check(slab);
        slab_destroy(slab);
    }
}

Test(slab, of_several_threads_one_claims_a_slab_of_nobodys) {
    void *objects[OBJECTS_MAX];
    for (unsigned round = 0; round < 20; round++) {
        struct extent *slab = create(16);
        take_all(slab, objects);
        cr_assert(slab_release(slab, atomic_load(&slab->owner)));
        cr_assert_eq(push_from_threads(slab, objects), 1u);
        cr_assert(slab_collect(slab));
        cr_assert_eq(slab->used, 0u);
        slab_destroy(slab);
    }
}

static void *collect_until_empty(void *arg) {
    struct extent *slab = arg;
    pthread_barrier_wait(&barrier);
    while (slab->used > 0)
        slab_collect(slab);
    return NULL;
}

Test(slab, the_owner_may_collect_while_others_free) {
    static struct pusher pusher;
    void *objects[OBJECTS_MAX];
    pthread_t threads[2];
    for (unsigned round = 0; round < 20; round++) {
        struct extent *slab = create(16);
        take_all(slab, objects);
        pusher = (struct pusher){.slab = slab, .objects = objects, .count = slab->capacity};
        pthread_barrier_init(&barrier, NULL, 2);
        cr_assert_eq(pthread_create(&threads[0], NULL, collect_until_empty, slab), 0);
        cr_assert_eq(pthread_create(&threads[1], NULL, push_all, &pusher), 0);
        pthread_join(threads[1], NULL);
        pthread_join(threads[0], NULL);
        slab_check(slab);
        slab_destroy(slab);
    }
}
