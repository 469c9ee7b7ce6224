/* A thread's first malloc happens in a vfork child, which shares its memory: the heap made there is the
   thread's, and no new thread may take it for one whose owner has ended. */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pattern.h"
#include "threads.h"
#include "under_test.h"

enum { BLOCKS = 64, ROUNDS = 200000, OTHERS = 5 };

static atomic_bool born;

static void churn(size_t id) {
    static __thread unsigned char *blocks[BLOCKS];
    size_t sizes[BLOCKS] = {0};
    unsigned random = (unsigned)id * 7919 + 1;
    for (int i = 0; i < ROUNDS; i++) {
        random = random * 1103515245 + 12345;
        size_t k = (random >> 16) % BLOCKS;
        if (blocks[k] != NULL) {
            CHECK_THAT(pattern_holds(blocks[k], sizes[k], id), "thread %zu lost a block", id);
            free(blocks[k]);
        }
        sizes[k] = 16 + (random >> 8) % 400;
        blocks[k] = malloc(sizes[k]);
        CHECK(blocks[k] != NULL);
        pattern_fill(blocks[k], sizes[k], id);
    }
    for (size_t k = 0; k < BLOCKS; k++)
        free(blocks[k]);
}

static void *first_in_child(void *argument) {
    pid_t child = vfork();
    if (child == 0) {
        KEEP(malloc(100)); /* what POSIX does not allow, and programs do */
        _exit(0);
    }
    CHECK(child > 0 && waitpid(child, NULL, 0) == child);
    atomic_store(&born, true);
    churn(1);
    return argument;
}

static void *other(void *argument) {
    churn((size_t)argument);
    return NULL;
}

int main(void) {
    pthread_t threads[OTHERS + 1];
    CHECK(pthread_create(&threads[0], NULL, first_in_child, NULL) == 0);
    while (!atomic_load(&born))
        threads_sleep_ms(1);
    for (size_t i = 1; i <= OTHERS; i++)
        CHECK(pthread_create(&threads[i], NULL, other, (void *)(i + 1)) == 0);
    for (size_t i = 0; i <= OTHERS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    return 0;
}
