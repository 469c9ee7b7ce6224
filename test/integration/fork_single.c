/*
 * fork from a single-threaded process: the child allocates, frees and resizes what its parent made,
 * purges, starts threads and forks again, while the parent's copy stays as it was.
 */
#include "pattern.h"
#include "threads.h"
#include "under_test.h"

enum { BLOCKS = 3000 };

static void *blocks[BLOCKS];
static size_t sizes[BLOCKS];

static void make_all(uint64_t seed) {
    uint64_t random = seed;
    for (size_t i = 0; i < BLOCKS; i++) {
        sizes[i] = 1 + pattern_random(&random) % (i % 100 == 0 ? 400000 : 3000);
        blocks[i] = malloc(sizes[i]);
        CHECK(blocks[i] != NULL);
        pattern_fill(blocks[i], sizes[i], i);
    }
}

static void check_all(void) {
    for (size_t i = 0; i < BLOCKS; i++) {
        CHECK_THAT(!blocks[i] || pattern_holds(blocks[i], sizes[i], i), "block %zu changed", i);
    }
}

static void free_some(size_t first, size_t step) {
    for (size_t i = first; i < BLOCKS; i += step) {
        free(blocks[i]);
        blocks[i] = NULL;
    }
}

static void *in_thread(void *argument) {
    (void)argument;
    free_some(1, 3);
    void *block = malloc(100000);
    CHECK(block != NULL);
    memset(block, 1, 100000);
    free(block);
    return NULL;
}

static void child(int depth) {
    check_all();
    free_some(0, 3);
    for (size_t i = 2; i < BLOCKS; i += 3) {
        if (blocks[i]) {
            blocks[i] = realloc(blocks[i], sizes[i] * 2);
            CHECK(blocks[i] && pattern_holds(blocks[i], sizes[i], i));
        }
    }
    under_test_check_law();
    under_test_purge(FALLOW_PURGE_LAZY);
    under_test_purge(FALLOW_PURGE_CLEAN);
    under_test_check_law();
    threads_run(in_thread, NULL);
    check_all();
    if (depth > 0) {
        pid_t next = fork();
        CHECK(next >= 0);
        if (next == 0) {
            child(depth - 1);
            _exit(0);
        }
        threads_reap(next);
    }
}

int main(void) {
    make_all(7);
    free_some(5, 7);
    for (int round = 0; round < 20; round++) {
        pid_t pid = fork();
        CHECK(pid >= 0);
        if (pid == 0) {
            child(3);
            _exit(0);
        }
        free_some((size_t)round, 41); /* while the child lives */
        under_test_purge(round % 2 ? FALLOW_PURGE_LAZY : FALLOW_PURGE_CLEAN);
        check_all();
        threads_reap(pid);
        check_all();
        under_test_check_law();
    }
    return 0;
}
