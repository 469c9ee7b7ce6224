/*
 * je#2054: never more arenas than CPUs that the process may use, whatever the machine has: with one
 * CPU from the start, with an affinity that is narrowed before the threads come ("narrow"), or with a quota
 * that whoever starts this knows of ("most" and how many).
 */
#include <sched.h>

#include "pattern.h"
#include "threads.h"
#include "under_test.h"

enum { THREADS = 24 };

static void *body(void *argument) {
    (void)argument;
    for (size_t size = 16; size < (2u << 20); size *= 3) {
        void *block = malloc(size);
        CHECK(block != NULL);
        memset(block, 1, size);
        free(block);
    }
    threads_sleep_ms(20);
    return NULL;
}

static size_t usable_cpus(void) {
    cpu_set_t set;
    CHECK(sched_getaffinity(0, sizeof set, &set) == 0);
    return (size_t)CPU_COUNT(&set);
}

static void run_threads(void) {
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        threads[i] = threads_start(body, NULL);
    }
    for (size_t i = 0; i < THREADS; i++) {
        threads_join(threads[i]);
    }
}

static size_t arenas(void) {
    struct fallow_stats stats;
    under_test_stats(&stats);
    return stats.arenas;
}

int main(int count, char **arguments) {
    under_test_needs_fallow();
    if (count > 1 && strcmp(arguments[1], "narrow") == 0) {
        cpu_set_t set;
        CHECK(sched_getaffinity(0, sizeof set, &set) == 0);
        int first = 0;
        while (!CPU_ISSET(first, &set)) {
            first++;
        }
        CPU_ZERO(&set);
        CPU_SET(first, &set);
        CHECK(sched_setaffinity(0, sizeof set, &set) == 0);
    }
    run_threads();
    size_t most = usable_cpus();
    if (count > 2 && strcmp(arguments[1], "most") == 0) {
        most = strtoul(arguments[2], NULL, 10);
    }
    CHECK_THAT(arenas() >= 1 && arenas() <= most, "%zu arenas for %zu usable CPUs", arenas(), most);
    under_test_check_law();
    return 0;
}
