/*
 * Work that reaches every system call of Fallow's, for tests that refuse some: blocks of all sizes and
 * alignments, growth, calloc, purges, statistics, threads, forks. Each block is filled and checked. Where
 * an allocation fails, it must say ENOMEM and change nothing else; whether any may fail is the caller's
 * to say. Deterministic as long as there is one thread.
 */
#ifndef FALLOW_TEST_WORK_H
#define FALLOW_TEST_WORK_H

#include <errno.h>
#include <signal.h>

#include "pattern.h"
#include "threads.h"
#include "under_test.h"

enum { WORK_BLOCKS = 240, WORK_THREADS = 3 };

struct work_block {
    unsigned char *p;
    size_t bytes;
};

struct work {
    bool may_fail;
    size_t failed;
    struct work_block blocks[WORK_BLOCKS];
};

/* Notes a failed allocation: the errno is ENOMEM, and it was allowed. */
static inline bool work_has(struct work *work, const void *p, size_t bytes) {
    if (p != NULL)
        return true;
    CHECK_THAT(errno == ENOMEM, "%zu bytes: errno is %d", bytes, errno);
    CHECK_THAT(work->may_fail, "no memory for %zu bytes", bytes);
    work->failed++;
    return false;
}

/* Large blocks are looked at page by page. */
static inline void work_fill(unsigned char *p, size_t bytes, size_t seed) {
    if (bytes <= 65536)
        pattern_fill(p, bytes, seed);
    else
        pattern_mark(p, bytes, seed);
}

static inline void work_check(const unsigned char *p, size_t was, size_t bytes, size_t seed) {
    if (was <= 65536)
        CHECK_THAT(pattern_holds(p, bytes, seed), "%zu bytes changed", bytes);
    else
        CHECK_THAT(pattern_marked(p, was, bytes, seed), "%zu bytes changed", bytes);
}

static inline void work_drop(struct work *work, size_t i) {
    struct work_block *block = &work->blocks[i];
    if (block->p == NULL)
        return;
    work_check(block->p, block->bytes, block->bytes, i);
    errno = 42;
    free(block->p);
    CHECK_THAT(errno == 42, "free changed errno to %d", errno);
    block->p = NULL;
}

static inline void work_put(struct work *work, size_t i, void *p, size_t bytes) {
    work->blocks[i] = (struct work_block){p, bytes};
    if (work_has(work, p, bytes))
        work_fill(p, bytes, i);
}

/* Blocks of up to `largest` bytes, then all but every third are freed. */
static inline void work_sizes(struct work *work, size_t largest, uint64_t seed) {
    for (size_t i = 0; i < WORK_BLOCKS; i++) {
        size_t bytes = 1 + pattern_random(&seed) % (i % 8 == 0 ? largest : largest / 64 + 16);
        work_drop(work, i);
        work_put(work, i, malloc(bytes), bytes);
    }
    for (size_t i = 0; i < WORK_BLOCKS; i++)
        if (i % 3 != 0)
            work_drop(work, i);
}

static inline void work_align(struct work *work) {
    static const size_t aligns[] = {64, 4096, 32768, 1 << 20, 2 << 20, 8 << 20};
    for (size_t i = 0; i < sizeof aligns / sizeof *aligns; i++) {
        size_t bytes = aligns[i] / 2 + 100;
        errno = 0;
        unsigned char *p = aligned_alloc(aligns[i], bytes);
        if (!work_has(work, p, bytes))
            continue;
        CHECK((uintptr_t)p % aligns[i] == 0);
        p[0] = p[bytes - 1] = 1;
        free(p);
    }
}

/* A block that grows through all kinds to `most` bytes and shrinks again. */
static inline void work_grow(struct work *work, size_t most) {
    size_t bytes = 1000;
    unsigned char *p = malloc(bytes);
    if (!work_has(work, p, bytes))
        return;
    work_fill(p, bytes, 5);
    for (bool grows = true; bytes >= 1000;) {
        size_t next = grows ? bytes * 2 + 12345 : bytes / 4;
        grows = grows && next < most;
        unsigned char *q = realloc(p, next);
        if (!work_has(work, q, next)) {
            work_check(p, bytes, bytes, 5); /* as it was */
            break;
        }
        work_check(q, bytes, next < bytes ? next : bytes, 5);
        p = q;
        bytes = next;
        work_fill(p, bytes, 5);
    }
    free(p);
}

/* Zeroes where there was something else before. */
static inline void work_zero(struct work *work) {
    static const size_t sizes[] = {3000, 100000, 1 << 20, 5 << 20, 17 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int round = 0; round < 2; round++) {
            unsigned char *p = calloc(1, sizes[i]);
            if (!work_has(work, p, sizes[i]))
                continue;
            for (size_t at = 0; at<sizes[i]; at += sizes[i]> 65536 ? 4096 : 16)
                CHECK_THAT(*(uint64_t *)(void *)(p + at) == 0, "calloc of %zu", sizes[i]);
            work_fill(p, sizes[i], 9);
            free(p);
        }
    }
}

/* Slabs that are nearly empty, so that pages in them can go. */
static inline void work_holes(struct work *work) {
    enum { COUNT = 3000 };
    static unsigned char *blocks[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        blocks[i] = malloc(700);
        if (work_has(work, blocks[i], 700))
            work_fill(blocks[i], 700, i);
    }
    for (size_t i = 0; i < COUNT; i++)
        if (i % 40 != 0) {
            free(blocks[i]);
            blocks[i] = NULL;
        }
    under_test_purge(FALLOW_PURGE_LAZY);
    for (size_t i = 0; i < COUNT; i++)
        if (blocks[i] != NULL) {
            work_check(blocks[i], 700, 700, i);
            free(blocks[i]);
        }
}

static inline void work_ask(void) {
    struct fallow_rss rss;
    struct fallow_rss_why why;
    under_test_rss(&rss);
    under_test_why(&why);
}

static inline void work_alone(struct work *work) {
    work_sizes(work, 2000, 1);
    work_sizes(work, 300000, 2);
    under_test_purge(FALLOW_PURGE_LAZY);
    work_align(work);
    work_grow(work, (size_t)10 << 20);
    work_zero(work);
    work_sizes(work, 1000000, 3);
    under_test_purge(FALLOW_PURGE_LAZY);
    work_holes(work);
    work_sizes(work, 300000, 4);
    under_test_purge(FALLOW_PURGE_CLEAN);
    work_ask();
}

static inline void work_drop_all(struct work *work) {
    for (size_t i = 0; i < WORK_BLOCKS; i++)
        work_drop(work, i);
}

static inline void *work_in_thread(void *argument) {
    struct work *work = argument;
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR1);
    CHECK(pthread_sigmask(SIG_BLOCK, &mask, NULL) == 0);
    work_sizes(work, 200000, 7);
    work_drop_all(work);
    CHECK(pthread_sigmask(SIG_SETMASK, NULL, &mask) == 0);
    CHECK_THAT(sigismember(&mask, SIGUSR1), "a signal is not blocked any more");
    return NULL;
}

/* Frees in other threads than the blocks' own, and pages in slabs of a thread that sleeps. */
static inline void work_threads(struct work *work) {
    static struct work theirs[WORK_THREADS];
    pthread_t threads[WORK_THREADS];
    size_t started = 0;
    work_sizes(work, 100000, 8);
    for (; started < WORK_THREADS; started++) {
        theirs[started] = (struct work){.may_fail = work->may_fail};
        int error = pthread_create(&threads[started], NULL, work_in_thread, &theirs[started]);
        if (error == 0)
            continue;
        CHECK_THAT(work->may_fail, "pthread_create answers %d", error);
        work->failed++;
        break;
    }
    work_sizes(work, 100000, 9);
    for (size_t i = 0; i < started; i++) {
        threads_join(threads[i]);
        work->failed += theirs[i].failed;
    }
    threads_sleep_ms(8);
    under_test_purge(FALLOW_PURGE_CLEAN);
}

/* A child that works and ends; the parent frees what both had. */
static inline void work_fork(struct work *work) {
    work_sizes(work, 600000, 10);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        work_sizes(work, 600000, 11);
        under_test_purge(FALLOW_PURGE_LAZY);
        work_drop_all(work);
        _exit(0);
    }
    under_test_purge(FALLOW_PURGE_LAZY);
    work_sizes(work, 600000, 12);
    threads_reap(child);
    under_test_purge(FALLOW_PURGE_LAZY);
}

#endif
