/*
 * je#1347: forty short-lived threads at a time, over and over: the resident set stays flat. (The
 * report had minutes of it at ten rounds a second; here the rounds follow one another at once.)
 */
#include "pattern.h"
#include "resident.h"
#include "threads.h"
#include "under_test.h"

enum { AT_ONCE = 40, BLOCKS = 60 };

static pthread_barrier_t all;

static void *body(void *argument) {
    uint64_t random = (uintptr_t)argument;
    void *blocks[BLOCKS];
    for (size_t i = 0; i < BLOCKS; i++) {
        size_t size = 1 + pattern_random(&random) % (i % 20 == 0 ? 200000 : 4000);
        blocks[i] = malloc(size);
        CHECK(blocks[i] != NULL);
        memset(blocks[i], 1, size);
    }
    if ((uintptr_t)argument < AT_ONCE) {
        pthread_barrier_wait(&all); /* the first forty have their blocks at the same time */
    }
    for (size_t i = 0; i < BLOCKS; i++) {
        free(blocks[i]);
    }
    return NULL;
}

static void round_of_threads(uint64_t seed) {
    pthread_t threads[AT_ONCE];
    for (size_t i = 0; i < AT_ONCE; i++) {
        threads[i] = threads_start(body, (void *)(uintptr_t)(seed * AT_ONCE + i));
    }
    for (size_t i = 0; i < AT_ONCE; i++) {
        threads_join(threads[i]);
    }
}

int main(void) {
    CHECK(pthread_barrier_init(&all, NULL, AT_ONCE) == 0);
    size_t rounds = check_scaled(120);
    size_t warm = 0;
    size_t most = 0;
    for (size_t round = 0; round < rounds; round++) {
        round_of_threads(round);
        size_t now = resident_now().rss_bytes;
        if (round <= rounds / 4) {
            warm = now > warm ? now : warm;
        }
        most = now > most ? now : most;
    }
    /* Slack for how many of the forty happen to run at one time. */
    CHECK_THAT(most < warm + warm / 2 + ((size_t)8 << 20), "RSS %zu when warm, later %zu", warm,
               most);
    under_test_check_law();
    return 0;
}
