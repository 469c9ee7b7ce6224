/*
 * Memory that was freed is there for others: in a memory cgroup whose limit leaves no room for keeping it
 * (test/support/in_cgroup.sh, which fails when the kernel had to kill). The first argument says how:
 *   neighbour  what a sleeping process has freed goes to another process that needs it
 *   save       a process that is changed all the time forks, and the child reads everything slowly
 *   usage      what is given back leaves the cgroup's usage, not only Rss, also of huge pages in part
 */
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>

#include "pattern.h"
#include "resident.h"
#include "threads.h"
#include "under_test.h"

enum { MIB = 1 << 20 };

static size_t cgroup_usage(void) {
    char path[512], text[64];
    snprintf(path, sizeof path, "%s/memory.usage_in_bytes", getenv("FALLOW_TEST_CGROUP"));
    resident_read_file(path, text, sizeof text);
    return strtoul(text, NULL, 10);
}

static void *has_a_heap(void *argument) {
    void *block = malloc(100);
    KEEP(block);
    atomic_store((atomic_bool *)argument, true);
    for (;;) {
        threads_sleep_ms(1000);
    }
    return NULL;
}

/* From now on there is a purge thread when there is something to purge. */
static void start_sleeper(void) {
    static atomic_bool ready;
    threads_start(has_a_heap, &ready);
    while (!atomic_load(&ready)) {
        sched_yield();
    }
}

/* Touches so much memory of its own, not the allocator's, and ends. */
static void need_memory(size_t bytes) {
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        char *memory =
            mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(memory != MAP_FAILED);
        memset(memory, 1, bytes);
        _exit(0);
    }
    threads_reap(child);
}

/* Limit 300M: 200 MiB freed and 200 MiB needed by another process. */
static void neighbour(void) {
    enum { BLOCKS = 400, KEPT = 40 };
    static void *blocks[BLOCKS];
    const size_t bytes = MIB / 2;
    start_sleeper();
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < BLOCKS; i++) {
            blocks[i] = malloc(bytes);
            CHECK(blocks[i] != NULL);
            pattern_fill(blocks[i], bytes, i);
        }
        for (size_t i = KEPT; i < BLOCKS; i++) {
            free(blocks[i]);
        }
        threads_sleep_ms(500);
        need_memory((size_t)200 * MIB);
        for (size_t i = 0; i < KEPT; i++) {
            CHECK(pattern_holds(blocks[i], bytes, i));
            free(blocks[i]);
        }
    }
}

/* Limit 220M: 100 MiB live, of which a child has its own copy as soon as it is changed, and half of the
   parent's is freed while a third process needs 50 MiB. */
static void save(void) {
    enum { BLOCKS = 1600, ROUNDS = 4, CHANGES = 6000 };
    static void *blocks[BLOCKS];
    static size_t seeds[BLOCKS];
    const size_t bytes = MIB / 16;
    uint64_t random = 1;
    start_sleeper();
    for (size_t i = 0; i < BLOCKS; i++) {
        blocks[i] = malloc(bytes);
        CHECK(blocks[i] != NULL);
        pattern_fill(blocks[i], bytes, seeds[i] = i);
    }
    for (size_t round = 0; round < ROUNDS; round++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            for (size_t i = 0; i < BLOCKS; i++) {
                CHECK(pattern_holds(blocks[i], bytes, seeds[i]));
                threads_sleep_ms(i % 4 == 0 ? 1 : 0);
            }
            _exit(0);
        }
        for (size_t change = 0; change < CHANGES; change++) {
            size_t i = pattern_random(&random) % BLOCKS;
            free(blocks[i]);
            blocks[i] = malloc(bytes);
            CHECK(blocks[i] != NULL);
            pattern_fill(blocks[i], bytes, seeds[i] = i + change);
        }
        /* Half of it is not needed for a while. */
        for (size_t i = 0; i < BLOCKS / 2; i++) {
            free(blocks[i]);
        }
        threads_sleep_ms(300);
        need_memory((size_t)50 * MIB);
        for (size_t i = 0; i < BLOCKS / 2; i++) {
            blocks[i] = malloc(bytes);
            CHECK(blocks[i] != NULL);
            pattern_fill(blocks[i], bytes, seeds[i]);
        }
        threads_reap(child);
    }
    for (size_t i = 0; i < BLOCKS; i++) {
        CHECK(pattern_holds(blocks[i], bytes, seeds[i]));
    }
}

/* Limit 400M, with lazy_decay_ms:1000: asleep, with each 33rd block kept. */
static void usage(void) {
    enum { BLOCKS = 4096, EACH = 33, TENTHS = 150 };
    static void *blocks[BLOCKS];
    const size_t bytes = MIB / 16;
    start_sleeper();
    size_t before = cgroup_usage(), kept = 0;
    for (size_t i = 0; i < BLOCKS; i++) {
        blocks[i] = malloc(bytes);
        CHECK(blocks[i] != NULL);
        pattern_fill(blocks[i], bytes, i);
    }
    CHECK(cgroup_usage() > before + BLOCKS * bytes / 10 * 9);
    for (size_t i = 0; i < BLOCKS; i++) {
        if (i % EACH == 0) {
            kept += bytes;
        } else {
            free(blocks[i]);
        }
    }
    size_t now = SIZE_MAX;
    for (int i = 0; i < TENTHS && now > before + kept + (size_t)16 * MIB; i++) {
        threads_sleep_ms(100);
        now = cgroup_usage();
    }
    struct fallow_stats stats;
    under_test_stats(&stats);
    CHECK_THAT(
        now <= before + kept + (size_t)16 * MIB,
        "%zu bytes are in use, %zu of them live; active %zu, dirty %zu, lazy %zu, resident %zu",
        now - before, kept, stats.active_bytes, stats.dirty_bytes, stats.lazy_bytes,
        resident_now().rss_bytes);
    for (size_t i = 0; i < BLOCKS; i += EACH) {
        CHECK(pattern_holds(blocks[i], bytes, i));
    }
}

int main(int argc, char **argv) {
    CHECK(argc == 2 && getenv("FALLOW_TEST_CGROUP") != NULL);
    if (strcmp(argv[1], "neighbour") == 0) {
        neighbour();
    } else if (strcmp(argv[1], "save") == 0) {
        save();
    } else {
        CHECK(strcmp(argv[1], "usage") == 0);
        usage();
    }
    return 0;
}
