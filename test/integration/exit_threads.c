/*
 * The ways a process ends while memory is in use: atexit handlers that allocate and free, exit from a
 * thread other than main with others in the middle of malloc, main ended by pthread_exit, _exit.
 * The first argument says which; the exit status is the proof.
 */
#include <stdatomic.h>

#include "pattern.h"
#include "threads.h"
#include "under_test.h"

enum { THREADS = 6 };

static void *kept[100];
static atomic_size_t started;

static void *churn(void *argument) {
    uint64_t random = (uintptr_t)argument;
    atomic_fetch_add(&started, 1);
    for (;;) {
        size_t size = 1 + pattern_random(&random) % 50000;
        unsigned char *block = malloc(size);
        CHECK(block != NULL);
        block[0] = 1;
        block[size - 1] = 1;
        free(block);
    }
    return NULL;
}

static void start_churning(void) {
    for (size_t i = 0; i < THREADS; i++) {
        CHECK(pthread_detach(threads_start(churn, (void *)(i + 1))) == 0);
    }
    while (atomic_load(&started) < THREADS) {
        sched_yield();
    }
}

static void at_exit_again(void) {
    void *block = malloc(200000);
    CHECK(block != NULL);
    memset(block, 1, 200000);
    free(block);
}

static void at_exit(void) {
    for (size_t i = 0; i < 100; i++) {
        CHECK(pattern_holds(kept[i], 100 + i, i));
        kept[i] = realloc(kept[i], 3000);
        CHECK(kept[i] && pattern_holds(kept[i], 100 + i, i));
        free(kept[i]);
    }
    CHECK(atexit(at_exit_again) == 0); /* registering allocates too */
}

static void *exits(void *argument) {
    (void)argument;
    exit(0);
}

static void *outlives_main(void *argument) {
    pthread_t main_thread = *(pthread_t *)argument;
    threads_join(main_thread);
    for (size_t i = 0; i < 100; i++) {
        CHECK(pattern_holds(kept[i], 100 + i, i));
    }
    for (int i = 0; i < 1000; i++) {
        void *block = malloc((size_t)i * 100 + 1);
        CHECK(block != NULL);
        free(block);
    }
    exit(0);
}

int main(int count, char **arguments) {
    CHECK(count == 2);
    const char *way = arguments[1];
    for (size_t i = 0; i < 100; i++) {
        kept[i] = malloc(100 + i);
        CHECK(kept[i] != NULL);
        pattern_fill(kept[i], 100 + i, i);
    }
    for (int i = 0; i < 40; i++) { /* more than the handlers that need no memory */
        CHECK(atexit(at_exit_again) == 0);
    }
    CHECK(atexit(at_exit) == 0);
    if (strcmp(way, "return") == 0) {
        return 0;
    }
    if (strcmp(way, "main") == 0) {
        start_churning();
        exit(0);
    }
    if (strcmp(way, "thread") == 0) {
        start_churning();
        threads_run(exits, NULL);
    }
    if (strcmp(way, "pthread_exit") == 0) {
        static pthread_t self;
        self = pthread_self();
        CHECK(pthread_detach(threads_start(outlives_main, &self)) == 0);
        pthread_exit(NULL);
    }
    if (strcmp(way, "_exit") == 0) {
        start_churning();
        _exit(0);
    }
    CHECK_THAT(0, "no such way: %s", way);
}
