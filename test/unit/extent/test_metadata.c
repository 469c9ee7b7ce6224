/* Memory for descriptors: zero, apart from each other, counted; and when there is no more. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <string.h>

#include "../environment.h"
#include "compiler.h"
#include "metadata.h"

enum { BLOCK_BYTES = 256 << 10, THREADS = 4, PIECES = 500 };

static bool is_zero(const char *bytes, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (bytes[i] != 0)
            return false;
    return true;
}

Test(metadata, is_zero_and_aligned_to_a_cache_line) {
    static const size_t sizes[] = {1, 63, 64, 65, 192, 4096, 8192};
    for (unsigned round = 0; round < 40; round++) {
        for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
            char *p = metadata_alloc(sizes[i]);
            cr_assert_not_null(p);
            cr_assert(is_aligned((size_t)p, CACHE_LINE));
            cr_assert(is_zero(p, sizes[i]));
            memset(p, 0xff, sizes[i]);
        }
    }
}

Test(metadata, small_pieces_come_from_one_block) {
    char *last = metadata_alloc(64);
    size_t mapped = metadata_mapped_bytes();
    for (unsigned i = 2; i < BLOCK_BYTES / 64; i++) { /* the first 64 bytes say whose it is */
        char *p = metadata_alloc(64);
        cr_assert_eq(p, last + 64);
        last = p;
    }
    cr_assert_eq(metadata_mapped_bytes(), mapped);
    cr_assert_not_null(metadata_alloc(64));
    cr_assert_eq(metadata_mapped_bytes(), mapped + BLOCK_BYTES);
}

Test(metadata, what_exceeds_a_block_gets_its_own) {
    size_t before = metadata_mapped_bytes();
    char *p = metadata_alloc(3 * (size_t)BLOCK_BYTES);
    cr_assert_not_null(p);
    cr_assert(is_zero(p, 3 * (size_t)BLOCK_BYTES));
    memset(p, 1, 3 * (size_t)BLOCK_BYTES);
    cr_assert_geq(metadata_mapped_bytes() - before, 3 * (size_t)BLOCK_BYTES);
    char *small = metadata_alloc(64);
    cr_assert(is_zero(small, 64));
}

Test(metadata, mappings_made_elsewhere_are_counted) {
    size_t before = metadata_mapped_bytes();
    metadata_account(12345);
    cr_assert_eq(metadata_mapped_bytes(), before + 12345);
}

Test(metadata, a_count_agrees_with_the_kernel) {
    skip_under_tools();
    metadata_alloc(64);
    size_t space = address_space_bytes(), counted = metadata_mapped_bytes();
    for (unsigned i = 0; i < 2000; i++)
        metadata_alloc(1000);
    cr_assert_gt(metadata_mapped_bytes(), counted);
    cr_assert_eq(address_space_bytes() - space, metadata_mapped_bytes() - counted);
}

Test(metadata, without_address_space_it_is_null) {
    skip_under_tools();
    metadata_alloc(64);
    size_t counted = metadata_mapped_bytes();
    address_space_limit(0);
    unsigned got = 0;
    while (metadata_alloc(4096) != NULL)
        got++;
    cr_assert_null(metadata_alloc((size_t)1 << 20));
    address_space_free();
    cr_assert_leq(got, (unsigned)BLOCK_BYTES / 4096);
    cr_assert_eq(metadata_mapped_bytes(), counted);
    cr_assert_not_null(metadata_alloc(4096));
}

Test(metadata, a_few_pages_are_enough_where_a_block_is_not_to_be_had) {
    skip_under_tools();
    metadata_alloc(64);
    address_space_limit(16 << 10);
    unsigned got = 0;
    while (metadata_alloc(4096) != NULL)
        got++;
    address_space_free();
    cr_assert_geq(got, 4u);
    cr_assert_leq(got, 4 + (unsigned)BLOCK_BYTES / 4096);
}

static void *take_pieces(void *arg) {
    char **pieces = arg;
    for (unsigned i = 0; i < PIECES; i++) {
        pieces[i] = metadata_alloc(128);
        cr_assert_not_null(pieces[i]);
        cr_assert(is_zero(pieces[i], 128));
        memset(pieces[i], 0xff, 128); /* a shared piece would not be zero for the other */
    }
    return NULL;
}

Test(metadata, threads_get_pieces_of_their_own) {
    static char *pieces[THREADS][PIECES];
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, take_pieces, pieces[i]), 0);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static size_t ranges, range_bytes;

static void add_range(void *base, size_t bytes, void *context) {
    (void)base;
    (void)context;
    ranges++;
    range_bytes += bytes;
}

Test(metadata, all_that_is_mapped_is_in_the_ranges) {
    for (unsigned i = 0; i < 20; i++)
        metadata_alloc(100000);
    metadata_alloc(2 * (size_t)BLOCK_BYTES);
    ranges = range_bytes = 0;
    metadata_visit(add_range, NULL);
    cr_assert_geq(ranges, 1u);
    cr_assert_eq(range_bytes, metadata_mapped_bytes());
}

Test(metadata, an_address_is_found_in_its_range) {
    char *p = metadata_alloc(64);
    const char *end = p + 4096;
    cr_assert(metadata_find(p, &end));
    cr_assert_eq(end, p + 4096);
    end = (const char *)UINTPTR_MAX;
    cr_assert(metadata_find(p, &end));
    cr_assert_gt(end, p);
    cr_assert_leq(end, p + 2 * (size_t)BLOCK_BYTES);
    const char *elsewhere = (const char *)(uintptr_t)4096;
    end = (const char *)UINTPTR_MAX;
    cr_assert_not(metadata_find(elsewhere, &end));
    cr_assert_leq(end, p); /* where the lowest range begins */
}
