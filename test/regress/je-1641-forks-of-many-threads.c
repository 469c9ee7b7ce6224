/*
 * je#1641: twenty threads that each fork five hundred times took many times as long as with glibc: the locks of all
 * arenas for each fork, one after the other, while others wanted them, and what the handlers write is copied in every
 * child. Prints how many page faults the children took; je-1641-forks-of-many-threads.sh compares.
 */
#include <sys/resource.h>

#include "pattern.h"
#include "threads.h"
#include "under_test.h"

enum { THREADS = 20, FORKS = 500, BLOCKS = 200 };

static void *body(void *argument) {
    uint64_t random = (uintptr_t)argument;
    void *blocks[BLOCKS] = {0};
    size_t forks = check_scaled(FORKS);
    for (size_t i = 0; i < forks; i++) {
        for (size_t j = 0; j < 20; j++) {
            size_t at = pattern_random(&random) % BLOCKS;
            free(blocks[at]);
            blocks[at] = malloc(1 + pattern_random(&random) % 3000);
            CHECK(blocks[at] != NULL);
        }
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            void *block = malloc(100);
            CHECK(block != NULL);
            KEEP(block);
            free(block);
            _exit(0);
        }
        threads_reap(child);
    }
    for (size_t i = 0; i < BLOCKS; i++) {
        free(blocks[i]);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        threads[i] = threads_start(body, (void *)(i + 1));
    }
    for (size_t i = 0; i < THREADS; i++) {
        threads_join(threads[i]);
    }
    struct rusage children;
    CHECK(getrusage(RUSAGE_CHILDREN, &children) == 0);
    printf("%ld\n", children.ru_minflt / (long)(THREADS * check_scaled(FORKS)));
    return 0;
}
