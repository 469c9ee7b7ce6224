/*
 * free leaves errno as it was (POSIX.1-2024), whatever it had to do: blocks from 16 bytes to 1 GB,
 * aligned ones, blocks of another thread, with a purge at every step. Run as well under a filter
 * that refuses madvise, so that the system calls inside fail.
 */
#include <errno.h>

#include "threads.h"
#include "under_test.h"

static void *make(size_t size, int how) {
    void *block = NULL;
    if (how == 0) {
        block = malloc(size);
    } else if (how == 1) {
        block = calloc(1, size);
    } else {
        CHECK(posix_memalign(&block, 4096, size) == 0);
    }
    CHECK_THAT(block != NULL, "no block of %zu bytes", size);
    for (size_t offset = 0; offset < size; offset += (size_t)1 << 20) {
        ((volatile char *)block)[offset] = 1;
    }
    return block;
}

static void check_free(void *block, size_t size) {
    errno = 42;
    free(block);
    CHECK_THAT(errno == 42, "free of a block of %zu bytes made errno %d", size, errno);
}

static void *free_elsewhere(void *block) {
    check_free(block, 0);
    return NULL;
}

int main(void) {
    errno = 42;
    free(NULL);
    CHECK(errno == 42);
    for (size_t size = 16; size <= ((size_t)1 << 30); size *= 2) {
        for (int how = 0; how < 3; how++) {
            check_free(make(size, how), size);
            check_free(make(size + size / 3, how), size + size / 3);
        }
        if (size <= ((size_t)64 << 20)) {
            threads_run(free_elsewhere, make(size, 0));
        }
        errno = 42;
        under_test_purge(FALLOW_PURGE_LAZY);
        under_test_purge(FALLOW_PURGE_CLEAN);
        CHECK_THAT(errno == 42, "a purge made errno %d", errno);
    }
    /* Many at once, so that whole slabs and chunks empty inside free. */
    enum { COUNT = 20000 };
    static void *blocks[COUNT];
    for (size_t size = 16; size <= 4096; size *= 4) {
        for (size_t i = 0; i < COUNT; i++) {
            blocks[i] = make(size, 0);
        }
        for (size_t i = 0; i < COUNT; i++) {
            check_free(blocks[i], size);
        }
    }
    /* A successful malloc is not promised to keep errno, but free_sized and its kin are frees. */
    void *block = make(100, 0);
    errno = 42;
    under_test_free_sized(block, 100);
    CHECK(errno == 42);
    block = aligned_alloc(64, 128);
    CHECK(block != NULL);
    errno = 42;
    under_test_free_aligned_sized(block, 64, 128);
    CHECK(errno == 42);
    return 0;
}
