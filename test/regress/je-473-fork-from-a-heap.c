/*
 * je#473: with huge pages, fork and _exit from a process with a heap of 200 MB was far slower than with
 * glibc. The allocator's part in it is what it does at a fork: je-473-fork-from-a-heap.sh counts system calls, and
 * the page faults of a child, which this prints.
 */
#include <sys/resource.h>
#include <unistd.h>

#include "threads.h"
#include "under_test.h"

enum { FORKS = 200, BLOCKS = 400, BYTES = 500000 };

int main(void) {
    static char *blocks[BLOCKS];
    for (size_t i = 0; i < BLOCKS; i++) {
        blocks[i] = malloc(BYTES);
        CHECK(blocks[i] != NULL);
        memset(blocks[i], 1, BYTES);
    }
    for (int i = 0; i < FORKS; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            _exit(0);
        }
        threads_reap(child);
    }
    struct rusage children;
    CHECK(getrusage(RUSAGE_CHILDREN, &children) == 0);
    printf("%ld\n", children.ru_minflt / FORKS);
    return 0;
}
