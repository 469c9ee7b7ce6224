#include "ebizzy_memory.h"

#include "bench_fail.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void *map(size_t bytes, const char *what) {
    void *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED)
        bench_fail(BENCH_EXIT_FAILED, "mmap of %zu bytes for %s failed: %s", bytes, what,
                   strerror(errno));
    return block;
}

void *ebizzy_memory_allocate(bool use_mmap, size_t bytes, const char *what) {
    if (use_mmap)
        return map(bytes, what);
    void *block = malloc(bytes);
    if (!block)
        bench_fail(BENCH_EXIT_FAILED, "malloc(%zu) for %s failed: %s", bytes, what,
                   strerror(errno));
    return block;
}

void ebizzy_memory_release(bool use_mmap, void *block, size_t bytes) {
    if (!use_mmap)
        free(block);
    else if (munmap(block, bytes) != 0)
        bench_fail(BENCH_EXIT_FAILED, "munmap of %zu bytes failed: %s", bytes, strerror(errno));
}

void *ebizzy_memory_table(size_t bytes) {
    return map(bytes, "a table of the benchmark");
}
