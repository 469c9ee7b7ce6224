/*
 * je#1497: a thread whose very first call is free() of another thread's pointer, and which then
 * allocates and frees 1090 bytes over and over: what it frees is purged like any other memory.
 * With dirty_decay_ms:100,lazy_decay_ms:300.
 */
#include "pattern.h"
#include "resident.h"
#include "threads.h"
#include "under_test.h"

enum { MANY = 60000, FEW = 100, SIZE = 1090 };

static void *blocks[MANY];

static void make(size_t count) {
    for (size_t i = 0; i < count; i++) {
        blocks[i] = malloc(SIZE);
        CHECK(blocks[i] != NULL);
        pattern_fill(blocks[i], SIZE, i);
    }
}

static void drop(size_t count) {
    for (size_t i = 0; i < count; i++) {
        CHECK(pattern_holds(blocks[i], SIZE, i));
        free(blocks[i]);
    }
}

static void *body(void *argument) {
    free(argument);
    size_t before = resident_honest_bytes();
    make(MANY);
    size_t full = resident_honest_bytes();
    CHECK(full > before + (size_t)MANY * SIZE / 10 * 9);
    drop(MANY);
    size_t lowest = full;
    for (int i = 0; i < 150 && lowest > before + (full - before) / 4; i++) {
        threads_sleep_ms(100);
        make(FEW);
        drop(FEW);
        size_t now = resident_honest_bytes();
        lowest = now < lowest ? now : lowest;
    }
    CHECK_THAT(lowest <= before + (full - before) / 4,
               "honest RSS was %zu, rose to %zu, and fell to no less than %zu in 15 s", before,
               full, lowest);
    return NULL;
}

int main(void) {
    under_test_needs_fallow();
    void *foreign = malloc(100);
    CHECK(foreign != NULL);
    threads_run(body, foreign);
    return 0;
}
