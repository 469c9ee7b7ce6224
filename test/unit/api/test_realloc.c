/* realloc between all kinds of blocks: the contents, the addresses, and the conventions. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "../capture.h"
#include "../environment.h"
#include "../random.h"
#include "alloc.h"
#include "counters.h"
#include "options.h"

enum { KIB = 1024, MIB = 1024 * KIB, SLOTS = 60, STEPS = 6000 };

static void small_pages(void) {
    options.thp = THP_NEVER;
}

TestSuite(realloc, .init = small_pages);

/* Small, with slabs of many objects and of one; large; huge; and the borders between them. */
static const size_t sizes[] = {
    1,         16,          17,      100,         1000,        1024,
    1025,      5000,        40000,   150 * KIB,   256 * KIB,   256 * KIB + 1,
    300 * KIB, 2 * MIB - 1, 2 * MIB, 2 * MIB + 1, 5 * MIB + 7, 8 * MIB};

static void mark(unsigned char *p, size_t from, size_t bytes) {
    for (size_t i = from; i < bytes; i += i < 300 ? 1 : 509)
        p[i] = (unsigned char)(i * 7 + 1);
    if (bytes > from)
        p[bytes - 1] = (unsigned char)((bytes - 1) * 7 + 1);
}

static void expect_marked(const unsigned char *p, size_t bytes) {
    for (size_t i = 0; i < bytes; i += i < 300 ? 1 : 509)
        cr_assert_eq(p[i], (unsigned char)(i * 7 + 1), "at %zu of %zu", i, bytes);
}

Test(realloc, contents_are_kept_between_all_kinds_of_blocks) {
    for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
        for (size_t k = 0; k < ARRAY_COUNT(sizes); k++) {
            unsigned char *p = alloc_malloc(sizes[i]);
            mark(p, 0, sizes[i]);
            errno = EXDEV;
            p = alloc_realloc(p, sizes[k]);
            cr_assert_not_null(p, "%zu to %zu", sizes[i], sizes[k]);
            cr_assert_eq(errno, EXDEV);
            cr_assert(is_aligned((uintptr_t)p, 16));
            cr_assert_geq(alloc_usable_size(p), sizes[k]);
            expect_marked(p, min_size(sizes[i], sizes[k]));
            mark(p, 0, sizes[k]);
            alloc_free(p);
        }
    }
    cr_assert_eq(counters_read(COUNTER_double_frees) + counters_read(COUNTER_foreign_frees), 0u);
}

Test(realloc, up_and_down_through_all_sizes_in_a_row) {
    unsigned char *p = NULL;
    size_t had = 0;
    for (unsigned round = 0; round < 3; round++) {
        for (size_t i = 0; i < 2 * ARRAY_COUNT(sizes); i++) {
            size_t size = sizes[i < ARRAY_COUNT(sizes) ? i : 2 * ARRAY_COUNT(sizes) - 1 - i];
            p = alloc_realloc(p, size);
            expect_marked(p, min_size(had, size));
            mark(p, 0, size);
            had = size;
        }
    }
    alloc_free(p);
}

Test(realloc, of_null_is_malloc) {
    void *p = alloc_realloc(NULL, 100);
    cr_assert_geq(alloc_usable_size(p), 100u);
    alloc_free(p);
    cr_assert_not_null(alloc_realloc(NULL, 0));
}

Test(realloc, to_nothing_is_free) {
    for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
        void *p = alloc_malloc(sizes[i]);
        errno = EXDEV;
        cr_assert_null(alloc_realloc(p, 0));
        cr_assert_eq(errno, EXDEV);
        if (sizes[i] > CLASS_MAX_BYTES)
            cr_assert_eq(alloc_usable_size(p), 0u);
    }
}

Test(realloc, of_what_is_not_ours_is_einval) {
    char text[256];
    int local = 0;
    char *large = alloc_malloc(MIB);
    struct capture c = capture_start();
    errno = EXDEV;
    void *foreign = alloc_realloc(&local, 100);
    int foreign_errno = errno;
    errno = EXDEV;
    void *inside = alloc_realloc(large + 16, 100);
    int inside_errno = errno;
    capture_end(c, text, sizeof text);
    cr_assert_null(foreign);
    cr_assert_eq(foreign_errno, EINVAL);
    cr_assert_null(inside);
    cr_assert_eq(inside_errno, EINVAL);
    cr_assert_eq(counters_read(COUNTER_foreign_frees), 2u);
}

Test(realloc, to_what_cannot_be_leaves_the_block_alone) {
    for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
        unsigned char *p = alloc_malloc(sizes[i]);
        mark(p, 0, sizes[i]);
        static const size_t most[] = {SIZE_MAX, PTRDIFF_MAX, (size_t)1 << 47};
        for (size_t k = 0; k < ARRAY_COUNT(most); k++) {
            errno = EXDEV;
            cr_assert_null(alloc_realloc(p, most[k]));
            cr_assert_eq(errno, ENOMEM);
        }
        expect_marked(p, sizes[i]);
        alloc_free(p);
    }
}

Test(realloc, of_an_array_checks_the_product) {
    unsigned char *p = alloc_reallocarray(NULL, 10, 10);
    mark(p, 0, 100);
    p = alloc_reallocarray(p, 1000, 1000);
    cr_assert_geq(alloc_usable_size(p), 1000000u);
    expect_marked(p, 100);
    errno = 0;
    cr_assert_null(alloc_reallocarray(p, SIZE_MAX / 2, 3));
    cr_assert_eq(errno, ENOMEM);
    expect_marked(p, 100);
    cr_assert_null(alloc_reallocarray(p, 0, 3));
}

/* --- where the block stays --- */

Test(realloc, within_its_class_a_block_stays_where_it_is) {
    for (unsigned class = 0; class < CLASS_COUNT; class ++) {
        size_t least = class == 0 ? 1 : class_bytes(class - 1) + 1;
        void *p = alloc_malloc(class_bytes(class));
        cr_assert_eq(alloc_realloc(p, least), p, "%zu to %zu bytes", class_bytes(class), least);
        cr_assert_eq(alloc_realloc(p, class_bytes(class)), p);
        alloc_free(p);
    }
}

Test(realloc, a_small_block_that_shrinks_much_gives_the_rest_back) {
    void *p = alloc_malloc(200 * KIB);
    p = alloc_realloc(p, 100);
    cr_assert_lt(alloc_usable_size(p), 1000u);
    alloc_free(p);
}

Test(realloc, a_large_block_shrinks_in_place) {
    for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
        for (size_t k = 0; k <= i; k++) {
            if (sizes[k] <= CLASS_MAX_BYTES)
                continue;
            void *p = alloc_malloc(sizes[i]);
            cr_assert_eq(alloc_realloc(p, sizes[k]), p, "%zu to %zu", sizes[i], sizes[k]);
            alloc_free(p);
        }
    }
}

Test(realloc, a_large_block_grows_in_place_where_there_is_room) {
    char *p = alloc_malloc(300 * KIB);
    for (size_t size = 300 * KIB; size <= 2 * MIB; size += 50 * KIB)
        cr_assert_eq(alloc_realloc(p, size), p, "to %zu", size);
    alloc_free(p);
}

Test(realloc, a_growing_huge_block_is_not_copied) {
    skip_where_nothing_moves();
    unsigned char *p = alloc_malloc(4 * MIB);
    mark(p, 0, 4 * MIB);
    void *in_the_way = alloc_malloc(3 * MIB);
    uint64_t moves = counters_read(COUNTER_remap_moves);
    size_t had = 4 * MIB;
    for (size_t size = 8 * MIB; size <= 64 * MIB; size *= 2) {
        unsigned char *q = alloc_realloc(p, size);
        moves += q != p;
        p = q;
        expect_marked(p, had);
        mark(p, 0, size);
        had = size;
    }
    cr_assert_eq(counters_read(COUNTER_remap_moves), moves);
    alloc_free(in_the_way);
    alloc_free(p);
}

/* --- random --- */

struct slot {
    unsigned char *p;
    size_t bytes;
};

Test(realloc, contents_survive_random_use) {
    static struct slot slots[SLOTS];
    struct random r = {31};
    unsigned steps = under_valgrind() ? STEPS / 10 : STEPS;
    for (unsigned step = 0; step < steps; step++) {
        struct slot *s = &slots[random_below(&r, SLOTS)];
        size_t bytes = 1 + (random_below(&r, 8 * MIB) >> random_below(&r, 22));
        s->p = alloc_realloc(s->p, bytes);
        expect_marked(s->p, min_size(s->bytes, bytes));
        mark(s->p, 0, bytes);
        s->bytes = bytes;
        if (random_below(&r, 5) == 0) {
            alloc_free(s->p);
            *s = (struct slot){NULL, 0};
        }
    }
}
