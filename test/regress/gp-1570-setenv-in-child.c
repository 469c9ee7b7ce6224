/*
 * gp#1570: the child of a threaded process calls setenv over and over (each allocates) before it
 * executes another program: no hang.
 */
#include <stdatomic.h>

#include "pattern.h"
#include "threads.h"
#include "under_test.h"

static atomic_bool stop;

static void *churn(void *argument) {
    uint64_t random = (uintptr_t)argument;
    for (size_t i = 0; !atomic_load(&stop); i++) {
        if (i % 500 == 0) {
            threads_sleep_ms(1); /* else the forks wait for a CPU, not for a lock */
        }
        void *block = malloc(1 + pattern_random(&random) % 3000);
        CHECK(block != NULL);
        KEEP(block);
        free(block);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[4];
    for (size_t i = 0; i < 4; i++) {
        threads[i] = threads_start(churn, (void *)(i + 1));
    }
    size_t forks = check_scaled(150);
    for (size_t i = 0; i < forks; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            char name[32];
            char value[512];
            memset(value, 'v', sizeof value - 1);
            for (int j = 0; j < 600; j++) {
                snprintf(name, sizeof name, "NAME_%d", j % 150);
                value[sizeof value - 1 - (size_t)(j % 300)] = 0;
                CHECK(setenv(name, value, 1) == 0);
            }
            execl("/bin/true", "true", (char *)NULL);
            _exit(1);
        }
        threads_reap(child);
    }
    atomic_store(&stop, true);
    for (size_t i = 0; i < 4; i++) {
        threads_join(threads[i]);
    }
    return 0;
}
