/*
 * The drain of threads' caches, where it has gone wrong before: argv[1] is
 *   many    of more threads than one go of it looks at, none is left out
 *   quiet   where it may not look (a small process of one heap), the purge thread is not kept awake by what it cannot do
 *   child   the child of a thread's fork lets the main thread's heap alone, which may be in the middle of something
 *   single  with a purge thread in a program of one thread, the two do not meet in a slab. With
 *           dirty_decay_ms:1,purge_thread:always
 */
#include <dirent.h>
#include <stdatomic.h>
#include <stdio.h>

#include "pattern.h"
#include "resident.h"
#include "threads.h"
#include "under_test.h"

enum { THREADS = 200, LARGEST = 1024, EACH = 60, FORKS = 300 };

static atomic_bool stop;

static void fill_cache(void) {
    for (size_t size = 16; size <= LARGEST; size += 16) {
        void *blocks[EACH];
        for (size_t i = 0; i < EACH; i++) {
            blocks[i] = malloc(size);
            CHECK(blocks[i] != NULL);
        }
        for (size_t i = 0; i < EACH; i++) {
            free(blocks[i]);
        }
    }
}

static void *sleeper(void *barrier) {
    fill_cache();
    pthread_barrier_wait(barrier); /* asleep */
    pthread_barrier_wait(barrier);
    return NULL;
}

/* What is free in the threads' caches. */
static size_t cached_bytes(void) {
    return mallinfo2().fsmblks;
}

static void many(void) {
    static pthread_t threads[THREADS];
    pthread_barrier_t barrier;
    CHECK(pthread_barrier_init(&barrier, NULL, THREADS + 1) == 0);
    for (size_t i = 0; i < THREADS; i++) {
        threads[i] = threads_start(sleeper, &barrier);
    }
    pthread_barrier_wait(&barrier);
    size_t before = cached_bytes();
    CHECK_THAT(before > (size_t)THREADS * 100000, "only %zu bytes are cached", before);
    under_test_purge(FALLOW_PURGE_LAZY);
    size_t after = cached_bytes();
    /* The last of one class may stay in each cache: whose thread may be just at it. */
    CHECK_THAT(after <= (size_t)THREADS * LARGEST + before / THREADS / 2,
               "%zu bytes of %zu are cached still: some threads were left out", after, before);
    pthread_barrier_wait(&barrier);
    for (size_t i = 0; i < THREADS; i++) {
        threads_join(threads[i]);
    }
}

static void *never_allocates(void *argument) {
    while (!atomic_load(&stop)) {
        threads_sleep_ms(10);
    }
    return argument;
}

/* How often the purge thread has gone to sleep; 0: there is none. Allocates nothing. */
static size_t purge_thread_sleeps(void) {
    static char entries[8192];
    char path[64], text[4096];
    size_t sleeps = 0;
    int tasks = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(tasks >= 0);
    ssize_t length = getdents64(tasks, entries, sizeof entries);
    close(tasks);
    for (ssize_t at = 0; at < length;) {
        const struct dirent64 *entry = (const struct dirent64 *)(const void *)(entries + at);
        at += entry->d_reclen;
        snprintf(path, sizeof path, "/proc/self/task/%.20s/status", entry->d_name);
        int file = entry->d_name[0] == '.' ? -1 : open(path, O_RDONLY | O_CLOEXEC);
        if (file < 0) {
            continue;
        }
        ssize_t got = read(file, text, sizeof text - 1);
        close(file);
        text[got > 0 ? got : 0] = 0;
        const char *line = strstr(text, "\nvoluntary_ctxt_switches:");
        if (strncmp(text, "Name:\tfallow-purge", 18) == 0 && line != NULL) {
            sleeps = strtoul(strchr(line, '\t'), NULL, 10);
        }
    }
    return sleeps;
}

static void quiet(void) {
    pthread_t thread = threads_start(never_allocates, NULL);
    size_t most = 0;
    for (int tenth = 0; tenth < 20; tenth++) {
        if (tenth < 5) {
            fill_cache(); /* news for the drain, and a reason for the purge thread */
        }
        threads_sleep_ms(100);
        size_t sleeps = purge_thread_sleeps();
        most = sleeps > most ? sleeps : most;
    }
    CHECK_THAT(most > 0, "there was no purge thread");
    CHECK_THAT(most < 300, "the purge thread woke %zu times in two seconds", most);
    atomic_store(&stop, true);
    threads_join(thread);
}

static void *forks(void *argument) {
    for (size_t i = 0; i < check_scaled(FORKS); i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            fill_cache();
            under_test_purge(FALLOW_PURGE_CLEAN);
            _exit(0);
        }
        threads_reap(child);
    }
    atomic_store(&stop, true);
    return argument;
}

/* Large blocks, too: those that are kept at hand have a lock of their own. */
static void child(void) {
    pthread_t thread = threads_start(forks, NULL);
    while (!atomic_load(&stop)) {
        for (size_t size = 300000; size < 320000; size += 1000) {
            void *block = malloc(size);
            CHECK(block != NULL);
            KEEP(block);
            free(block);
        }
        fill_cache();
    }
    threads_join(thread);
}

/* Slabs get holes and are swept by the purge thread, while their owner frees and fills them again. Its cache is
   not emptied however long it sleeps: what then went to a slab would meet its owner there. */
static void single(void) {
    enum { BLOCKS = 20000 };
    static unsigned char *blocks[BLOCKS];
    static size_t sizes[BLOCKS];
    uint64_t random = 1;
    size_t rounds = check_scaled(100);
    for (size_t round = 0; round < rounds; round++) {
        for (size_t i = 0; i < BLOCKS; i++) {
            if (blocks[i] == NULL) {
                sizes[i] = 16 + pattern_random(&random) % 3000;
                blocks[i] = malloc(sizes[i]);
                CHECK(blocks[i] != NULL);
                pattern_fill(blocks[i], sizes[i], i);
            }
        }
        size_t kept = pattern_random(&random) % 8 + 1;
        for (size_t i = 0; i < BLOCKS; i++) {
            if (pattern_random(&random) % 8 >= kept) {
                CHECK_THAT(pattern_holds(blocks[i], sizes[i], i), "block %zu changed", i);
                free(blocks[i]);
                blocks[i] = NULL;
            }
        }
        if (round % 10 == 0) {
            threads_sleep_ms(20);
        }
    }
    for (size_t i = 0; i < BLOCKS; i++) {
        if (blocks[i] != NULL) {
            CHECK_THAT(pattern_holds(blocks[i], sizes[i], i), "block %zu changed", i);
            free(blocks[i]);
        }
    }
    fill_cache();
    CHECK_THAT(purge_thread_sleeps() > 0, "there was no purge thread");
    size_t before = cached_bytes();
    threads_sleep_ms(1000);
    CHECK_THAT(cached_bytes() == before, "%zu bytes were cached, %zu are after a sleep", before,
               cached_bytes());
}

int main(int argc, char **argv) {
    const char *way = argc > 1 ? argv[1] : "";
    under_test_needs_fallow();
    if (strcmp(way, "many") == 0) {
        many();
    } else if (strcmp(way, "quiet") == 0) {
        quiet();
    } else if (strcmp(way, "child") == 0) {
        child();
    } else if (strcmp(way, "single") == 0) {
        single();
    } else {
        CHECK_THAT(0, "no such way: %s", way);
    }
    under_test_check_law();
    return 0;
}
