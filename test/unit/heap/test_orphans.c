/* Slabs that belong to no heap: put, taken, claimed by a free, and both at once. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../environment.h"
#include "by_hand.h"
#include "counters.h"
#include "orphans.h"

enum { SLABS = 100, OBJECTS = 16 };

TestSuite(orphans, .init = start_heaps);

/* A slab of heap_a of 16 objects of 1 KiB; one of them, or none, is free. */
static struct extent *slab_of_a(void **objects, bool one_free) {
    struct extent *slab = slab_create(&heap_a, class_of_size(1024));
    for (unsigned i = 0; i < OBJECTS; i++)
        objects[i] = slab_take_fresh(slab);
    if (one_free) {
        slab->used--;
        slab_push(slab, objects[OBJECTS - 1]);
    }
    return slab;
}

static struct extent *take(struct heap *heap) {
    return orphans_take(class_of_size(1024), heap);
}

Test(orphans, there_are_none_to_begin_with) {
    for (unsigned class = 0; class < CLASS_COUNT; class ++)
        cr_assert_null(orphans_take(class, &heap_b));
    cr_assert_eq(counters_read(COUNTER_slabs_adopted), 0u);
}

Test(orphans, one_that_is_put_belongs_to_nobody_until_it_is_taken) {
    void *objects[OBJECTS];
    struct extent *slab = slab_of_a(objects, true);
    cr_assert(orphans_put(slab, atomic_load(&slab->owner)));
    cr_assert_eq(atomic_load(&slab->owner), EXTENT_NO_OWNER);
    cr_assert_eq(atomic_load(&slab->remote), (uintptr_t)REMOTE_LISTED);
    cr_assert_eq(take(&heap_b), slab);
    cr_assert_eq(atomic_load(&slab->owner), &heap_b);
    cr_assert_eq(atomic_load(&slab->remote), (uintptr_t)REMOTE_OWNED);
    cr_assert(list_is_empty(&slab->node));
    cr_assert_eq(counters_read(COUNTER_slabs_adopted), 1u);
    cr_assert_null(take(&heap_b));
    slab_check(slab);
}

Test(orphans, each_class_has_its_own) {
    void *objects[OBJECTS];
    struct extent *slab = slab_of_a(objects, true);
    orphans_put(slab, atomic_load(&slab->owner));
    for (unsigned class = 0; class < CLASS_COUNT; class ++)
        if (class != slab->class)
            cr_assert_null(orphans_take(class, &heap_b));
    cr_assert_eq(take(&heap_b), slab);
}

Test(orphans, the_one_that_waited_longest_is_taken_first) {
    void *objects[3][OBJECTS];
    struct extent *slabs[3];
    for (unsigned i = 0; i < 3; i++) {
        slabs[i] = slab_of_a(objects[i], true);
        cr_assert(orphans_put(slabs[i], atomic_load(&slabs[i]->owner)));
    }
    for (unsigned i = 0; i < 3; i++)
        cr_assert_eq(take(&heap_b), slabs[i]);
}

Test(orphans, one_into_which_others_freed_meanwhile_is_not_put) {
    void *objects[OBJECTS];
    struct extent *slab = slab_of_a(objects, true);
    cr_assert(slab_push_remote(slab, objects[0]));
    cr_assert_not(orphans_put(slab, atomic_load(&slab->owner)));
    cr_assert_eq(atomic_load(&slab->owner), &heap_a);
    cr_assert_null(take(&heap_b));
    cr_assert(slab_collect(slab));
    cr_assert(orphans_put(slab, atomic_load(&slab->owner)));
    cr_assert_eq(take(&heap_b), slab);
}

Test(orphans, one_that_is_claimed_is_none_any_more) {
    void *objects[OBJECTS];
    bool listed = false;
    struct extent *slab = slab_of_a(objects, true);
    orphans_put(slab, atomic_load(&slab->owner));
    cr_assert_not(slab_push_remote(slab, objects[0])); /* to whom? */
    cr_assert(slab_claim(slab, &heap_b, &listed));
    cr_assert(listed);
    orphans_unlist(slab);
    cr_assert(list_is_empty(&slab->node));
    cr_assert_eq(atomic_load(&slab->owner), &heap_b);
    cr_assert_null(take(&heap_a));
    slab_check(slab);
}

Test(orphans, one_that_is_claimed_but_still_listed_is_passed_over) {
    void *objects[2][OBJECTS];
    bool listed;
    struct extent *claimed = slab_of_a(objects[0], true);
    struct extent *free = slab_of_a(objects[1], true);
    orphans_put(claimed, atomic_load(&claimed->owner));
    orphans_put(free, atomic_load(&free->owner));
    cr_assert(slab_claim(claimed, &heap_b, &listed));
    cr_assert_eq(take(&heap_a), free); /* before heap_b could take it off the list */
    cr_assert_eq(atomic_load(&claimed->owner), &heap_b);
    orphans_unlist(claimed);
    cr_assert(list_is_empty(&claimed->node));
    cr_assert_null(take(&heap_a));
}

Test(orphans, a_claimed_one_alone_is_no_orphan) {
    void *objects[OBJECTS];
    bool listed;
    struct extent *slab = slab_of_a(objects, true);
    orphans_put(slab, atomic_load(&slab->owner));
    cr_assert(slab_claim(slab, &heap_b, &listed));
    cr_assert_null(take(&heap_a));
    list_push_front(&heap_b.partial[slab->class], &slab->node); /* what follows a claim */
    cr_assert_null(take(&heap_a));
    cr_assert_eq(list_length(&heap_b.partial[slab->class]), 1u);
}

Test(orphans, in_a_forked_child_they_are_usable) {
    void *objects[OBJECTS];
    struct extent *slab = slab_of_a(objects, true);
    orphans_put(slab, atomic_load(&slab->owner));
    orphans_lock_for_fork();
    pid_t child = fork();
    if (child == 0) {
        orphans_unlock_after_fork(true);
        leave_child(take(&heap_b) == slab ? 0 : 1);
    }
    orphans_unlock_after_fork(false);
    int status = -1;
    waitpid(child, &status, 0);
    cr_assert_eq(status, 0);
    cr_assert_eq(take(&heap_b), slab);
}

/* --- takers and claimers at once --- */

static struct extent *slabs[SLABS];
static void *objects[SLABS][OBJECTS];
static pthread_barrier_t barrier;

static void *take_what_there_is(void *arg) {
    struct heap *heap = arg;
    uintptr_t taken = 0;
    pthread_barrier_wait(&barrier);
    while (take(heap) != NULL)
        taken++;
    return (void *)taken;
}

static void *claim_each(void *arg) {
    struct heap *heap = arg;
    uintptr_t claimed = 0;
    pthread_barrier_wait(&barrier);
    for (unsigned i = SLABS; i-- > 0;) {
        bool listed;
        while (!slab_claim(slabs[i], heap, &listed))
            if (slab_push_remote(slabs[i], objects[i][0]))
                goto left;
        claimed++;
        if (listed)
            orphans_unlist(slabs[i]);
        slab_push(slabs[i], objects[i][0]);
        slabs[i]->used--;
    left:;
    }
    return (void *)claimed;
}

Test(orphans, each_gets_one_owner_when_takers_meet_claimers) {
    for (unsigned round = 0; round < 10; round++) {
        pthread_t taker, claimer;
        void *taken, *claimed;
        for (unsigned i = 0; i < SLABS; i++) {
            slabs[i] = slab_of_a(objects[i], true);
            cr_assert(orphans_put(slabs[i], atomic_load(&slabs[i]->owner)));
        }
        pthread_barrier_init(&barrier, NULL, 2);
        cr_assert_eq(pthread_create(&taker, NULL, take_what_there_is, &heap_a), 0);
        cr_assert_eq(pthread_create(&claimer, NULL, claim_each, &heap_b), 0);
        pthread_join(taker, &taken);
        pthread_join(claimer, &claimed);
        cr_assert_eq((uintptr_t)taken + (uintptr_t)claimed, (uintptr_t)SLABS);
        for (unsigned i = 0; i < SLABS; i++) {
            struct heap *owner = atomic_load(&slabs[i]->owner);
            cr_assert(owner == &heap_a || owner == &heap_b);
            cr_assert(list_is_empty(&slabs[i]->node));
            cr_assert(slab_collect(slabs[i])); /* what was left to a taker */
            cr_assert_eq(slabs[i]->used, OBJECTS - 2u);
            slab_check(slabs[i]);
        }
        cr_assert_null(take(&heap_a));
    }
}

/* A drain finds in a cache what had gone home before: its slab is parked, is no slab any more, or is no slab's at all. */
Test(orphans, a_second_free_of_what_went_home_is_seen) {
    void *slots[OBJECTS];
    struct extent *slab = slab_of_a(slots, false);
    atomic_store(&slab->owner, EXTENT_PARKED);
    orphans_free(slab, slots[3]);
    cr_assert_eq(counters_read(COUNTER_double_frees), 1u);
    cr_assert_eq(atomic_load(&slab->owner), EXTENT_PARKED);
    cr_assert_eq(atomic_load(&slab->remote), (uintptr_t)REMOTE_OWNED); /* it is in no list */
    orphans_free(NULL, slots[3]);
    cr_assert_eq(counters_read(COUNTER_double_frees), 2u);
    struct extent *large = pagemap_get(large_alloc(&heap_a, 500000, 1, false));
    orphans_free(large, chunk_extent_base(large));
    cr_assert_eq(counters_read(COUNTER_double_frees), 3u);
    cr_assert_eq(pagemap_get(chunk_extent_base(large)), large);
}
