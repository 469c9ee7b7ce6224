/*
 * je#2482, rpmalloc#374: free_sized, free_aligned_sized (C23) and reallocarray are there and free what
 * they are given: blocks of every kind, given back with the size they were asked for, are reused. (The
 * C++ forms: integration.operators.)
 */
#include "pattern.h"
#include "resident.h"
#include "under_test.h"

static void round_trips(size_t size) {
    void *block = malloc(size);
    CHECK(block != NULL);
    pattern_fill(block, size, size);
    CHECK_THAT(under_test_free_sized(block, size), "there is no free_sized");
    block = calloc(size, 1);
    CHECK(block != NULL);
    under_test_free_sized(block, size);
    block = realloc(malloc(10), size);
    CHECK(block != NULL);
    under_test_free_sized(block, size);
    block = reallocarray(NULL, size, 3);
    CHECK(block != NULL);
    pattern_fill(block, size * 3, size);
    block = reallocarray(block, size, 5);
    CHECK(block && pattern_holds(block, size * 3, size));
    under_test_free_sized(block, size * 5);
    for (size_t alignment = 8; alignment <= 65536; alignment *= 4) {
        block = aligned_alloc(alignment, size);
        CHECK(block != NULL);
        pattern_fill(block, size, size);
        CHECK_THAT(under_test_free_aligned_sized(block, alignment, size),
                   "there is no free_aligned_sized");
    }
    under_test_free_sized(NULL, size);
    under_test_free_aligned_sized(NULL, 64, size);
}

int main(void) {
    size_t warm = 0;
    for (int round = 0; round < 10; round++) {
        for (size_t size = 1; size < (3u << 20); size += size / 5 + 1) {
            round_trips(size);
        }
        if (round == 3) {
            under_test_purge(FALLOW_PURGE_CLEAN);
            warm = resident_now().rss_bytes;
        }
    }
    under_test_purge(FALLOW_PURGE_CLEAN);
    size_t after = resident_now().rss_bytes;
    CHECK_THAT(after < warm + (8u << 20), "RSS went from %zu to %zu: not freed", warm, after);
    under_test_check_law();
    return 0;
}
