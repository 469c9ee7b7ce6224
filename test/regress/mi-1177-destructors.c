/*
 * mi#1177: malloc and free inside pthread_key destructors, in very many threads: no crash, and no
 * growth, although every such thread's state comes to life again after it was torn down. (The report
 * had 100,000 threads: FALLOW_TEST_SCALE=2000.)
 */
#include <limits.h>

#include "pattern.h"
#include "resident.h"
#include "threads.h"
#include "under_test.h"

static pthread_key_t key, late_key;

static void destroy(void *argument) {
    unsigned char *block = argument;
    unsigned rounds = block[0];
    free(block);
    void *other = malloc(3000);
    CHECK(other != NULL);
    memset(other, 1, 3000);
    free(other);
    if (rounds > 0) {
        block = malloc(50000);
        CHECK(block != NULL);
        block[0] = (unsigned char)(rounds - 1);
        CHECK(pthread_setspecific(key, block) == 0);
    }
}

/* The thread's first call of all comes in the last round of destructors, when nobody is told of its
   end any more. */
static void destroy_late(void *argument) {
    unsigned *rounds = argument;
    if (--*rounds > 0) {
        CHECK(pthread_setspecific(late_key, rounds) == 0);
        return;
    }
    for (size_t size = 16; size < 100000; size *= 5) {
        void *block = malloc(size);
        CHECK(block != NULL);
        memset(block, 1, size);
        free(block);
    }
}

static void *late_body(void *argument) {
    *(unsigned *)argument = PTHREAD_DESTRUCTOR_ITERATIONS;
    CHECK(pthread_setspecific(late_key, argument) == 0);
    return NULL;
}

static void *body(void *argument) {
    (void)argument;
    unsigned char *block = malloc(200);
    CHECK(block != NULL);
    block[0] = 3;
    CHECK(pthread_setspecific(key, block) == 0);
    return NULL;
}

int main(int count, char **arguments) {
    bool late = count > 1 && strcmp(arguments[1], "late") == 0;
    CHECK(pthread_key_create(&key, destroy) == 0);
    CHECK(pthread_key_create(&late_key, destroy_late) == 0);
    size_t rounds = check_scaled(5000) / 10 + 1;
    size_t warm_rss = 0;
    struct fallow_stats warm = {0};
    for (size_t round = 0; round < rounds; round++) {
        pthread_t threads[10];
        unsigned rounds_left[10];
        for (size_t i = 0; i < 10; i++) {
            threads[i] = threads_start(late ? late_body : body, &rounds_left[i]);
        }
        for (size_t i = 0; i < 10; i++) {
            threads_join(threads[i]);
        }
        if (round == rounds / 4) {
            warm_rss = resident_now().rss_bytes;
            under_test_stats(&warm);
        }
    }
    struct fallow_stats stats;
    under_test_stats(&stats);
    size_t rss = resident_now().rss_bytes;
    CHECK_THAT(rss < warm_rss + ((size_t)4 << 20), "RSS went from %zu to %zu", warm_rss, rss);
    CHECK_THAT(stats.mapped_bytes <= warm.mapped_bytes + ((size_t)4 << 20),
               "mapped went from %zu to %zu", warm.mapped_bytes, stats.mapped_bytes);
    CHECK_THAT(stats.active_bytes <= warm.active_bytes + ((size_t)4 << 20),
               "active went from %zu to %zu", warm.active_bytes, stats.active_bytes);
    return 0;
}
