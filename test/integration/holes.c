/*
 * Pages without objects in slabs that are partly in use. Most blocks are freed, so that few of the slabs
 * are empty and all have such pages; what is left has to keep its contents, whatever the sweep does
 * meanwhile in the slabs of threads that are at work, asleep, ending or forking.
 *   storm    threads at work, with frees by others, while one thread purges all the time
 *   fork     the same, with children forked out of it
 *   lazy     (lazy_decay_ms:-1) a thread that freed and sleeps: its memory becomes lazy, and stays
 *   gone     (lazy_decay_ms:500) the same: it goes
 *   parked   (the same) many threads that sleep with empty slabs: those go, too
 *   single   (lazy_decay_ms:500) without threads: at the next calls
 */
#include <stdatomic.h>

#include "pattern.h"
#include "resident.h"
#include "threads.h"
#include "under_test.h"

/* 240 KiB, of which a heap keeps all empty */
enum { PARKED_THREADS = 100, PARKED_BLOCKS = 240, PARKED_BYTES = 1024 };

enum { THREADS = 4, BLOCKS = 40000, SHELVES = 512, MANY = 400000, KEPT_EACH = 33 };

struct block {
    size_t size;
    unsigned char contents[];
};

static _Atomic(struct block *) shelves[SHELVES];
static atomic_bool stop;

static size_t pick_size(uint64_t *random) {
    size_t most = (size_t)16 << pattern_random(random) % 10;
    return pattern_random(random) % most;
}

static struct block *make(uint64_t *random) {
    size_t size = pick_size(random);
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
    size_t at = pattern_differs_at(block->contents, block->size, block->size);
    CHECK_THAT(at == block->size, "a block of %zu bytes at %p changed at byte %zu", block->size,
               (const void *)block, at);
    free(block);
}

/* Up to `n` blocks; then all but a few are freed, at times by others. */
static void up_and_down(uint64_t *random, struct block **blocks, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (!blocks[i]) {
            blocks[i] = make(random);
        }
    }
    size_t kept_each = 2 + pattern_random(random) % 60;
    for (size_t i = 0; i < n; i++) {
        if (pattern_random(random) % kept_each == 0) {
            continue;
        }
        struct block *block = blocks[i];
        blocks[i] = NULL;
        if (pattern_random(random) % 8 == 0) {
            block = atomic_exchange(&shelves[pattern_random(random) % SHELVES], block);
        }
        finish(block);
    }
}

static void finish_all(struct block **blocks, size_t n) {
    for (size_t i = 0; i < n; i++) {
        finish(blocks[i]);
        blocks[i] = NULL;
    }
}

static void *work(void *argument) {
    uint64_t random = (uintptr_t)argument;
    size_t n = BLOCKS / THREADS;
    struct block **blocks = calloc(n, sizeof(void *));
    CHECK(blocks != NULL);
    for (size_t round = check_scaled(24); round > 0; round--) {
        up_and_down(&random, blocks, n);
        if (pattern_random(&random) % 4 == 0) {
            threads_sleep_ms(2); /* asleep with all it has */
        }
    }
    /* Some threads leave what they hold to others. */
    for (size_t i = 0; (uintptr_t)argument % 2 == 0 && i < n && i < SHELVES; i++) {
        blocks[i] = atomic_exchange(&shelves[i], blocks[i]);
    }
    finish_all(blocks, n);
    free(blocks);
    return NULL;
}

static void *purge(void *unused) {
    for (unsigned i = 0; !atomic_load(&stop); i++) {
        under_test_purge(i % 2 == 0 ? FALLOW_PURGE_LAZY : FALLOW_PURGE_CLEAN);
        threads_sleep_ms(1);
    }
    return unused;
}

static void child(uint64_t seed) {
    uint64_t random = seed;
    struct block *blocks[2000] = {0};
    for (size_t i = 0; i < SHELVES; i++) {
        finish(atomic_exchange(&shelves[i], NULL));
    }
    up_and_down(&random, blocks, 2000);
    under_test_purge(FALLOW_PURGE_CLEAN);
    up_and_down(&random, blocks, 2000);
    finish_all(blocks, 2000);
    _exit(0);
}

static void storm(bool forks) {
    pthread_t workers[THREADS], purger = threads_start(purge, NULL);
    for (size_t generation = 0; generation < 3; generation++) {
        for (uintptr_t i = 0; i < THREADS; i++) {
            workers[i] = threads_start(work, (void *)(generation * THREADS + i + 1));
        }
        for (size_t i = forks ? check_scaled(30) : 0; i > 0; i--) {
            pid_t pid = fork();
            CHECK(pid >= 0);
            if (pid == 0) {
                child(i);
            }
            threads_reap(pid);
        }
        for (size_t i = 0; i < THREADS; i++) {
            threads_join(workers[i]);
        }
        under_test_check_law();
    }
    atomic_store(&stop, true);
    threads_join(purger);
    for (size_t i = 0; i < SHELVES; i++) {
        finish(atomic_exchange(&shelves[i], NULL));
    }
    under_test_check_law();
}

static struct block **many;

static void fill_many(void) {
    uint64_t random = 7;
    for (size_t i = 0; i < MANY; i++) {
        if (!many[i]) {
            many[i] = make(&random);
        }
    }
}

/* Returns how many bytes were freed. */
static size_t free_most(void) {
    size_t freed = 0;
    for (size_t i = 0; i < MANY; i++) {
        if (i % KEPT_EACH != 0) {
            freed += many[i]->size;
            finish(many[i]);
            many[i] = NULL;
        }
    }
    return freed;
}

static void call_allocator(void) {
    for (size_t i = 0; i < 64; i++) {
        void *block = malloc(300000);
        CHECK(block != NULL);
        KEEP(block);
        free(block);
    }
}

static bool lazy_only;

/* Waits until at most `bytes` are held, by the kernel's count or, if it is to stay lazy, honestly. */
static void await(size_t bytes, void (*meanwhile)(void)) {
    size_t held = 0;
    for (size_t tries = 0; tries < 3000; tries++) {
        struct resident now = resident_now();
        held = lazy_only ? now.rss_bytes - now.lazy_bytes : now.rss_bytes;
        if (held <= bytes) {
            CHECK_THAT(!lazy_only || now.rss_bytes > bytes, "it was given back, not made lazy");
            return;
        }
        threads_sleep_ms(10);
        if (meanwhile) {
            meanwhile();
        }
    }
    CHECK_THAT(false, "%zu bytes are held, %zu too many", held, held - bytes);
}

static void see_it_go(void (*meanwhile)(void)) {
    struct resident full = resident_now();
    size_t freed = free_most();
    /* The holes of small objects are not all of what is free. */
    await(full.rss_bytes - freed / 10 * 7, meanwhile);
}

static void *sleeper(void *unused) {
    fill_many();
    see_it_go(NULL); /* reads files, allocates nothing */
    for (int round = 0; round < 2; round++) {
        fill_many();
        free_most();
    }
    return unused;
}

static void *sleep_with_parked(void *barrier) {
    void *blocks[PARKED_BLOCKS];
    for (size_t i = 0; i < PARKED_BLOCKS; i++) {
        blocks[i] = malloc(PARKED_BYTES);
        CHECK(blocks[i] != NULL);
        memset(blocks[i], 1, PARKED_BYTES);
    }
    for (size_t i = 0; i < PARKED_BLOCKS; i++) {
        free(blocks[i]);
    }
    pthread_barrier_wait(barrier); /* asleep */
    pthread_barrier_wait(barrier);
    for (size_t i = 0; i < PARKED_BLOCKS; i++) {
        blocks[i] = malloc(PARKED_BYTES);
        CHECK(blocks[i] != NULL);
        pattern_fill(blocks[i], PARKED_BYTES, i);
    }
    for (size_t i = 0; i < PARKED_BLOCKS; i++) {
        CHECK(pattern_holds(blocks[i], PARKED_BYTES, i));
        free(blocks[i]);
    }
    return NULL;
}

static void park(void) {
    static pthread_t threads[PARKED_THREADS];
    pthread_barrier_t barrier;
    CHECK(pthread_barrier_init(&barrier, NULL, PARKED_THREADS + 1) == 0);
    size_t before = resident_now().rss_bytes;
    for (size_t i = 0; i < PARKED_THREADS; i++) {
        threads[i] = threads_start(sleep_with_parked, &barrier);
    }
    pthread_barrier_wait(&barrier);
    /* Stacks, and what cannot be taken: a tenth of the empty slabs. */
    await(before + PARKED_THREADS * ((size_t)PARKED_BLOCKS * PARKED_BYTES / 10 + 40000), NULL);
    pthread_barrier_wait(&barrier);
    for (size_t i = 0; i < PARKED_THREADS; i++) {
        threads_join(threads[i]);
    }
}

int main(int argc, char **argv) {
    const char *way = argc > 1 ? argv[1] : "";
    many = calloc(MANY, sizeof(void *));
    CHECK(many != NULL);
    lazy_only = strcmp(way, "lazy") == 0;
    if (lazy_only || strcmp(way, "gone") == 0) {
        threads_join(threads_start(sleeper, NULL));
    } else if (strcmp(way, "parked") == 0) {
        park();
    } else if (strcmp(way, "single") == 0) {
        fill_many();
        see_it_go(call_allocator);
        fill_many();
        free_most();
    } else {
        storm(strcmp(way, "fork") == 0);
    }
    finish_all(many, MANY);
    free(many);
    under_test_check_law();
    return 0;
}
