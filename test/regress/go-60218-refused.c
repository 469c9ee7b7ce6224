/*
 * go#60218: run under refuse, with the same way as argument. Whatever the kernel answers to madvise,
 * contents are right, calloc is zero, errno is kept, and the account says what was really done: where
 * MADV_FREE alone is refused the next rung (MADV_DONTNEED) is used; where all is, nothing is claimed.
 */
#include <errno.h>

#include "pattern.h"
#include "resident.h"
#include "under_test.h"

enum { LARGE = 60, SMALL = 30000 };

static const size_t large_bytes = 900000;
static const size_t small_bytes = 700;
static void *large[LARGE];
static void *small[SMALL];

static void fill(bool zeroed) {
    for (size_t i = 0; i < LARGE + SMALL; i++) {
        size_t size = i < LARGE ? large_bytes : small_bytes;
        void *block = zeroed ? calloc(1, size) : malloc(size);
        CHECK(block != NULL);
        CHECK(!zeroed || pattern_not_zero_at(block, size) == size);
        pattern_fill(block, size, i);
        *(i < LARGE ? &large[i] : &small[i - LARGE]) = block;
    }
}

static void drop(void) {
    errno = 42;
    for (size_t i = 0; i < LARGE + SMALL; i++) {
        void *block = i < LARGE ? large[i] : small[i - LARGE];
        CHECK(pattern_holds(block, i < LARGE ? large_bytes : small_bytes, i));
        free(block);
    }
    CHECK(errno == 42);
}

int main(int count, char **arguments) {
    CHECK(count == 2);
    under_test_needs_fallow();
    const char *way = arguments[1];
    bool free_works = strcmp(way, "none") == 0 || strcmp(way, "novec") == 0;
    bool clean_works = free_works || strcmp(way, "nofree") == 0;
    size_t freed = LARGE * large_bytes + SMALL * small_bytes;
    for (int round = 0; round < 3; round++) {
        fill(round > 0);
        drop();
        struct resident before = resident_now();
        errno = 42;
        size_t advised = under_test_purge(FALLOW_PURGE_LAZY);
        CHECK(errno == 42);
        struct resident lazy = resident_now();
        under_test_check_law();
        if (free_works) {
            CHECK_THAT(lazy.lazy_bytes > freed / 10 * 8, "LazyFree %zu to %zu", before.lazy_bytes,
                       lazy.lazy_bytes);
        } else if (clean_works) {
            CHECK_THAT(lazy.rss_bytes < before.rss_bytes - freed / 10 * 8, "Rss %zu to %zu",
                       before.rss_bytes, lazy.rss_bytes);
            CHECK(lazy.lazy_bytes < (1u << 20));
        } else {
            CHECK_THAT(advised == 0, "%zu bytes are said to be advised", advised);
            CHECK(lazy.lazy_bytes < (1u << 20) && lazy.rss_bytes > before.rss_bytes - freed / 10);
        }
        CHECK((advised > 0) == clean_works || advised == 0);
        advised = under_test_purge(FALLOW_PURGE_CLEAN);
        struct resident clean = resident_now();
        struct fallow_stats stats;
        under_test_stats(&stats);
        if (clean_works) {
            CHECK_THAT(clean.rss_bytes < before.rss_bytes - freed / 10 * 8, "Rss %zu to %zu",
                       before.rss_bytes, clean.rss_bytes);
        } else {
            CHECK_THAT(advised == 0, "%zu bytes are said to be given back", advised);
            CHECK_THAT(stats.dirty_bytes > freed / 10 * 8, "dirty %zu, lazy %zu, clean %zu",
                       stats.dirty_bytes, stats.lazy_bytes, stats.clean_bytes);
        }
        under_test_check_law();
    }
    return 0;
}
