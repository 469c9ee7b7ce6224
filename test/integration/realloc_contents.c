/*
 * realloc keeps the first min(old, new) bytes on every path: in place, to another class, from slab to
 * extent and back, huge by moving page tables; growing, shrinking, at random.
 */
#include "pattern.h"
#include "resident.h"
#include "under_test.h"

static void *resized(void *block, size_t old_size, size_t new_size, uint64_t seed) {
    void *moved = realloc(block, new_size);
    CHECK_THAT(moved != NULL, "realloc from %zu to %zu", old_size, new_size);
    size_t kept = old_size < new_size ? old_size : new_size;
    CHECK_THAT(pattern_holds(moved, kept, seed), "realloc from %zu to %zu lost byte %zu", old_size,
               new_size, pattern_differs_at(moved, kept, seed));
    CHECK(malloc_usable_size(moved) >= new_size);
    pattern_fill(moved, new_size, seed);
    return moved;
}

static void doubling(void) {
    size_t size = 1;
    void *block = malloc(size);
    CHECK(block != NULL);
    pattern_fill(block, size, 5);
    while (size < ((size_t)96 << 20)) {
        block = resized(block, size, size * 2, 5);
        size *= 2;
    }
    while (size > 1) {
        block = resized(block, size, size / 2, 5);
        size /= 2;
    }
    free(block);
}

static void by_steps(size_t from, size_t to, size_t step) {
    void *block = malloc(from);
    CHECK(block != NULL);
    pattern_fill(block, from, 6);
    size_t size = from;
    for (; size + step <= to; size += step) {
        block = resized(block, size, size + step, 6);
    }
    for (; size > step && size - step >= from; size -= step) {
        block = resized(block, size, size - step, 6);
    }
    free(block);
}

/* Neighbours stand in the way, so that growing in place is sometimes possible and sometimes not. */
static void at_random(void) {
    enum { BLOCKS = 48 };
    void *blocks[BLOCKS] = {0};
    size_t sizes[BLOCKS] = {0};
    uint64_t random = 2024;
    for (int i = 0; i < 4000; i++) {
        size_t which = pattern_random(&random) % BLOCKS;
        unsigned scale = pattern_random(&random) % 20;
        size_t size = 1 + pattern_random(&random) % ((size_t)8 << scale);
        blocks[which] = resized(blocks[which], sizes[which], size, which);
        sizes[which] = size;
    }
    for (size_t i = 0; i < BLOCKS; i++) {
        free(blocks[i]);
    }
}

/* Several huge blocks at once; only a mark on each page, since it is the moving that is tested. */
static void huge(void) {
    enum { BLOCKS = 3 };
    void *blocks[BLOCKS];
    size_t sizes[BLOCKS];
    for (size_t i = 0; i < BLOCKS; i++) {
        sizes[i] = ((size_t)3 << 20) + i * 12345;
        blocks[i] = malloc(sizes[i]);
        CHECK(blocks[i] != NULL);
        pattern_mark(blocks[i], sizes[i], i);
    }
    static const struct {
        size_t multiply, divide;
    } changes[] = {{3, 1}, {2, 1}, {1, 3}, {7, 2}, {5, 4}, {1, 4}, {9, 1}, {1, 9}};
    for (size_t c = 0; c < sizeof changes / sizeof *changes; c++) {
        for (size_t i = 0; i < BLOCKS; i++) {
            size_t size = sizes[i] * changes[c].multiply / changes[c].divide;
            blocks[i] = realloc(blocks[i], size);
            CHECK(blocks[i] != NULL);
            CHECK_THAT(pattern_marked(blocks[i], sizes[i], size < sizes[i] ? size : sizes[i], i),
                       "step %zu, block %zu, %zu to %zu", c, i, sizes[i], size);
            pattern_mark(blocks[i], size, i);
            sizes[i] = size;
        }
    }
    for (size_t i = 0; i < BLOCKS; i++) {
        free(blocks[i]);
    }
}

/* Shrinking a huge block gives the rest back: its tail is not kept as if it were still in use. */
static void shrinking_releases(void) {
    size_t size = (size_t)256 << 20;
    char *block = malloc(size);
    CHECK(block != NULL);
    memset(block, 7, size);
    block = realloc(block, (size_t)1 << 20);
    CHECK(block && block[0] == 7 && block[((size_t)1 << 20) - 1] == 7);
    under_test_purge(FALLOW_PURGE_CLEAN);
    size_t honest = resident_honest_bytes();
    CHECK_THAT(CHECK_SANITIZED || honest < size / 4, "%zu bytes stay resident", honest);
    free(block);
}

int main(void) {
    doubling();
    by_steps(16, 4096, 16);
    by_steps(4096, 300000, 4096);
    by_steps(100000, 3000000, 99991);
    by_steps((size_t)1 << 20, (size_t)12 << 20, ((size_t)1 << 20) + 4096);
    at_random();
    huge();
    shrinking_releases();
    return 0;
}
