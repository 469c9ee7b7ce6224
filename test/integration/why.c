/*
 * Why the resident set is as it is, in a process that has been through something: live blocks of all
 * sizes, a peak that was freed, purged, and threads that sleep. What is not explained is at most a
 * fiftieth of the resident set, or half a MiB.
 */
#include <stdatomic.h>

#include "pattern.h"
#include "threads.h"
#include "under_test.h"

enum { BLOCKS = 60000 };

#ifndef FALLOW_TEST_PREFIXED
static bool (*read_why)(struct fallow_rss_why *);

static void find_it(void) {
    *(void **)&read_why = dlsym(RTLD_DEFAULT, "fallow_rss_why");
    CHECK(read_why != NULL);
}
#else
#define read_why fallow_rss_why
static void find_it(void) {
}
#endif

static struct fallow_rss_why explained(const char *when) {
    struct fallow_rss_why why;
    CHECK(read_why(&why));
    size_t sum = why.live_bytes + why.rounding_bytes + why.slab_free_bytes + why.dirty_bytes +
                 why.lazy_bytes + why.inflation_bytes + why.metadata_bytes + why.others_bytes;
    size_t off = sum > why.kernel_bytes ? sum - why.kernel_bytes : why.kernel_bytes - sum;
    size_t most = why.kernel_bytes / 50 > (512u << 10) ? why.kernel_bytes / 50 : 512u << 10;
    CHECK_THAT(off <= most, "%s: the terms make %zu, the kernel says %zu", when, sum,
               why.kernel_bytes);
    return why;
}

static void *sleeps(void *argument) {
    static void *blocks[300];
    for (size_t i = 0; i < 300; i++) {
        blocks[i] = malloc(i * 100);
        CHECK(blocks[i] != NULL);
        memset(blocks[i], 1, i * 100);
    }
    for (size_t i = 0; i < 300; i += 2) {
        free(blocks[i]);
    }
    atomic_store((atomic_bool *)argument, true);
    for (;;) {
        threads_sleep_ms(1000);
    }
    return NULL;
}

int main(void) {
    static void *blocks[BLOCKS];
    static atomic_bool ready;
    uint64_t random = 3;
    find_it();
    explained("at first");
    threads_start(sleeps, &ready);
    while (!atomic_load(&ready)) {
        sched_yield();
    }
    size_t bytes = 0;
    for (size_t i = 0; i < BLOCKS; i++) {
        size_t size = 1 + pattern_random(&random) % (i % 500 == 0 ? 5000000 : 3000);
        blocks[i] = malloc(size);
        CHECK(blocks[i] != NULL);
        memset(blocks[i], 1, size);
        bytes += size;
    }
    struct fallow_rss_why full = explained("at the peak");
    CHECK_THAT(full.live_bytes > bytes - bytes / 20, "%zu of %zu bytes are live", full.live_bytes,
               bytes);
    for (size_t i = 0; i < BLOCKS; i++) {
        if (i % 10 != 0 || i % 500 == 0) {
            free(blocks[i]);
            blocks[i] = NULL;
        }
    }
    struct fallow_rss_why freed = explained("after the peak");
    CHECK(freed.live_bytes < full.live_bytes / 3);
    CHECK(freed.dirty_bytes + freed.lazy_bytes + freed.slab_free_bytes > full.live_bytes / 2);
    threads_sleep_ms(400);
    explained("asleep");
    under_test_purge(FALLOW_PURGE_LAZY);
    struct fallow_rss_why lazy = explained("lazy");
    CHECK(lazy.dirty_bytes < (4u << 20));
    CHECK(lazy.lazy_bytes + lazy.lazy_taken_bytes > full.live_bytes / 4);
    under_test_purge(FALLOW_PURGE_CLEAN);
    struct fallow_rss_why clean = explained("given back");
    CHECK(clean.dirty_bytes + clean.lazy_bytes + clean.lazy_taken_bytes < (4u << 20));
    CHECK(clean.kernel_bytes < full.kernel_bytes / 2);
    return 0;
}
