/* The purge thread: when there is one, what it does while all others sleep, and when it ends. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "../environment.h"
#include "by_hand.h"
#include "counters.h"
#include "large.h"
#include "os_clock.h"
#include "os_status.h"
#include "os_thread.h"
#include "purge_thread.h"
#include "thread.h"

enum { MIB = 1 << 20, WAIT_MS = 20000 };

static void start_purge_thread(void) {
    options.thp = THP_NEVER;
    options.dirty_decay_ms = 50;
    options.lazy_decay_ms = 300;
    thread_start();
    arena = arena_at(0);
}

TestSuite(purge_thread, .init = start_purge_thread);

static void skip_where_there_is_none(void) {
    if (FALLOW_TSAN)
        cr_skip_test("the thread sanitizer has to know of every thread");
    if (!os_status_is_unfiltered())
        cr_skip_test("this process is in a sandbox");
}

static bool tend(void) {
    return purge_thread_tend(os_clock_coarse_ns());
}

/* Threads of the process that have that name. */
static unsigned purge_threads(void) {
    char path[300], name[32];
    unsigned found = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *entry; (entry = readdir(tasks)) != NULL;) {
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
        found +=
            os_file_read_all(path, name, sizeof name) > 0 && strcmp(name, "fallow-purge\n") == 0;
    }
    closedir(tasks);
    return found;
}

static bool comes_true(bool (*condition)(void)) {
    for (int i = 0; i < WAIT_MS && !condition(); i++)
        os_thread_nap();
    return condition();
}

static bool there_is_one(void) {
    return purge_threads() == 1;
}

static bool there_is_none(void) {
    return purge_threads() == 0;
}

static bool nothing_is_left(void) {
    return !thread_has_warm() && atomic_load(&space_domain.purgeable) == 0 &&
           atomic_load(&arena->domain.purgeable) == 0;
}

static void leave_garbage(void) {
    struct heap *heap = thread_enter();
    char *blocks[20];
    for (size_t i = 0; i < ARRAY_COUNT(blocks); i++)
        memset(blocks[i] = large_alloc(heap, MIB, GRANULE_BYTES, false), 1, MIB);
    for (size_t i = 0; i < ARRAY_COUNT(blocks); i++)
        large_free(heap, pagemap_take(blocks[i]));
    thread_leave(heap);
}

static pthread_barrier_t barrier;

static void *have_a_heap(void *arg) {
    thread_leave(thread_enter());
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    return arg;
}

static pthread_t start_sleeper(void) {
    pthread_t thread;
    pthread_barrier_init(&barrier, NULL, 2);
    cr_assert_eq(pthread_create(&thread, NULL, have_a_heap, NULL), 0);
    pthread_barrier_wait(&barrier);
    return thread;
}

static void end_sleeper(pthread_t thread) {
    pthread_barrier_wait(&barrier);
    pthread_join(thread, NULL);
}

static void skip_where_the_runner_has_threads(void) {
    if (os_status_threads() > 1)
        cr_skip_test("the test runner has a thread of its own");
}

Test(purge_thread, a_process_with_one_thread_has_none) {
    skip_where_the_runner_has_threads();
    leave_garbage();
    cr_assert_not(tend());
    cr_assert_eq(purge_threads(), 0u);
    cr_assert_eq(counters_read(COUNTER_purge_threads), 0u);
}

Test(purge_thread, gives_everything_back_while_the_others_sleep) {
    skip_where_there_is_none();
    pthread_t sleeper = start_sleeper();
    leave_garbage();
    cr_assert(tend());
    cr_assert(comes_true(there_is_one));
    cr_assert(comes_true(nothing_is_left));
    cr_assert_geq(counters_read(COUNTER_lazy_advised_bytes), 16u * MIB);
    cr_assert_geq(counters_read(COUNTER_clean_advised_bytes), 16u * MIB);
    cr_assert_eq(counters_read(COUNTER_purge_threads), 1u);
    end_sleeper(sleeper);
}

Test(purge_thread, ends_when_there_is_nothing_to_do_and_begins_again) {
    skip_where_there_is_none();
    pthread_t sleeper = start_sleeper();
    for (unsigned i = 1; i <= 3; i++) {
        leave_garbage();
        cr_assert(tend());
        cr_assert(comes_true(nothing_is_left));
        cr_assert(comes_true(there_is_none));
        cr_assert_eq(counters_read(COUNTER_purge_threads), i);
    }
    end_sleeper(sleeper);
}

Test(purge_thread, is_woken_from_a_long_sleep) {
    skip_where_there_is_none();
    options.lazy_decay_ms = 3600000;
    pthread_t sleeper = start_sleeper();
    leave_garbage();
    cr_assert(tend());
    for (int i = 0; i < WAIT_MS && (arena->domain.dirty + space_domain.dirty != 0 ||
                                    thread_has_warm() || !purge_thread_is_away());
         i++)
        os_thread_nap();
    leave_garbage();
    uint64_t before = counters_read(COUNTER_lazy_advised_bytes);
    cr_assert(tend());
    for (int i = 0; i < WAIT_MS && counters_read(COUNTER_lazy_advised_bytes) == before; i++)
        os_thread_nap();
    cr_assert_gt(counters_read(COUNTER_lazy_advised_bytes), before);
    cr_assert_eq(counters_read(COUNTER_purge_threads), 1u);
    end_sleeper(sleeper);
}

Test(purge_thread, ends_when_the_process_has_one_thread_again) {
    skip_where_there_is_none();
    skip_where_the_runner_has_threads();
    options.lazy_decay_ms = 3600000;
    pthread_t sleeper = start_sleeper();
    leave_garbage();
    cr_assert(tend());
    cr_assert(comes_true(there_is_one));
    end_sleeper(sleeper);
    cr_assert(comes_true(there_is_none));
}

Test(purge_thread, never_and_always_are_obeyed) {
    skip_where_there_is_none();
    options.purge_thread = PURGE_THREAD_ALWAYS;
    leave_garbage();
    cr_assert(tend());
    cr_assert(comes_true(nothing_is_left));
    cr_assert(comes_true(there_is_none));
    options.purge_thread = PURGE_THREAD_NEVER;
    pthread_t sleeper = start_sleeper();
    cr_assert_not(tend());
    end_sleeper(sleeper);
}

Test(purge_thread, a_forked_child_has_one_of_its_own_when_it_needs_it) {
    skip_where_there_is_none();
    skip_under_tools();
    pthread_t sleeper = start_sleeper();
    leave_garbage();
    cr_assert(tend());
    cr_assert(comes_true(there_is_one));
    thread_lock_for_fork();
    pid_t child = fork();
    if (child == 0) {
        thread_unlock_after_fork(true);
        purge_thread_after_fork();
        bool alone = !tend() && purge_threads() == 0;
        pthread_t another = start_sleeper();
        leave_garbage();
        bool own = tend() && comes_true(there_is_one);
        end_sleeper(another);
        leave_child(alone && own ? 0 : 1);
    }
    thread_unlock_after_fork(false);
    int status = -1;
    waitpid(child, &status, 0);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %#x", (unsigned)status);
    end_sleeper(sleeper);
}
