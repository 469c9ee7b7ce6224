/* Forks at any moment: the handlers of init.c leave every structure whole in the child. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../environment.h"
#include "../random.h"
#include "alloc.h"
#include "arena.h"
#include "options.h"
#include "os_thread.h"
#include "report.h"
#include "space.h"
#include "stats.h"

enum { KIB = 1024, MIB = 1024 * KIB, THREADS = 3, FORKS = 60, PATIENCE_S = 20 };

static void quiet(void) {
    options.thp = THP_NEVER;
    options.dirty_decay_ms = -1;
}

TestSuite(fork, .init = quiet);

static bool law_holds(void) {
    struct fallow_stats s;
    stats_read(&s);
    return s.mapped_bytes == s.active_bytes + s.dirty_bytes + s.lazy_bytes + s.busy_bytes +
                                 s.clean_bytes + s.metadata_bytes;
}

/* Runs `body` in a child, which has so long to do it; true if it said so. */
static bool true_in_child(bool (*body)(void)) {
    pid_t child = fork();
    if (child == 0) {
        alarm(PATIENCE_S);
        leave_child(body() ? 0 : 1);
    }
    int status = -1;
    cr_assert_eq(waitpid(child, &status, 0), child);
    return status == 0;
}

static bool use_the_heap(void) {
    void *blocks[300];
    struct random r = {37};
    for (size_t i = 0; i < ARRAY_COUNT(blocks); i++) {
        size_t bytes = 1 + (random_below(&r, 4 * MIB) >> random_below(&r, 20));
        blocks[i] = alloc_malloc(bytes);
        if (blocks[i] == NULL)
            return false;
        memset(blocks[i], (int)i, bytes < 5000 ? bytes : 5000);
    }
    for (size_t i = 0; i < ARRAY_COUNT(blocks); i++) {
        if (*(unsigned char *)blocks[i] != (unsigned char)i)
            return false;
        alloc_free(blocks[i]);
    }
    fallow_purge(FALLOW_PURGE_CLEAN);
    return law_holds();
}

static void *inherited;

static bool use_and_free_what_was_inherited(void) {
    bool whole = *(char *)inherited == 7 && ((char *)inherited)[5 * MIB - 1] == 7;
    alloc_free(inherited);
    return whole && use_the_heap();
}

Test(fork, a_child_has_the_parents_blocks_and_a_heap) {
    inherited = memset(alloc_malloc(5 * MIB), 7, 5 * MIB);
    cr_assert(true_in_child(use_and_free_what_was_inherited));
    cr_assert_eq(*(char *)inherited, 7);
    alloc_free(inherited);
    cr_assert(law_holds());
}

static bool fork_again(void) {
    return use_the_heap() && true_in_child(use_the_heap);
}

Test(fork, a_child_of_a_child_too) {
    cr_assert(true_in_child(fork_again));
}

/* --- by a thread other than the main one --- */

static void *heap_of_thread(void *arg) {
    (void)arg;
    alloc_free(alloc_malloc(100));
    return thread_self.heap;
}

/* New threads get heaps of their own, though the heap's first thread is in the parent only. */
static bool start_threads(void) {
    const struct heap *own = thread_self.heap;
    bool apart = own != NULL && use_the_heap();
    for (unsigned i = 0; i < THREADS && !FALLOW_TSAN; i++) {
        pthread_t thread;
        void *heap = NULL;
        apart = apart && pthread_create(&thread, NULL, heap_of_thread, NULL) == 0 &&
                pthread_join(thread, &heap) == 0 && heap != NULL && heap != own;
    }
    return apart && thread_self.heap == own && use_the_heap();
}

static void *fork_in_thread(void *arg) {
    alloc_free(alloc_malloc(100));
    *(bool *)arg = true_in_child(start_threads);
    return NULL;
}

Test(fork, any_thread_may_fork) {
    pthread_t thread;
    bool good = false;
    cr_assert_eq(pthread_create(&thread, NULL, fork_in_thread, &good), 0);
    pthread_join(thread, NULL);
    cr_assert(good);
    cr_assert(law_holds());
}

/* --- a purge in flight --- */

static struct chunk *purged_in_arena, *purged_in_space;

/* Marks what is dirty as busy, as the purge does before its system calls. */
static void start_purge(struct domain *domain, struct chunk *chunk) {
    os_lock_acquire(&domain->lock);
    domain_start_purge_locked(domain, chunk, chunk->dirty);
    if (domain->is_space)
        space_settle_locked(chunk);
    else
        arena_settle_locked(arena_at(0), chunk);
    os_lock_release(&domain->lock);
}

static void end_purge(struct domain *domain, struct chunk *chunk) {
    os_lock_acquire(&domain->lock);
    domain_end_purge_locked(domain, chunk, chunk->busy, chunk->busy, 0);
    if (domain->is_space)
        space_settle_locked(chunk);
    else
        arena_settle_locked(arena_at(0), chunk);
    os_lock_release(&domain->lock);
}

static bool nothing_is_busy(void) {
    struct fallow_stats stats;
    stats_read(&stats);
    return stats.busy_bytes == 0 && stats.dirty_bytes == 3 * MIB && purged_in_arena->busy == 0 &&
           purged_in_space->busy == 0 && use_the_heap();
}

Test(fork, a_purge_in_flight_in_the_parent_is_dirty_in_the_child) {
    char *kept = alloc_malloc(1 * MIB), *freed = alloc_malloc(1 * MIB);
    char *whole = alloc_malloc(2 * MIB);
    purged_in_arena = space_chunk_at(kept);
    purged_in_space = space_chunk_at(whole);
    cr_assert_eq(space_chunk_at(freed), purged_in_arena);
    alloc_free(freed);
    alloc_free(whole);
    thread_flush_warm();
    cr_assert_eq(purged_in_space->domain, &space_domain);
    start_purge(&arena_at(0)->domain, purged_in_arena);
    start_purge(&space_domain, purged_in_space);
    struct fallow_stats stats;
    stats_read(&stats);
    cr_assert_eq(stats.busy_bytes, 3u * MIB);
    cr_assert_eq(stats.dirty_bytes, 0u);
    cr_assert(true_in_child(nothing_is_busy));
    stats_read(&stats);
    cr_assert_eq(stats.busy_bytes, 3u * MIB);
    end_purge(&arena_at(0)->domain, purged_in_arena);
    end_purge(&space_domain, purged_in_space);
    stats_read(&stats);
    cr_assert_eq(stats.lazy_bytes, 3u * MIB);
    alloc_free(kept);
    cr_assert(law_holds());
}

/* --- while other threads allocate, purge and print --- */

static _Atomic bool stop;

static void *alloc_and_purge(void *arg) {
    struct random r = {(uintptr_t)arg};
    void *blocks[50] = {NULL};
    while (!atomic_load(&stop)) {
        size_t i = random_below(&r, ARRAY_COUNT(blocks));
        alloc_free(blocks[i]);
        blocks[i] = alloc_malloc(1 + (random_below(&r, 4 * MIB) >> random_below(&r, 18)));
        *(char *)blocks[i] = 1;
        if (random_below(&r, 100) == 0)
            fallow_purge(random_below(&r, 2) == 0 ? FALLOW_PURGE_LAZY : FALLOW_PURGE_CLEAN);
    }
    for (size_t i = 0; i < ARRAY_COUNT(blocks); i++)
        alloc_free(blocks[i]);
    return NULL;
}

Test(fork, the_law_holds_in_children_of_busy_parents) {
    pthread_t threads[THREADS];
    unsigned forks = under_valgrind() ? 5 : FORKS;
    for (uintptr_t i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, alloc_and_purge, (void *)(i + 1)), 0);
    for (unsigned i = 0; i < forks; i++)
        cr_assert(true_in_child(use_the_heap), "child %u", i);
    atomic_store(&stop, true);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    cr_assert(law_holds());
}

static void *keep_printing(void *arg) {
    (void)arg;
    while (!atomic_load(&stop)) {
        report_print();
        os_thread_nap(); /* the lock is not fair: whoever forks would seldom get it */
    }
    return NULL;
}

static bool print_a_report(void) {
    report_print();
    return true;
}

Test(fork, a_child_can_print_its_report_though_the_parent_was_printing) {
    pthread_t thread;
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC), saved = dup(2);
    cr_assert(null >= 0 && dup2(null, 2) == 2);
    bool printed = true;
    cr_assert_eq(pthread_create(&thread, NULL, keep_printing, NULL), 0);
    for (unsigned i = 0; i < FORKS / 2 && printed; i++)
        printed = true_in_child(print_a_report);
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
    dup2(saved, 2);
    cr_assert(printed);
}
