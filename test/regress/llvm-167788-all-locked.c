/*
 * llvm#167788: everything is locked in memory, now and in future (mlockall). Fill, free, force a
 * purge, calloc the same size: all zero, errno untouched, although every advice was refused.
 */
#include <errno.h>
#include <sys/mman.h>

#include "pattern.h"
#include "under_test.h"

int main(void) {
    void *before = malloc(1000);
    CHECK(before != NULL);
    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) {
        CHECK_SKIP("mlockall is not allowed here");
    }
    static const size_t sizes[] = {16, 1000, 5000, 40000, 300000, 1 << 20, 5 << 20, 40 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int level = 0; level < 3; level++) {
            void *blocks[16];
            size_t count = sizes[i] > (1 << 20) ? 2 : 16;
            for (size_t j = 0; j < count; j++) {
                blocks[j] = malloc(sizes[i]);
                CHECK_THAT(blocks[j] != NULL, "no block of %zu bytes", sizes[i]);
                memset(blocks[j], 0xa5, sizes[i]);
            }
            errno = 42;
            for (size_t j = 0; j < count; j++) {
                free(blocks[j]);
            }
            if (level < 2) {
                under_test_purge(level ? FALLOW_PURGE_CLEAN : FALLOW_PURGE_LAZY);
            }
            CHECK_THAT(errno == 42, "errno is %d", errno);
            for (size_t j = 0; j < count; j++) {
                blocks[j] = calloc(1, sizes[i]);
                CHECK(blocks[j] != NULL);
                size_t at = pattern_not_zero_at(blocks[j], sizes[i]);
                CHECK_THAT(at == sizes[i], "calloc of %zu bytes: byte %zu is not zero", sizes[i],
                           at);
            }
            for (size_t j = 0; j < count; j++) {
                free(blocks[j]);
            }
        }
    }
    free(before);
    under_test_check_law();
    return 0;
}
