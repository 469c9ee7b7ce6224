/* The malloc family when there is no memory, or when more is asked for than there can be. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>
#include <time.h>

#include "../environment.h"
#include "alloc.h"
#include "options.h"
#include "stats.h"

enum { MIB = 1024 * 1024 };

static void small_pages(void) {
    options.thp = THP_NEVER;
}

TestSuite(alloc_limits, .init = small_pages);

Test(alloc_limits, without_address_space_it_is_enomem_and_nothing_is_lost) {
    skip_under_tools();
    char *kept = alloc_malloc(5 * MIB);
    memset(kept, 7, 5 * MIB);
    void *aligned = &aligned;
    address_space_limit(0);
    errno = EXDEV;
    void *malloced = alloc_malloc(40 * MIB);
    int malloc_errno = errno;
    void *calloced = alloc_calloc(40, MIB);
    void *grown = alloc_realloc(kept, 40 * MIB);
    errno = EXDEV;
    int aligned_error = alloc_posix_memalign(&aligned, 64 * MIB, 1);
    int aligned_errno = errno;
    void *small = alloc_malloc(100);
    address_space_free();
    cr_assert_null(malloced);
    cr_assert_eq(malloc_errno, ENOMEM);
    cr_assert_null(calloced);
    cr_assert_null(grown);
    cr_assert_eq(aligned_error, ENOMEM);
    cr_assert_eq(aligned_errno, EXDEV);
    cr_assert_eq(aligned, &aligned);
    cr_assert_not_null(small);
    for (size_t i = 0; i < 5 * MIB; i++)
        cr_assert_eq(kept[i], 7);
    alloc_free(kept);
    void *now = alloc_malloc(40 * MIB);
    cr_assert_not_null(now);
    alloc_free(now);
}

Test(alloc_limits, a_tebibyte_costs_no_metadata_to_speak_of) {
    skip_under_tools();
    struct fallow_stats before, after;
    stats_read(&before);
    void *p = alloc_malloc((size_t)1 << 40);
    alloc_free(p);
    stats_read(&after);
    cr_assert_lt(after.metadata_bytes - before.metadata_bytes, 64u * MIB);
}

Test(alloc_limits, small_blocks_run_out_in_order_too) {
    skip_under_tools();
    static void *blocks[200000];
    size_t n = 0;
    alloc_free(alloc_malloc(1));
    address_space_limit(16 * MIB);
    errno = EXDEV;
    while (n < ARRAY_COUNT(blocks) && (blocks[n] = alloc_malloc(200)) != NULL)
        n++;
    int got_errno = errno;
    address_space_free();
    cr_assert_lt(n, ARRAY_COUNT(blocks));
    cr_assert_gt(n * 200, 10u * MIB); /* most of what there was */
    cr_assert_eq(got_errno, ENOMEM);
    while (n-- > 0)
        alloc_free(blocks[n]);
    cr_assert_not_null(alloc_malloc(200));
}
