/*
 * Thousands of short threads, many ending at the same moment, each leaving blocks behind that others
 * free. A dead thread's memory must serve the living: the resident set and the mapped memory settle.
 */
#include "pattern.h"
#include "resident.h"
#include "threads.h"
#include "under_test.h"

enum { AT_ONCE = 50, LEFT = 40 };

struct visit {
    uint64_t seed;
    void *left[LEFT];
    size_t sizes[LEFT];
};

static void *visit(void *argument) {
    struct visit *visit = argument;
    uint64_t random = visit->seed;
    for (size_t i = 0; i < LEFT; i++) {
        free(visit->left[i]); /* from the thread that was here before */
        visit->sizes[i] = 16 + pattern_random(&random) % (i == 0 ? 100000 : 3000);
        visit->left[i] = malloc(visit->sizes[i]);
        CHECK(visit->left[i] != NULL);
        pattern_fill(visit->left[i], visit->sizes[i], visit->seed + i);
        void *own = malloc(pattern_random(&random) % 8000);
        KEEP(own);
        free(own);
    }
    return NULL;
}

/* Under a sanitizer the resident set is mostly its shadow of thread stacks, each at a new address. */
static size_t memory_now(void) {
    struct fallow_stats stats;
    if (!CHECK_SANITIZED) {
        return resident_now().rss_bytes;
    }
    under_test_stats(&stats);
    return stats.mapped_bytes;
}

int main(void) {
    static struct visit visits[AT_ONCE];
    pthread_t threads[AT_ONCE];
    size_t rounds = check_scaled(80);
    size_t warm = 0;
    for (size_t round = 0; round < rounds; round++) {
        for (size_t i = 0; i < AT_ONCE; i++) {
            visits[i].seed = round * 100000 + i * 1000;
            threads[i] = threads_start(visit, &visits[i]);
        }
        for (size_t i = 0; i < AT_ONCE; i++) {
            threads_join(threads[i]);
            for (size_t j = 0; j < LEFT; j++) {
                CHECK(pattern_holds(visits[i].left[j], visits[i].sizes[j], visits[i].seed + j));
            }
        }
        if (round == rounds / 4) {
            warm = memory_now();
        }
    }
    size_t after = memory_now();
    CHECK_THAT(after < warm + ((size_t)12 << 20), "memory went from %zu to %zu", warm, after);
    under_test_check_law();
    for (size_t i = 0; i < AT_ONCE; i++) {
        for (size_t j = 0; j < LEFT; j++) {
            free(visits[i].left[j]);
        }
    }
    under_test_check_law();
    return 0;
}
