/*
 * The life of free memory as the kernel sees it. By call: LazyFree grows at the lazy stage while Rss
 * stays, Rss falls at the clean one, and what was in use is untouched. By time ("decay"): with short
 * dirty_decay_ms and lazy_decay_ms the same happens at the next allocator calls after a rest. And
 * Fallow's own numbers agree with the kernel's.
 */
#include "pattern.h"
#include "resident.h"
#include "threads.h"
#include "under_test.h"

enum { LARGE = 96, SMALL = 60000 };

static const size_t large_bytes = 600000;
static const size_t small_bytes = 1000;
static void *large[LARGE];
static void *small[SMALL];

static void fill(void) {
    for (size_t i = 0; i < LARGE; i++) {
        large[i] = malloc(large_bytes);
        CHECK(large[i] != NULL);
        pattern_fill(large[i], large_bytes, i);
    }
    for (size_t i = 0; i < SMALL; i++) {
        small[i] = malloc(small_bytes);
        CHECK(small[i] != NULL);
        pattern_fill(small[i], small_bytes, i);
    }
}

/* Keeps every eighth large block, to see that it survives. */
static size_t free_most(void) {
    size_t freed = 0;
    for (size_t i = 0; i < LARGE; i++) {
        if (i % 8 != 0) {
            free(large[i]);
            large[i] = NULL;
            freed += large_bytes;
        }
    }
    for (size_t i = 0; i < SMALL; i++) {
        free(small[i]);
        freed += small_bytes;
    }
    return freed;
}

static void check_kept(void) {
    for (size_t i = 0; i < LARGE; i += 8) {
        CHECK_THAT(pattern_holds(large[i], large_bytes, i), "block %zu was purged while in use", i);
    }
}

static void agrees_with_kernel(void) {
    struct fallow_rss rss;
    CHECK(under_test_rss(&rss));
    struct resident now = resident_now();
    size_t slack = (size_t)1 << 20;
    CHECK_THAT(rss.kernel_bytes < now.rss_bytes + slack && now.rss_bytes < rss.kernel_bytes + slack,
               "fallow_rss says %zu, the kernel %zu", rss.kernel_bytes, now.rss_bytes);
    CHECK_THAT(rss.lazy_bytes < now.lazy_bytes + slack && now.lazy_bytes < rss.lazy_bytes + slack,
               "fallow_rss says lazy %zu, the kernel %zu", rss.lazy_bytes, now.lazy_bytes);
    CHECK(rss.honest_bytes == rss.kernel_bytes - rss.lazy_bytes);
}

static void by_call(void) {
    fill();
    struct resident full = resident_now();
    CHECK_THAT(full.lazy_bytes < (4u << 20), "%zu bytes are lazy before any free", full.lazy_bytes);
    size_t freed = free_most();
    size_t advised = under_test_purge(FALLOW_PURGE_LAZY);
    struct resident lazy = resident_now();
    check_kept();
    CHECK_THAT(lazy.lazy_bytes > full.lazy_bytes + freed / 10 * 8,
               "%zu bytes freed, LazyFree only from %zu to %zu", freed, full.lazy_bytes,
               lazy.lazy_bytes);
    CHECK_THAT(lazy.rss_bytes > full.rss_bytes - freed / 10,
               "Rss fell from %zu to %zu at the lazy stage already", full.rss_bytes,
               lazy.rss_bytes);
    CHECK_THAT(advised >= freed / 10 * 8, "the purge reports %zu of %zu bytes", advised, freed);
    struct fallow_stats stats;
    under_test_stats(&stats);
    CHECK_THAT(stats.lazy_bytes >= freed / 10 * 8 && stats.dirty_bytes < freed / 10,
               "stats: lazy %zu, dirty %zu, of %zu freed", stats.lazy_bytes, stats.dirty_bytes,
               freed);
    agrees_with_kernel();
    under_test_check_law();

    advised = under_test_purge(FALLOW_PURGE_CLEAN);
    struct resident clean = resident_now();
    check_kept();
    CHECK_THAT(clean.rss_bytes < lazy.rss_bytes - freed / 10 * 8,
               "Rss fell only from %zu to %zu, with %zu free", lazy.rss_bytes, clean.rss_bytes,
               freed);
    CHECK_THAT(clean.lazy_bytes < (2u << 20), "LazyFree stays at %zu", clean.lazy_bytes);
    CHECK_THAT(advised >= freed / 10 * 8, "the purge reports %zu of %zu bytes", advised, freed);
    under_test_stats(&stats);
    CHECK_THAT(stats.dirty_bytes + stats.lazy_bytes < (2u << 20), "stats: dirty %zu, lazy %zu",
               stats.dirty_bytes, stats.lazy_bytes);
    agrees_with_kernel();
    under_test_check_law();
}

/* Some allocator calls, enough to pass through slow paths, that hold on to nothing. */
static void call_allocator(void) {
    for (size_t size = 16; size < (3u << 20); size = size * 3 / 2) {
        void *block = malloc(size);
        CHECK(block != NULL);
        KEEP(block);
        free(block);
    }
}

/* With dirty_decay_ms:200,lazy_decay_ms:1500. Waits for what must come, as long as it may take. */
static void by_time(void) {
    fill();
    struct resident full = resident_now();
    size_t freed = free_most();
    size_t most_lazy = 0;
    size_t lowest_rss = full.rss_bytes;
    for (int i = 0; i < 150 && lowest_rss > full.rss_bytes - freed / 10 * 8; i++) {
        threads_sleep_ms(100);
        call_allocator();
        struct resident now = resident_now();
        most_lazy = now.lazy_bytes > most_lazy ? now.lazy_bytes : most_lazy;
        lowest_rss = now.rss_bytes < lowest_rss ? now.rss_bytes : lowest_rss;
        check_kept();
    }
    CHECK_THAT(most_lazy > freed / 10 * 6, "of %zu bytes freed at most %zu became lazy", freed,
               most_lazy);
    CHECK_THAT(lowest_rss <= full.rss_bytes - freed / 10 * 8,
               "Rss went from %zu to no less than %zu in 15 s, with %zu free", full.rss_bytes,
               lowest_rss, freed);
    agrees_with_kernel();
    under_test_check_law();
}

/* With dirty_decay_ms:0: what is freed is lazy at once, without a purge call. */
static void at_once(void) {
    fill();
    size_t freed = free_most();
    call_allocator();
    struct resident now = resident_now();
    check_kept();
    CHECK_THAT(now.lazy_bytes > freed / 10 * 8, "of %zu bytes freed %zu are lazy", freed,
               now.lazy_bytes);
}

/* With purge:never: nothing is ever advised by itself, however long it lies. */
static void never(void) {
    fill();
    struct resident full = resident_now();
    size_t freed = free_most();
    for (int i = 0; i < 20; i++) {
        threads_sleep_ms(50);
        call_allocator();
    }
    struct resident now = resident_now();
    CHECK_THAT(now.lazy_bytes < (1u << 20) && now.rss_bytes > full.rss_bytes - freed / 10,
               "Rss from %zu to %zu, lazy %zu", full.rss_bytes, now.rss_bytes, now.lazy_bytes);
}

/* With purge:dontneed: Rss falls without a lazy stage between. */
static void dontneed(void) {
    fill();
    struct resident full = resident_now();
    size_t freed = free_most();
    under_test_purge(FALLOW_PURGE_LAZY);
    struct resident now = resident_now();
    check_kept();
    CHECK_THAT(now.lazy_bytes < (1u << 20) && now.rss_bytes < full.rss_bytes - freed / 10 * 8,
               "Rss from %zu to %zu, lazy %zu, %zu freed", full.rss_bytes, now.rss_bytes,
               now.lazy_bytes, freed);
}

int main(int count, char **arguments) {
    under_test_needs_fallow();
    CHECK(count == 2);
    static const struct {
        const char *name;
        void (*run)(void);
    } ways[] = {{"by_call", by_call},
                {"by_time", by_time},
                {"at_once", at_once},
                {"never", never},
                {"dontneed", dontneed}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (strcmp(ways[i].name, arguments[1]) == 0) {
            ways[i].run();
            return 0;
        }
    }
    CHECK_THAT(0, "no such way: %s", arguments[1]);
}
