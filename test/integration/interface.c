/*
 * What the standards say of the corner cases: which calls fail, with which errno, and what they
 * leave untouched. Each group names its standard.
 */
#include <errno.h>

#include "pattern.h"
#include "resident.h"
#include "under_test.h"

/* Sizes reach the calls through here, so that no compiler warns of what is meant. */
static size_t opaque(size_t size) {
    volatile size_t copy = size;
    return copy;
}

#define CHECK_FAILS(call, error)                                                                \
    do {                                                                                        \
        errno = 0;                                                                              \
        void *got = (call);                                                                     \
        int got_errno = errno;                                                                  \
        CHECK_THAT(got == NULL, "%s answers %p", #call, got);                                   \
        CHECK_THAT(got_errno == (error), "%s: errno is %d, not %d", #call, got_errno, (error)); \
    } while (0)

/* C17 7.22.3, POSIX malloc: a request that cannot be met is ENOMEM; above PTRDIFF_MAX none can. */
static void too_large(void) {
    static const size_t sizes[] = {(size_t)PTRDIFF_MAX + 1, SIZE_MAX,        SIZE_MAX - 1,
                                   SIZE_MAX - 15,           SIZE_MAX - 4095, SIZE_MAX - 16384,
                                   SIZE_MAX - (2u << 20),   PTRDIFF_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t size = opaque(sizes[i]);
        CHECK_FAILS(malloc(size), ENOMEM);
        CHECK_FAILS(calloc(1, size), ENOMEM);
        CHECK_FAILS(calloc(size, 1), ENOMEM);
        CHECK_FAILS(realloc(NULL, size), ENOMEM);
        CHECK_FAILS(reallocarray(NULL, size, 1), ENOMEM);
        CHECK_FAILS(aligned_alloc(16, size), ENOMEM);
        CHECK_FAILS(aligned_alloc(4096, size), ENOMEM);
        CHECK_FAILS(aligned_alloc(2u << 20, size), ENOMEM);
        CHECK_FAILS(memalign(64, size), ENOMEM);
        CHECK_FAILS(valloc(size), ENOMEM);
        CHECK_FAILS(pvalloc(size), ENOMEM);
        void *untouched = &errno;
        errno = 42;
        CHECK(posix_memalign(&untouched, 4096, size) == ENOMEM);
        CHECK(untouched == &errno && errno == 42);
    }
    CHECK_FAILS(aligned_alloc(opaque((size_t)1 << 62), 16), ENOMEM);
    CHECK_FAILS(aligned_alloc(opaque((size_t)1 << 63), 16), ENOMEM);
}

/* C17 7.22.3.2 calloc, POSIX reallocarray: a product that overflows is ENOMEM. */
static void overflow(void) {
    CHECK_FAILS(calloc(opaque(SIZE_MAX / 2 + 1), opaque(2)), ENOMEM);
    CHECK_FAILS(calloc(opaque(SIZE_MAX / 2), opaque(3)), ENOMEM);
    CHECK_FAILS(calloc(opaque((size_t)1 << 32), opaque((size_t)1 << 32)), ENOMEM);
    CHECK_FAILS(calloc(opaque(SIZE_MAX), opaque(SIZE_MAX)), ENOMEM);
    CHECK_FAILS(reallocarray(NULL, opaque((size_t)1 << 32), opaque((size_t)1 << 32)), ENOMEM);
    unsigned char *kept = malloc(100);
    CHECK(kept != NULL);
    pattern_fill(kept, 100, 1);
    CHECK_FAILS(reallocarray(kept, opaque((size_t)1 << 33), opaque((size_t)1 << 33)), ENOMEM);
    CHECK_FAILS(reallocarray(kept, opaque(SIZE_MAX), opaque(2)), ENOMEM);
    CHECK_FAILS(realloc(kept, opaque((size_t)PTRDIFF_MAX + 1)), ENOMEM);
    CHECK(pattern_holds(kept, 100, 1));
    kept = reallocarray(kept, 50, 40);
    CHECK(kept && pattern_holds(kept, 100, 1) && malloc_usable_size(kept) >= 2000);
    free(kept);
}

/* POSIX posix_memalign: EINVAL as its answer, errno and the result left alone; C17 aligned_alloc and
   the manual of memalign: NULL with EINVAL. */
static void bad_alignment(void) {
    static const size_t wrong[] = {0, 1, 2, 3, 4, 7, 9, 12, 24, 33, 48, 100, 4095, 4097, 6144};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        void *untouched = &errno;
        errno = 42;
        int answer = posix_memalign(&untouched, opaque(wrong[i]), 100);
        CHECK_THAT(answer == EINVAL, "posix_memalign(.., %zu, 100) answers %d", wrong[i], answer);
        CHECK(untouched == &errno && errno == 42);
        bool power = wrong[i] && (wrong[i] & (wrong[i] - 1)) == 0;
        if (!power) {
            CHECK_FAILS(aligned_alloc(opaque(wrong[i]), opaque(96)), EINVAL);
            CHECK_FAILS(memalign(opaque(wrong[i]), opaque(96)), EINVAL);
        } else {
            void *block = aligned_alloc(opaque(wrong[i]), opaque(96));
            CHECK_THAT(block != NULL, "aligned_alloc(%zu, 96)", wrong[i]);
            free(block);
        }
    }
    /* DR 460: the size need not be a multiple of the alignment. */
    void *odd = aligned_alloc(64, opaque(33));
    CHECK(odd && ((uintptr_t)odd & 63) == 0);
    free(odd);
}

static int by_address(const void *left, const void *right) {
    uintptr_t a = (uintptr_t) * (void *const *)left;
    uintptr_t b = (uintptr_t) * (void *const *)right;
    return (a > b) - (a < b);
}

/* C17 7.22.3: a request of no bytes; here always a pointer of its own, as glibc has it. */
static void nothing(void) {
    enum { COUNT = 1200 };
    static void *blocks[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        switch (i % 6) {
        case 0:
            blocks[i] = malloc(opaque(0));
            break;
        case 1:
            blocks[i] = calloc(opaque(0), 8);
            break;
        case 2:
            blocks[i] = calloc(8, opaque(0));
            break;
        case 3:
            blocks[i] = realloc(NULL, opaque(0));
            break;
        case 4:
            blocks[i] = aligned_alloc(64, opaque(0));
            break;
        default:
            CHECK(posix_memalign(&blocks[i], 64, opaque(0)) == 0);
        }
        CHECK_THAT(blocks[i] != NULL, "call %zu for 0 bytes", i % 6);
    }
    qsort(blocks, COUNT, sizeof *blocks, by_address);
    for (size_t i = 1; i < COUNT; i++) {
        CHECK(blocks[i] != blocks[i - 1]);
    }
    for (size_t i = 0; i < COUNT; i++) {
        free(blocks[i]);
    }
    free(NULL);
    CHECK(malloc_usable_size(NULL) == 0);
}

/* realloc(p, 0) may answer NULL (p freed) or a block; either way nothing may be lost. */
static void realloc_to_nothing(void) {
    size_t before = 0;
    for (size_t i = 0; i < 20000; i++) {
        void *block = realloc(malloc(5000), opaque(0));
        free(block);
        if (i == 2000) {
            before = resident_now().rss_bytes;
        }
    }
    size_t after = resident_now().rss_bytes;
    CHECK_THAT(after < before + (4u << 20), "RSS went from %zu to %zu", before, after);
}

int main(void) {
    too_large();
    overflow();
    bad_alignment();
    nothing();
    realloc_to_nothing();
    return 0;
}
