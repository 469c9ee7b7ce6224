/* A moment of the drain that no program meets on purpose: between its finding a bin closed and its taking what is in it. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <unistd.h>

#include "../environment.h"
#include "by_hand.h"
#include "cache_drain.h"
#include "cache_fill.h"
#include "counters.h"
#include "holes.h"
#include "thread.h"

enum { CLASS = 3, BIN = CLASS + 1, OBJECTS = 10 };

static void start_threads(void) {
    options.thp = THP_NEVER;
    thread_start();
}

TestSuite(cache_drain, .init = start_threads);

static void *drain(void *unused) {
    thread_leave(thread_enter()); /* so that the process is no small one */
    cache_drain_all();
    return unused;
}

static void *take(struct heap *heap) {
    bool zero = false;
    void *p = cache_malloc_slow(heap, CLASS, &zero);
    cr_assert_not_null(p);
    return p;
}

/* While the drain waits for the lock under which it takes objects, the heap's thread ends, and another gets the heap,
   with a cache that is new. */
Test(cache_drain, a_heap_that_is_reborn_meanwhile_keeps_its_objects) {
    skip_under_tools();
    struct heap *heap = thread_enter();
    thread_leave(heap);
    struct cache *cache = &heap->cache;
    void *objects[OBJECTS];
    for (size_t i = 0; i < OBJECTS; i++)
        objects[i] = take(heap);
    for (size_t i = 0; i < OBJECTS; i++)
        cr_assert(cache_push(cache, BIN, objects[i]));
    cache_mark(cache, 0);

    pthread_t thread;
    holes_lock_for_fork();
    cr_assert_eq(pthread_create(&thread, NULL, drain, NULL), 0);
    while (__atomic_load_n(&cache->limit[BIN], __ATOMIC_ACQUIRE) != CACHE_CLOSED)
        usleep(1000);
    usleep(100000); /* it waits for the lock */
    cache_init(cache);
    cr_assert(cache_push(cache, BIN, objects[0]));
    cache_mark(cache, 0);
    holes_unlock_after_fork(false);
    pthread_join(thread, NULL);

    cr_assert_eq(counters_read(COUNTER_cache_drained), 0u);
    void *p = NULL;
    cr_assert(cache_pop(cache, BIN, &p));
    cr_assert_eq(p, objects[0]);
}
