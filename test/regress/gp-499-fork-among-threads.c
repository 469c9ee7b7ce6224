/*
 * gp#499: eight threads churn while another forks again and again; each child allocates and exits. A
 * child that waits for a lock held by a thread that it does not have would hang here for ever.
 */
#include <stdatomic.h>

#include "pattern.h"
#include "threads.h"
#include "under_test.h"

enum { THREADS = 8 };

static atomic_bool stop;

static void *churn(void *argument) {
    uint64_t random = (uintptr_t)argument;
    void *kept[32] = {0};
    for (size_t i = 0; !atomic_load(&stop); i++) {
        if (i % 200 == 0) {
            threads_sleep_ms(1); /* else the forks wait for a CPU, not for a lock */
        }
        size_t slot = pattern_random(&random) % 32;
        free(kept[slot]);
        kept[slot] = malloc(pattern_random(&random) % (slot == 0 ? 900000 : 5000));
        CHECK(kept[slot] != NULL);
    }
    for (size_t i = 0; i < 32; i++) {
        free(kept[i]);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        threads[i] = threads_start(churn, (void *)(i + 1));
    }
    size_t forks = check_scaled(400); /* the report had 10,000: FALLOW_TEST_SCALE=2500 */
    for (size_t i = 0; i < forks; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            static const size_t sizes[] = {16, 1000, 30000, 500000, 5000000};
            for (size_t j = 0; j < 5; j++) {
                char *block = malloc(sizes[j]);
                CHECK(block != NULL);
                block[0] = 1;
                free(block);
            }
            _exit(0);
        }
        threads_reap(child);
    }
    atomic_store(&stop, true);
    for (size_t i = 0; i < THREADS; i++) {
        threads_join(threads[i]);
    }
    return 0;
}
