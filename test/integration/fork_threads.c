/*
 * fork while other threads are in the middle of malloc, free and purges: the child, which has only
 * the forking thread, allocates, frees blocks of threads that it does not have, purges, and forks
 * again; nobody waits for a lock that nobody holds.
 */
#include <stdatomic.h>

#include "pattern.h"
#include "threads.h"
#include "under_test.h"

enum { THREADS = 4, SHELVES = 128 };

struct block {
    size_t size;
    unsigned char contents[];
};

static _Atomic(struct block *) shelves[SHELVES];
static atomic_bool stop;

static void put_and_take(uint64_t *random) {
    size_t size = 1 + pattern_random(random) % (pattern_random(random) % 20 == 0 ? 600000 : 2000);
    struct block *block = malloc(sizeof *block + size);
    CHECK(block != NULL);
    block->size = size;
    pattern_fill(block->contents, size, size);
    block = atomic_exchange(&shelves[pattern_random(random) % SHELVES], block);
    if (block) {
        CHECK(pattern_holds(block->contents, block->size, block->size));
        free(block);
    }
}

static void *churn(void *argument) {
    uint64_t random = (uintptr_t)argument;
    for (size_t i = 0; !atomic_load(&stop); i++) {
        put_and_take(&random);
        if (i % 256 == 0) {
            threads_sleep_ms(1); /* else the forks wait for a CPU, not for a lock */
        }
        if (i % 512 == 511) {
            under_test_purge(i % 1024 == 511 ? FALLOW_PURGE_LAZY : FALLOW_PURGE_CLEAN);
        }
    }
    return NULL;
}

static void child(uint64_t seed, int depth) {
    uint64_t random = seed;
    for (size_t i = 0; i < SHELVES; i++) {
        struct block *block = atomic_exchange(&shelves[i], NULL);
        if (block) {
            CHECK(pattern_holds(block->contents, block->size, block->size));
            free(block);
        }
    }
    for (size_t i = 0; i < 300; i++) {
        put_and_take(&random);
    }
    under_test_check_law();
    under_test_purge(FALLOW_PURGE_CLEAN);
    under_test_check_law();
    if (depth > 0) {
        pid_t next = fork();
        CHECK(next >= 0);
        if (next == 0) {
            child(seed + 1, depth - 1);
            _exit(0);
        }
        threads_reap(next);
    }
}

int main(void) {
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        threads[i] = threads_start(churn, (void *)(i + 1));
    }
    size_t forks = check_scaled(60);
    for (size_t i = 0; i < forks; i++) {
        pid_t pid = fork();
        CHECK(pid >= 0);
        if (pid == 0) {
            child(i, i % 10 == 0 ? 2 : 0);
            _exit(0);
        }
        threads_reap(pid);
    }
    atomic_store(&stop, true);
    for (size_t i = 0; i < THREADS; i++) {
        threads_join(threads[i]);
    }
    for (size_t i = 0; i < SHELVES; i++) {
        free(atomic_load(&shelves[i]));
    }
    under_test_check_law();
    return 0;
}
