/* Mappings are exactly what was asked for, and moved pages keep their contents. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "os_file.h"
#include "os_map.h"
#include "os_page.h"

enum { MIB_BYTES = 1 << 20, HUGE_BYTES = 2 * MIB_BYTES };

/* Valgrind maps memory of its own meanwhile, and dies of an mremap that fails. */
static void skip_under_valgrind(void) {
    const char *preload = getenv("LD_PRELOAD");
    if (preload != NULL && strstr(preload, "vgpreload") != NULL)
        cr_skip_test("not under valgrind");
}

/* Address space of the process. */
static size_t mapped_bytes(void) {
    char text[128];
    cr_assert(os_file_read_all("/proc/self/statm", text, sizeof text) > 0);
    return strtoul(text, NULL, 10) * os_page_size();
}

/* A range that was mapped a moment ago and is free now. */
static void *free_range(size_t bytes) {
    void *range = os_map_aligned(bytes, HUGE_BYTES, NULL);
    cr_assert_not_null(range);
    cr_assert(os_unmap(range, bytes));
    return range;
}

Test(map, is_zero_and_writable) {
    size_t bytes = 3 * os_page_size();
    unsigned char *map = os_map(bytes, NULL);
    cr_assert_not_null(map);
    for (size_t i = 0; i < bytes; i++)
        cr_assert_eq(map[i], 0);
    memset(map, 1, bytes);
    cr_assert(os_unmap(map, bytes));
}

Test(map, failure_is_null_and_leaves_errno_alone) {
    errno = EXDEV;
    cr_assert_null(os_map((size_t)1 << 60, NULL));
    cr_assert_null(os_map_aligned((size_t)1 << 60, HUGE_BYTES, NULL));
    cr_assert_null(os_map_aligned(SIZE_MAX - HUGE_BYTES + 1, HUGE_BYTES, NULL));
    cr_assert_null(os_map(0, NULL));
    cr_assert_not(os_unmap((void *)1, os_page_size()));
    cr_assert_eq(errno, EXDEV);
}

Test(map, aligned_maps_the_range_and_no_more) {
    skip_under_valgrind();
    size_t before = mapped_bytes();
    size_t expected = 0;
    for (size_t align = os_page_size(); align <= 64UL * MIB_BYTES; align *= 2) {
        for (size_t bytes = os_page_size(); bytes <= 4UL * MIB_BYTES; bytes *= 4) {
            char *map = os_map_aligned(bytes, align, NULL);
            cr_assert_not_null(map);
            cr_assert(is_aligned((size_t)map, align));
            map[0] = 1;
            map[bytes - 1] = 1;
            expected += bytes;
            cr_assert_eq(mapped_bytes() - before, expected, "%zu at %zu", bytes, align);
        }
    }
}

Test(map, aligned_takes_a_free_hint) {
    char *hint = free_range(8UL * MIB_BYTES);
    cr_assert_eq(os_map_aligned(HUGE_BYTES, HUGE_BYTES, hint), hint);
    cr_assert_eq(os_map_aligned(HUGE_BYTES, HUGE_BYTES, hint + 2UL * HUGE_BYTES),
                 hint + 2UL * HUGE_BYTES);
}

Test(map, aligned_goes_elsewhere_when_the_hint_is_taken) {
    char *taken = os_map_aligned(HUGE_BYTES, HUGE_BYTES, NULL);
    taken[0] = 7;
    char *other = os_map_aligned(HUGE_BYTES, HUGE_BYTES, taken);
    cr_assert_not_null(other);
    cr_assert_neq(other, taken);
    cr_assert(is_aligned((size_t)other, HUGE_BYTES));
    cr_assert_eq(taken[0], 7);
}

Test(map, fixed_replaces_nothing) {
    char *range = free_range(4UL * HUGE_BYTES);
    errno = EXDEV;
    cr_assert(os_map_fixed_noreplace(range + HUGE_BYTES, HUGE_BYTES));
    range[HUGE_BYTES] = 7;
    cr_assert_not(os_map_fixed_noreplace(range + HUGE_BYTES, HUGE_BYTES));
    cr_assert_not(os_map_fixed_noreplace(range, 4UL * HUGE_BYTES));
    cr_assert_eq(range[HUGE_BYTES], 7);
    cr_assert(os_map_fixed_noreplace(range, HUGE_BYTES));
    cr_assert_eq(errno, EXDEV);
}

Test(map, a_refused_fixed_mapping_leaves_nothing_behind) {
    skip_under_valgrind();
    char *taken = os_map_aligned(HUGE_BYTES, HUGE_BYTES, NULL);
    size_t before = mapped_bytes();
    cr_assert_not(os_map_fixed_noreplace(taken, HUGE_BYTES));
    cr_assert_not(os_map_fixed_noreplace(taken, 2UL * HUGE_BYTES));
    cr_assert_eq(mapped_bytes(), before);
}

static void fill(char *at, size_t bytes) {
    for (size_t i = 0; i < bytes; i += 512)
        at[i] = (char)(i / 512 + 1);
}

static void expect_filled(const char *at, size_t bytes) {
    for (size_t i = 0; i < bytes; i += 512)
        cr_assert_eq(at[i], (char)(i / 512 + 1));
}

Test(remap, moves_the_pages_and_keeps_the_source_mapped) {
    skip_under_valgrind();
    char *from = os_map_aligned(HUGE_BYTES, HUGE_BYTES, NULL);
    char *to = os_map_aligned(HUGE_BYTES, HUGE_BYTES, NULL);
    memset(to, 9, HUGE_BYTES);
    fill(from, HUGE_BYTES);
    errno = EXDEV;
    cr_assert(os_remap_move(from, to, HUGE_BYTES)); /* 5.7 */
    expect_filled(to, HUGE_BYTES);
    for (size_t i = 0; i < HUGE_BYTES; i += 512)
        cr_assert_eq(from[i], 0);
    from[0] = 1;
    cr_assert_eq(errno, EXDEV);
}

Test(remap, failure_leaves_source_and_a_mapped_destination) {
    skip_under_valgrind();
    /* A source that begins with a hole: refused by every kernel. */
    char *from = os_map_aligned(2UL * HUGE_BYTES, HUGE_BYTES, NULL);
    char *to = os_map_aligned(2UL * HUGE_BYTES, HUGE_BYTES, NULL);
    fill(from + HUGE_BYTES, HUGE_BYTES);
    cr_assert(os_unmap(from, HUGE_BYTES));
    cr_assert_not(os_remap_move(from, to, 2UL * HUGE_BYTES));
    expect_filled(from + HUGE_BYTES, HUGE_BYTES);
    memset(to, 1, 2UL * HUGE_BYTES);
}
