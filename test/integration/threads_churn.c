/*
 * Threads that allocate, resize and free at random and hand every other block to one another through
 * a shared table, so that most blocks die in another thread than their own. Contents are verified
 * whenever a block changes hands.
 */
#include <stdatomic.h>

#include "pattern.h"
#include "threads.h"
#include "under_test.h"

struct block {
    size_t size;
    uint64_t seed;
    unsigned char contents[];
};

enum { THREADS = 8, SHELVES = 256, KEPT = 64 };

static _Atomic(struct block *) shelves[SHELVES];

static size_t pick_size(uint64_t *random) {
    unsigned kind = pattern_random(random) % 100;
    if (kind < 70) {
        return pattern_random(random) % 512;
    }
    if (kind < 92) {
        return pattern_random(random) % 16384;
    }
    if (kind < 99) {
        return pattern_random(random) % 300000;
    }
    return pattern_random(random) % (3u << 20);
}

static struct block *make(uint64_t *random) {
    size_t size = pick_size(random);
    struct block *block = malloc(sizeof *block + size);
    CHECK(block != NULL);
    block->size = size;
    block->seed = pattern_random(random);
    pattern_fill(block->contents, size, block->seed);
    return block;
}

static void check_block(const struct block *block) {
    size_t at = pattern_differs_at(block->contents, block->size, block->seed);
    CHECK_THAT(at == block->size, "a block of %zu bytes at %p changed at byte %zu", block->size,
               (const void *)block, at);
}

static void finish(struct block *block) {
    if (block) {
        check_block(block);
        free(block);
    }
}

static struct block *resize(struct block *block, uint64_t *random) {
    check_block(block);
    size_t size = pick_size(random);
    size_t kept = size < block->size ? size : block->size;
    block = realloc(block, sizeof *block + size);
    CHECK(block != NULL && pattern_holds(block->contents, kept, block->seed));
    block->size = size;
    pattern_fill(block->contents, size, block->seed);
    return block;
}

static void *churn(void *argument) {
    uint64_t random = (uintptr_t)argument;
    struct block *kept[KEPT] = {0};
    size_t rounds = check_scaled(8000);
    for (size_t i = 0; i < rounds; i++) {
        size_t slot = pattern_random(&random) % KEPT;
        size_t shelf = pattern_random(&random) % SHELVES;
        switch (pattern_random(&random) % 4) {
        case 0:
            finish(kept[slot]);
            kept[slot] = make(&random);
            break;
        case 1:
        case 2: { /* mine for whatever lies on the shelf */
            struct block *other = atomic_exchange(&shelves[shelf], kept[slot]);
            if (other) {
                check_block(other);
            }
            kept[slot] = other;
            break;
        }
        default:
            if (kept[slot]) {
                kept[slot] = resize(kept[slot], &random);
            }
        }
    }
    for (size_t i = 0; i < KEPT; i++) {
        finish(kept[i]);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        threads[i] = threads_start(churn, (void *)(i + 1));
    }
    for (size_t i = 0; i < THREADS; i++) {
        threads_join(threads[i]);
    }
    for (size_t i = 0; i < SHELVES; i++) {
        finish(atomic_load(&shelves[i]));
    }
    under_test_check_law();
    under_test_purge(FALLOW_PURGE_CLEAN);
    under_test_check_law();
    return 0;
}
