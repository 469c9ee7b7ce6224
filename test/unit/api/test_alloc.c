/* The malloc family's conventions: sizes, alignments, errno, zeroes, and frees that are none. */
#include <criterion/criterion.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "../capture.h"
#include "alloc.h"
#include "counters.h"
#include "options.h"
#include "os_page.h"

enum { KIB = 1024, MIB = 1024 * KIB };

static void small_pages(void) {
    options.thp = THP_NEVER;
}

TestSuite(alloc, .init = small_pages);

/* Sizes of every kind, each with its neighbours. */
static size_t each_size(size_t i) {
    static const size_t around[] = {0,         16,
                                    64,        128,
                                    1024,      4096,
                                    16 * KIB,  100 * KIB,
                                    256 * KIB, 300 * KIB,
                                    2 * MIB,   2 * MIB + 16 * KIB,
                                    4 * MIB,   6 * MIB + 5000};
    if (i >= 3 * ARRAY_COUNT(around))
        return SIZE_MAX;
    size_t size = around[i / 3] + i % 3;
    return size == 0 ? 0 : size - 1;
}

/* Says that errno is what it was, and that the block is usable. */
static void expect_block(unsigned char *p, size_t bytes, size_t align) {
    cr_assert_not_null(p, "%zu bytes at %zu", bytes, align);
    cr_assert_eq(errno, EXDEV);
    cr_assert(is_aligned((uintptr_t)p, max_size(align, 16)), "%zu bytes at %zu", bytes, align);
    cr_assert_geq(alloc_usable_size(p), max_size(bytes, 1));
    p[0] = 1;
    p[alloc_usable_size(p) - 1] = 1;
}

#define EXPECT_ERRNO(expected, call)                \
    do {                                            \
        errno = EXDEV;                              \
        cr_assert_null(call);                       \
        cr_assert_eq(errno, expected, "%d", errno); \
        errno = EXDEV;                              \
    } while (0)

Test(alloc, blocks_of_all_sizes_are_usable_and_aligned_to_16) {
    errno = EXDEV;
    for (size_t i = 0; each_size(i) != SIZE_MAX; i++) {
        void *p = alloc_malloc(each_size(i));
        expect_block(p, each_size(i), 16);
        alloc_free(p);
        cr_assert_eq(errno, EXDEV);
    }
}

Test(alloc, blocks_of_every_small_size_lie_apart) {
    static unsigned char *blocks[3000];
    for (size_t size = 0; size < ARRAY_COUNT(blocks); size++) {
        blocks[size] = alloc_malloc(size);
        memset(blocks[size], (int)size, alloc_usable_size(blocks[size]));
    }
    for (size_t size = 0; size < ARRAY_COUNT(blocks); size++) {
        cr_assert_eq(blocks[size][0], (unsigned char)size);
        cr_assert_eq(blocks[size][alloc_usable_size(blocks[size]) - 1], (unsigned char)size);
        alloc_free(blocks[size]);
    }
}

Test(alloc, a_block_of_nothing_is_unique) {
    void *a = alloc_malloc(0), *b = alloc_malloc(0), *c = alloc_calloc(0, 8);
    cr_assert_not_null(a);
    cr_assert_not_null(b);
    cr_assert_not_null(c);
    cr_assert(a != b && b != c && a != c);
    alloc_free(a);
    alloc_free(b);
    alloc_free(c);
}

Test(alloc, more_than_ptrdiff_max_is_enomem) {
    static const size_t most[] = {SIZE_MAX, SIZE_MAX - 4096, (size_t)PTRDIFF_MAX + 1, PTRDIFF_MAX};
    for (size_t i = 0; i < ARRAY_COUNT(most); i++) {
        EXPECT_ERRNO(ENOMEM, alloc_malloc(most[i]));
        EXPECT_ERRNO(ENOMEM, alloc_calloc(1, most[i]));
        EXPECT_ERRNO(ENOMEM, alloc_realloc(NULL, most[i]));
        EXPECT_ERRNO(ENOMEM, alloc_reallocarray(NULL, 1, most[i]));
        EXPECT_ERRNO(ENOMEM, alloc_memalign(64, most[i]));
        EXPECT_ERRNO(ENOMEM, alloc_memalign(64 * MIB, most[i]));
        EXPECT_ERRNO(ENOMEM, alloc_valloc(most[i]));
        EXPECT_ERRNO(ENOMEM, alloc_pvalloc(most[i]));
    }
}

Test(alloc, products_that_overflow_are_enomem) {
    size_t half = (size_t)1 << 63, root = (size_t)1 << 32;
    EXPECT_ERRNO(ENOMEM, alloc_calloc(half, 2));
    EXPECT_ERRNO(ENOMEM, alloc_calloc(2, half));
    EXPECT_ERRNO(ENOMEM, alloc_calloc(root, root));
    EXPECT_ERRNO(ENOMEM, alloc_calloc(SIZE_MAX, SIZE_MAX));
    void *p = alloc_malloc(100);
    memset(p, 7, 100);
    EXPECT_ERRNO(ENOMEM, alloc_reallocarray(p, half, 2));
    EXPECT_ERRNO(ENOMEM, alloc_reallocarray(p, root + 1, root));
    cr_assert_eq(*(char *)p, 7);
    alloc_free(p);
}

/* --- alignments --- */

Test(alloc, every_alignment_is_kept) {
    static const size_t sizes[] = {0, 1, 100, 5000, 100 * KIB, 300 * KIB, 3 * MIB};
    errno = EXDEV;
    for (size_t align = 1; align <= 64 * MIB; align *= 2) {
        for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
            void *p = alloc_memalign(align, sizes[i]);
            expect_block(p, sizes[i], align);
            void *q = NULL;
            if (align >= sizeof(void *)) {
                cr_assert_eq(alloc_posix_memalign(&q, align, sizes[i]), 0);
                expect_block(q, sizes[i], align);
                cr_assert_neq(p, q);
            }
            alloc_free(p);
            alloc_free(q);
        }
    }
}

Test(alloc, what_is_no_power_of_two_is_einval) {
    static const size_t odd[] = {0, 3, 24, 48, 4097, ((size_t)1 << 47) + 16, SIZE_MAX};
    void *untouched = &untouched;
    for (size_t i = 0; i < ARRAY_COUNT(odd); i++) {
        EXPECT_ERRNO(EINVAL, alloc_memalign(odd[i], 10));
        cr_assert_eq(alloc_posix_memalign(&untouched, odd[i], 10), EINVAL);
        cr_assert_eq(errno, EXDEV);
        cr_assert_eq(untouched, &untouched);
    }
}

Test(alloc, posix_memalign_wants_a_pointers_alignment_at_least) {
    void *p = &p;
    errno = EXDEV;
    for (size_t align = 1; align < sizeof(void *); align *= 2)
        cr_assert_eq(alloc_posix_memalign(&p, align, 10), EINVAL);
    cr_assert_eq(p, &p);
    cr_assert_eq(alloc_posix_memalign(&p, sizeof(void *), 10), 0);
    cr_assert_eq(errno, EXDEV);
    alloc_free(p);
}

Test(alloc, alignments_that_no_address_space_has_are_enomem) {
    for (unsigned shift = 47; shift < 64; shift++) {
        void *p = &p;
        EXPECT_ERRNO(ENOMEM, alloc_memalign((size_t)1 << shift, 16));
        cr_assert_eq(alloc_posix_memalign(&p, (size_t)1 << shift, 16), ENOMEM);
        cr_assert_eq(errno, EXDEV);
        cr_assert_eq(p, &p);
    }
    alloc_free(alloc_malloc(100)); /* and the process is still there */
}

Test(alloc, pages_are_whole_ones) {
    size_t page = os_page_size();
    errno = EXDEV;
    expect_block(alloc_valloc(1), 1, page);
    expect_block(alloc_pvalloc(0), page, page);
    expect_block(alloc_pvalloc(1), page, page);
    expect_block(alloc_pvalloc(page + 1), 2 * page, page);
    expect_block(alloc_pvalloc(3 * MIB + 1), 3 * MIB + page, page);
}

/* --- contents --- */

static bool reads_zero(const unsigned char *p, size_t bytes) {
    return bytes == 0 || (p[0] == 0 && memcmp(p, p + 1, bytes - 1) == 0);
}

Test(alloc, calloc_is_zero_over_used_memory) {
    for (unsigned round = 0; round < 3; round++) {
        for (size_t i = 0; each_size(i) != SIZE_MAX; i++) {
            unsigned char *p = alloc_calloc(1, each_size(i));
            cr_assert(reads_zero(p, each_size(i)), "%zu bytes", each_size(i));
            memset(p, 0x5a, alloc_usable_size(p));
            alloc_free(p);
        }
    }
}

Test(alloc, calloc_of_many_is_zero_too) {
    unsigned char *blocks[50];
    for (unsigned round = 0; round < 3; round++) {
        for (size_t i = 0; i < ARRAY_COUNT(blocks); i++) {
            blocks[i] = alloc_calloc(i + 1, 1000);
            cr_assert(reads_zero(blocks[i], (i + 1) * 1000));
            memset(blocks[i], 0x5a, alloc_usable_size(blocks[i]));
        }
        for (size_t i = 0; i < ARRAY_COUNT(blocks); i++)
            alloc_free(blocks[i]);
    }
}

/* --- frees --- */

Test(alloc, free_of_null_does_nothing) {
    errno = EXDEV;
    alloc_free(NULL);
    cr_assert_eq(errno, EXDEV);
    cr_assert_eq(counters_read(COUNTER_foreign_frees), 0u);
}

Test(alloc, usable_size_is_0_of_what_is_no_block) {
    int local = 0;
    char *large = alloc_malloc(MIB);
    cr_assert_eq(alloc_usable_size(NULL), 0u);
    cr_assert_eq(alloc_usable_size(&local), 0u);
    cr_assert_eq(alloc_usable_size(large + 16), 0u);
    cr_assert_eq(alloc_usable_size(large + MIB / 2), 0u);
    alloc_free(large);
    cr_assert_eq(alloc_usable_size(large), 0u);
}

/* Frees `p`, which is wrong; returns what is said. */
static const char *free_wrongly(void *p) {
    static char text[256];
    errno = EXDEV;
    struct capture c = capture_start();
    alloc_free(p);
    capture_end(c, text, sizeof text);
    cr_assert_eq(errno, EXDEV);
    return text;
}

Test(alloc, a_foreign_pointer_is_ignored) {
    int local = 0;
    cr_assert_not_null(strstr(free_wrongly(&local), "not Fallow's"));
    cr_assert_eq(counters_read(COUNTER_foreign_frees), 1u);
}

Test(alloc, a_pointer_into_a_large_block_is_ignored) {
    char *p = alloc_malloc(MIB);
    free_wrongly(p + 16);
    free_wrongly(p + MIB / 2);
    cr_assert_eq(counters_read(COUNTER_foreign_frees), 2u);
    cr_assert_geq(alloc_usable_size(p), (size_t)MIB);
    alloc_free(p);
}

Test(alloc, a_large_block_freed_twice_is_seen) {
    static const size_t sizes[] = {300 * KIB, 2 * MIB, 5 * MIB};
    for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
        void *p = alloc_malloc(sizes[i]);
        alloc_free(p);
        cr_assert_not_null(strstr(free_wrongly(p), "double free"), "%zu bytes", sizes[i]);
        cr_assert_eq(counters_read(COUNTER_double_frees), i + 1);
    }
}

Test(alloc, the_small_block_freed_last_freed_again_is_seen) {
    void *first = alloc_malloc(100), *p = alloc_malloc(100);
    alloc_free(p);
    cr_assert_not_null(strstr(free_wrongly(p), "double free"));
    cr_assert_eq(alloc_malloc(100), p);
    alloc_free(p);
    alloc_free(first);
    cr_assert_not_null(strstr(free_wrongly(first), "double free"));
}

static void *free_it(void *p) {
    alloc_free(p);
    return NULL;
}

Test(alloc, another_thread_may_free_a_block_of_any_size) {
    for (size_t i = 0; each_size(i) != SIZE_MAX; i++) {
        pthread_t thread;
        void *p = alloc_malloc(each_size(i));
        cr_assert_eq(pthread_create(&thread, NULL, free_it, p), 0);
        pthread_join(thread, NULL);
    }
    cr_assert_eq(counters_read(COUNTER_foreign_frees) + counters_read(COUNTER_double_frees), 0u);
}

/* --- a thread without a heap of its own any more --- */

/* ThreadSanitizer leaves a thread alone in the last round. */
enum { ROUNDS = PTHREAD_DESTRUCTOR_ITERATIONS - FALLOW_TSAN };

static pthread_key_t key;
static unsigned rounds;
static void *last_block;

static void use_the_heap(void *value) {
    if (++rounds < ROUNDS) {
        pthread_setspecific(key, value);
        return;
    }
    cr_assert_null(thread_self.heap);
    for (size_t i = 0; each_size(i) != SIZE_MAX; i++) {
        char *p = alloc_malloc(each_size(i)), *q = alloc_calloc(1, each_size(i));
        p = alloc_realloc(p, each_size(i) + 100);
        cr_assert(p != NULL && q != NULL);
        alloc_free(q);
        alloc_free(p);
    }
    static void *blocks[100];
    for (size_t i = 0; i < ARRAY_COUNT(blocks); i++)
        blocks[i] = alloc_malloc(1000);
    for (size_t i = 0; i < ARRAY_COUNT(blocks); i++)
        alloc_free(blocks[i]);
    alloc_free(value);
    last_block = alloc_malloc(1000);
}

static void *leave_a_block(void *arg) {
    (void)arg;
    pthread_setspecific(key, alloc_malloc(1000));
    return NULL;
}

Test(alloc, after_a_threads_heap_has_gone_all_calls_work) {
    pthread_t thread;
    cr_assert_eq(pthread_key_create(&key, use_the_heap), 0);
    cr_assert_eq(pthread_create(&thread, NULL, leave_a_block, NULL), 0);
    pthread_join(thread, NULL);
    cr_assert_eq(rounds, (unsigned)ROUNDS);
    cr_assert_geq(alloc_usable_size(last_block), 1000u);
    alloc_free(last_block);
    cr_assert_eq(counters_read(COUNTER_double_frees), 0u);
}

/* --- immediate purging --- */

static _Atomic(void *) passed_on;

static void *leave_a_large_block(void *arg) {
    (void)arg;
    atomic_store(&passed_on, memset(alloc_malloc(MIB), 1, MIB));
    return NULL;
}

Test(alloc, purging_at_once_reaches_the_arenas_of_other_threads) {
    pthread_t thread;
    options.narenas = 2;
    options.dirty_decay_ms = 0;
    alloc_free(alloc_malloc(MIB));
    cr_assert_eq(pthread_create(&thread, NULL, leave_a_large_block, NULL), 0);
    pthread_join(thread, NULL);
    cr_assert_eq(arena_count(), 2u);
    alloc_free(passed_on);
    for (unsigned i = 0; i < 2; i++)
        cr_assert_eq(arena_at(i)->domain.dirty, 0u);
    cr_assert_geq(counters_read(COUNTER_lazy_advised_bytes), 2u * MIB);
}
