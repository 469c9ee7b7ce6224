/*
 * The caches of threads, emptied by others while their threads use them: argv[1] is
 *   storm   threads replace small blocks of random size, of which some go from thread to thread, each
 *           filled with a pattern; another thread purges everything over and over
 *   fork    the same, and the process forks all the time; the children free and allocate, too
 *   sleep   threads free many small blocks of each size and sleep: what they freed goes back, and they go on after it
 */
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pattern.h"
#include "resident.h"
#include "threads.h"
#include "under_test.h"

enum { THREADS = 6, BLOCKS = 3000, SHELVES = 64, TURNS = 1500000, FORKS = 60 };
enum { SLEEPERS = 50, LARGEST = 1024, EACH = 90, KEPT = 1 << 20 };

struct block {
    size_t size;
    unsigned char contents[];
};

static _Atomic(struct block *) shelves[SHELVES];
static atomic_bool stop;

static struct block *make(uint64_t *random) {
    size_t size = pattern_random(random) % (LARGEST - sizeof(struct block));
    struct block *block = malloc(sizeof *block + size);
    CHECK(block != NULL);
    block->size = size;
    pattern_fill(block->contents, size, size);
    return block;
}

static void finish(struct block *block) {
    if (!block) {
        return;
    }
    CHECK_THAT(pattern_holds(block->contents, block->size, block->size),
               "a block of %zu bytes at %p changed", block->size, (const void *)block);
    free(block);
}

static void replace(struct block **blocks, uint64_t *random, size_t turns) {
    for (size_t i = 0; i < turns; i++) {
        size_t at = pattern_random(random) % BLOCKS;
        struct block *old = blocks[at];
        if (i % 16 == 0) { /* another thread's */
            old = atomic_exchange(&shelves[pattern_random(random) % SHELVES], old);
        }
        finish(old);
        blocks[at] = make(random);
    }
}

static void *worker(void *seed) {
    uint64_t random = (uintptr_t)seed;
    struct block **blocks = calloc(BLOCKS, sizeof(void *));
    CHECK(blocks != NULL);
    replace(blocks, &random, TURNS / THREADS);
    for (size_t i = 0; i < BLOCKS; i++) {
        finish(blocks[i]);
    }
    free(blocks);
    return NULL;
}

static void *purger(void *unused) {
    while (!atomic_load(&stop)) {
        under_test_purge(FALLOW_PURGE_LAZY);
    }
    return unused;
}

static void fork_once(uint64_t seed) {
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        struct block **blocks = calloc(BLOCKS, sizeof(void *));
        CHECK(blocks != NULL);
        replace(blocks, &seed, 20000);
        under_test_purge(FALLOW_PURGE_LAZY);
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_THAT(status == 0, "a child ended with %#x", (unsigned)status);
}

static void storm(bool forks) {
    pthread_t threads[THREADS], purging = threads_start(purger, NULL);
    for (size_t i = 0; i < THREADS; i++) {
        threads[i] = threads_start(worker, (void *)(i + 1));
    }
    for (size_t i = 0; forks && i < FORKS; i++) {
        fork_once(i + 1);
    }
    for (size_t i = 0; i < THREADS; i++) {
        threads_join(threads[i]);
    }
    atomic_store(&stop, true);
    threads_join(purging);
    for (size_t i = 0; i < SHELVES; i++) {
        finish(atomic_load(&shelves[i]));
    }
}

/* What a cache keeps: of each size, as many as it has room for. */
static void churn_all_sizes(void) {
    for (size_t size = 16; size <= LARGEST; size += 16) {
        void *blocks[EACH];
        for (size_t i = 0; i < EACH; i++) {
            blocks[i] = malloc(size);
            CHECK(blocks[i] != NULL);
            pattern_fill(blocks[i], size, i);
        }
        for (size_t i = 0; i < EACH; i++) {
            CHECK(pattern_holds(blocks[i], size, i));
            free(blocks[i]);
        }
    }
}

static void *sleeper(void *barrier) {
    churn_all_sizes();
    pthread_barrier_wait(barrier); /* asleep */
    pthread_barrier_wait(barrier);
    churn_all_sizes();
    return NULL;
}

static void sleep_with_caches(void) {
    static pthread_t threads[SLEEPERS];
    pthread_barrier_t barrier;
    CHECK(pthread_barrier_init(&barrier, NULL, SLEEPERS + 1) == 0);
    size_t before = resident_now().rss_bytes;
    for (size_t i = 0; i < SLEEPERS; i++) {
        threads[i] = threads_start(sleeper, &barrier);
    }
    pthread_barrier_wait(&barrier);
    /* They keep 1 MiB each, in slabs of theirs: all but a fifth goes, or the test times out. */
    while (resident_now().rss_bytes > before + (size_t)SLEEPERS * (KEPT / 5)) {
        usleep(20000);
    }
    pthread_barrier_wait(&barrier);
    for (size_t i = 0; i < SLEEPERS; i++) {
        threads_join(threads[i]);
    }
}

int main(int argc, char **argv) {
    const char *way = argc > 1 ? argv[1] : "";
    if (strcmp(way, "sleep") == 0) {
        sleep_with_caches();
    } else {
        storm(strcmp(way, "fork") == 0);
    }
    under_test_check_law();
    return 0;
}
