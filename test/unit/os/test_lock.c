/* Mutual exclusion, and the order of acquisition that debug builds enforce. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../capture.h"
#include "os_lock.h"
#include "os_thread.h"

enum { THREADS = 4, ROUNDS = 10000 };

struct shared {
    struct os_lock lock;
    unsigned long count; /* under lock */
    bool inside;         /* under lock */
};

static void *count_under_lock(void *arg) {
    struct shared *s = arg;
    for (int i = 0; i < ROUNDS; i++) {
        os_lock_acquire(&s->lock);
        cr_assert_not(s->inside);
        s->inside = true;
        s->count++;
        if (i % 64 == 0)
            os_thread_yield(); /* so that others find it held, even on one CPU */
        s->inside = false;
        os_lock_release(&s->lock);
    }
    return NULL;
}

static void count_from_threads(void) {
    struct shared s = {.lock = OS_LOCK_INIT(arena)};
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, count_under_lock, &s), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    cr_assert_eq(s.count, (unsigned long)THREADS * ROUNDS);
    cr_assert_not(os_lock_is_held(&s.lock));
}

Test(lock, excludes_when_spinning) {
    count_from_threads();
}

Test(lock, excludes_when_sleeping) {
    os_lock_tell_cpus(1);
    count_from_threads();
    os_lock_tell_cpus(2);
}

Test(lock, try_fails_on_a_held_lock) {
    struct os_lock lock = OS_LOCK_INIT(space);
    cr_assert(os_lock_try(&lock));
    cr_assert(os_lock_is_held(&lock));
    cr_assert_not(os_lock_try(&lock));
    os_lock_release(&lock);
    cr_assert_not(os_lock_is_held(&lock));
    cr_assert(os_lock_try(&lock));
    os_lock_release(&lock);
}

static void *acquire_and_release(void *arg) {
    os_lock_acquire(arg);
    os_lock_release(arg);
    return NULL;
}

Test(lock, a_sleeper_is_woken) {
    struct os_lock lock = OS_LOCK_INIT(space);
    os_lock_acquire(&lock);
    pthread_t sleeper;
    cr_assert_eq(pthread_create(&sleeper, NULL, acquire_and_release, &lock), 0);
    while (atomic_load(&lock.word) != OS_LOCK_CONTENDED)
        os_thread_yield();
    usleep(1000);
    os_lock_release(&lock);
    pthread_join(sleeper, NULL);
    cr_assert_not(os_lock_is_held(&lock));
}

Test(lock, reset_frees_it_in_a_forked_child) {
    struct os_lock lock = OS_LOCK_INIT(space);
    os_lock_acquire(&lock);
    pid_t child = fork();
    if (child == 0) {
        os_lock_reset(&lock);
        os_lock_acquire(&lock);
        os_lock_release(&lock);
        _exit(0);
    }
    int status = -1;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert_eq(status, 0);
    cr_assert(os_lock_is_held(&lock));
    os_lock_release(&lock);
}

Test(lock, every_rank_has_a_name) {
    cr_assert_str_eq(os_lock_rank_name(RANK_none), "none");
    cr_assert_str_eq(os_lock_rank_name(RANK_arena), "arena");
    for (unsigned rank = 0; rank < RANK_COUNT; rank++)
        cr_assert_not_null(os_lock_rank_name(rank));
}

Test(thread, id_is_the_kernels) {
    cr_assert_eq(os_thread_id(), gettid());
}

#if FALLOW_DEBUG

/* Whatever the list holds: its first and its last rank. */
#define RANK_FIRST ((enum os_lock_rank)(RANK_none + 1))
#define RANK_LAST  ((enum os_lock_rank)(RANK_COUNT - 1))

static struct os_lock lock_of(enum os_lock_rank rank) {
    struct os_lock lock;
    os_lock_init(&lock, rank);
    return lock;
}

Test(lock_order, downwards_is_allowed) {
    struct os_lock locks[RANK_COUNT];
    for (unsigned rank = 0; rank < RANK_COUNT; rank++) {
        locks[rank] = lock_of(rank);
        os_lock_acquire(&locks[rank]);
    }
    for (unsigned rank = 0; rank < RANK_COUNT; rank++)
        os_lock_release(&locks[rank]);
    os_lock_acquire(&locks[RANK_FIRST]);
    os_lock_release(&locks[RANK_FIRST]);
}

Test(lock_order, upwards_aborts, .signal = SIGABRT) {
    struct os_lock first = lock_of(RANK_FIRST);
    struct os_lock last = lock_of(RANK_LAST);
    os_lock_acquire(&last);
    os_lock_acquire(&first);
}

Test(lock_order, one_rank_twice_aborts, .signal = SIGABRT) {
    struct os_lock one = lock_of(RANK_space);
    struct os_lock other = lock_of(RANK_space);
    os_lock_acquire(&one);
    os_lock_acquire(&other);
}

Test(lock_order, taking_it_again_aborts_instead_of_hanging, .signal = SIGABRT) {
    struct os_lock lock = lock_of(RANK_arena);
    os_lock_acquire(&lock);
    os_lock_acquire(&lock);
}

Test(lock_order, arenas_by_ascending_address) {
    struct os_lock arenas[3] = {lock_of(RANK_arena), lock_of(RANK_arena), lock_of(RANK_arena)};
    struct os_lock space = lock_of(RANK_space);
    for (int i = 0; i < 3; i++)
        os_lock_acquire(&arenas[i]);
    os_lock_acquire(&space);
    os_lock_release(&space);
    for (int i = 0; i < 3; i++)
        os_lock_release(&arenas[i]);
}

Test(lock_order, arenas_by_descending_address_abort, .signal = SIGABRT) {
    struct os_lock arenas[2] = {lock_of(RANK_arena), lock_of(RANK_arena)};
    os_lock_acquire(&arenas[1]);
    os_lock_acquire(&arenas[0]);
}

Test(lock_order, an_unranked_lock_is_never_checked) {
    struct os_lock last = lock_of(RANK_LAST);
    struct os_lock unranked = lock_of(RANK_none);
    os_lock_acquire(&last);
    os_lock_acquire(&unranked);
    os_lock_release(&unranked);
    os_lock_release(&last);
}

Test(lock_order, try_may_go_upwards) {
    struct os_lock last = lock_of(RANK_LAST);
    struct os_lock first = lock_of(RANK_FIRST);
    os_lock_acquire(&last);
    cr_assert(os_lock_try(&first));
    os_lock_release(&first);
    os_lock_release(&last);
}

static void *acquire_space(void *arg) {
    struct os_lock space = lock_of(RANK_space);
    return acquire_and_release(&space), arg;
}

Test(lock_order, is_a_matter_of_one_thread) {
    struct os_lock last = lock_of(RANK_LAST);
    os_lock_acquire(&last);
    pthread_t other;
    cr_assert_eq(pthread_create(&other, NULL, acquire_space, NULL), 0);
    pthread_join(other, NULL);
    os_lock_release(&last);
}

Test(lock_order, the_message_names_both_ranks) {
    char text[512];
    struct capture c = capture_start();
    pid_t child = fork();
    if (child == 0) {
        struct os_lock space = lock_of(RANK_space);
        struct os_lock arena = lock_of(RANK_arena);
        os_lock_acquire(&space);
        os_lock_acquire(&arena);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    capture_end(c, text, sizeof text);
    cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    cr_assert_str_eq(text, "fallow: lock order: arena taken while holding space\n");
}

#endif
