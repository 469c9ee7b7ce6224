/* Which heap a thread uses, from before the library's constructor to after the thread's last
   destructor. */
#include <criterion/criterion.h>
#include <limits.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../environment.h"
#include "by_hand.h"
#include "counters.h"
#include "metadata.h"
#include "thread.h"

enum { THREADS = 8, GENERATIONS = 20 };

static void no_huge_pages(void) {
    options.thp = THP_NEVER;
}

/* After the constructor. */
static void start_threads(void) {
    no_huge_pages();
    thread_start();
    arena = arena_at(0);
}

TestSuite(thread, .init = start_threads);
TestSuite(thread_early, .init = no_huge_pages);

static void *run(void *(*body)(void *), void *arg) {
    pthread_t thread;
    void *result;
    cr_assert_eq(pthread_create(&thread, NULL, body, arg), 0);
    pthread_join(thread, &result);
    return result;
}

static void *enter_and_leave(void *arg) {
    (void)arg;
    struct heap *heap = thread_enter();
    thread_leave(heap);
    return heap;
}

static uint64_t created(void) {
    return counters_read(COUNTER_heaps_created);
}

/* --- before the constructor --- */

Test(thread_early, before_the_start_all_threads_share_one_heap) {
    struct heap *heap = thread_enter();
    cr_assert_not_null(heap);
    cr_assert(heap->shared);
    thread_leave(heap);
    cr_assert_null(thread_self.heap);
    cr_assert_eq(run(enter_and_leave, NULL), heap);
    cr_assert_eq(created(), 1u);
}

static void *enter_and_say_so(void *arg) {
    struct heap *heap = thread_enter();
    atomic_store((_Atomic bool *)arg, true);
    thread_leave(heap);
    return NULL;
}

Test(thread_early, the_shared_heap_is_one_threads_at_a_time) {
    _Atomic bool entered = false;
    pthread_t thread;
    struct heap *heap = thread_enter();
    cr_assert_eq(pthread_create(&thread, NULL, enter_and_say_so, &entered), 0);
    usleep(20000);
    cr_assert_not(atomic_load(&entered));
    thread_leave(heap);
    pthread_join(thread, NULL);
    cr_assert(atomic_load(&entered));
}

Test(thread_early, what_was_used_before_the_start_becomes_the_main_threads) {
    struct heap *heap = thread_enter();
    void *p = heap_alloc(heap, 5);
    thread_leave(heap);
    thread_start();
    cr_assert_eq(thread_self.heap, heap);
    cr_assert_not(heap->shared);
    cr_assert_eq(thread_enter(), heap);
    heap_free(heap, p);
    expect_heap(heap);
}

Test(thread_early, without_memory_there_is_no_heap_and_no_lock_stays_held) {
    skip_under_tools();
    struct heap *boot = thread_enter(); /* its arena needs none */
    thread_leave(boot);
    thread_start();
    address_space_limit(0);
    while (metadata_alloc(4096) != NULL || metadata_alloc(1) != NULL)
        ;
    thread_self.heap = NULL; /* as in a new thread, which could not be made now */
    struct heap *first = thread_enter();
    if (first != NULL)
        thread_leave(first);
    struct heap *second = thread_enter();
    if (second != NULL)
        thread_leave(second);
    address_space_free();
    cr_assert_not_null(first, "the late heap needs no memory of its own");
    cr_assert(first->shared);
    cr_assert_eq(second, first);
    cr_assert_null(thread_self.heap);
    thread_self.heap = boot;
}

/* --- threads --- */

Test(thread, every_thread_has_its_own_heap) {
    struct heap *main_heap = thread_enter();
    cr_assert_eq(thread_self.heap, main_heap);
    cr_assert_not(main_heap->shared);
    cr_assert_eq(thread_enter(), main_heap);
    struct heap *other = run(enter_and_leave, NULL);
    cr_assert_not_null(other);
    cr_assert_neq(other, main_heap);
    cr_assert_not(other->shared);
}

Test(thread, the_heap_of_an_ended_thread_is_used_again) {
    thread_enter();
    struct heap *first = run(enter_and_leave, NULL);
    uint64_t made = created(), reused = counters_read(COUNTER_heaps_reused);
    for (unsigned i = 1; i <= GENERATIONS; i++) {
        cr_assert_eq(run(enter_and_leave, NULL), first);
        cr_assert_eq(counters_read(COUNTER_heaps_reused), reused + i);
    }
    cr_assert_eq(created(), made);
}

Test(thread, an_ended_thread_leaves_its_arena) {
    unsigned before = 0, after = 0;
    options.narenas = 2;
    for (unsigned i = 0; i < GENERATIONS; i++)
        run(enter_and_leave, NULL);
    for (unsigned i = 0; i < arena_count(); i++)
        before += atomic_load(&arena_at(i)->heaps);
    for (unsigned i = 0; i < GENERATIONS; i++)
        run(enter_and_leave, NULL);
    for (unsigned i = 0; i < arena_count(); i++)
        after += atomic_load(&arena_at(i)->heaps);
    cr_assert_eq(after, before);
    cr_assert_leq(arena_count(), 2u);
}

static void *alloc_some(void *arg) {
    void **objects = arg;
    struct heap *heap = thread_enter();
    for (unsigned i = 0; i < 200; i++)
        objects[i] = heap_alloc(heap, i % 60);
    for (unsigned i = 0; i < 200; i += 2)
        heap_free(heap, objects[i]);
    return NULL;
}

Test(thread, what_an_ended_thread_had_can_be_freed_by_another) {
    void *objects[200];
    struct heap *heap = thread_enter();
    run(alloc_some, objects);
    for (unsigned i = 1; i < 200; i += 2)
        heap_free(heap, objects[i]);
    heap_flush(heap);
    expect_heap(heap);
    for (unsigned i = 0; i < arena_count(); i++)
        cr_assert_eq(arena_at(i)->domain.used, 0u);
}

Test(thread, generations_of_threads_take_over_what_others_left) {
    static void *objects[GENERATIONS][200];
    for (unsigned i = 0; i < GENERATIONS; i++)
        run(alloc_some, objects[i]);
    cr_assert_gt(counters_read(COUNTER_slabs_adopted), (uint64_t)GENERATIONS);
    cr_assert_leq(created(), 3u);
    cr_assert_eq(atomic_load(&space_mapped_chunks),
                 space_domain.chunks + arena->domain.chunks +
                     (arena_count() > 1 ? arena_at(1)->domain.chunks : 0));
}

static pthread_barrier_t barrier;

static void *enter_together(void *arg) {
    (void)arg;
    struct heap *heap = thread_enter();
    pthread_barrier_wait(&barrier);
    return heap;
}

Test(thread, threads_at_the_same_time_have_different_heaps) {
    pthread_t threads[THREADS];
    void *heaps[THREADS];
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (unsigned i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, enter_together, NULL), 0);
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &heaps[i]);
        for (unsigned k = 0; k < i; k++)
            cr_assert_neq(heaps[k], heaps[i]);
    }
}

/* --- destructors of other keys --- */

/* ThreadSanitizer leaves a thread alone in the last round. */
enum { ROUNDS = PTHREAD_DESTRUCTOR_ITERATIONS - FALLOW_TSAN };

static pthread_key_t key;
static struct heap *seen[ROUNDS];
static bool seen_shared[ROUNDS];
static unsigned rounds;

static void look_at_the_heap(void *value) {
    struct heap *heap = thread_enter();
    seen[rounds] = heap;
    seen_shared[rounds] = heap->shared;
    heap_free(heap, heap_alloc(heap, 7));
    thread_leave(heap);
    if (++rounds < ROUNDS)
        pthread_setspecific(key, value);
}

static void *die_slowly(void *arg) {
    pthread_setspecific(key, &key);
    return arg != NULL ? enter_and_leave(NULL) : NULL;
}

Test(thread, destructors_find_the_threads_heap_and_the_last_ones_a_shared_one) {
    cr_assert_eq(pthread_key_create(&key, look_at_the_heap), 0);
    struct heap *own = run(die_slowly, &key);
    cr_assert_eq(rounds, (unsigned)ROUNDS);
    for (unsigned i = 0; i < rounds; i++) {
        cr_assert_not_null(seen[i]);
        cr_assert(seen[i] == own || seen_shared[i]);
    }
    cr_assert_eq(seen[0], own);
    cr_assert(seen_shared[rounds - 1]);
    cr_assert_eq(run(enter_and_leave, NULL), own); /* it was left nevertheless */
}

static void enter_for_the_first_time(void *value) {
    (void)value;
    struct heap *heap = thread_enter();
    heap_free(heap, heap_alloc(heap, 7));
    thread_leave(heap);
}

Test(thread, threads_whose_first_call_is_in_a_destructor_leave_their_heaps_too) {
    cr_assert_eq(pthread_key_create(&key, enter_for_the_first_time), 0);
    run(die_slowly, NULL);
    uint64_t before = created();
    for (unsigned i = 0; i < GENERATIONS; i++)
        run(die_slowly, NULL);
    /* For a moment after a join the kernel still knows the thread. */
    cr_assert_leq(created(), before + GENERATIONS / 4, "%u heaps were lost",
                  (unsigned)(created() - before));
}

/* --- fork --- */

Test(thread, in_a_forked_child_the_heaps_are_usable) {
    struct heap *heap = thread_enter();
    void *p = heap_alloc(heap, 7);
    run(enter_and_leave, NULL);
    thread_lock_for_fork();
    pid_t child = fork();
    if (child == 0) {
        thread_unlock_after_fork(true);
        bool same = thread_enter() == heap;
        heap_free(heap, p);
        leave_child(same && heap_alloc(heap, 7) == p ? 0 : 1);
    }
    thread_unlock_after_fork(false);
    int status = -1;
    waitpid(child, &status, 0);
    cr_assert_eq(status, 0);
    cr_assert_not_null(run(enter_and_leave, NULL));
}
