/* Chunks that are advised against huge pages: as many as cost few maps. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "../environment.h"
#include "options.h"
#include "small_pages.h"
#include "space.h"

enum { CHUNKS = 300, MAPS_MAX = 200 };

static char *base;

static void start_small_pages(void) {
    space_init();
    options.thp = THP_AUTO;
    struct chunk *first = space_take(CHUNKS, 1);
    cr_assert_not_null(first);
    base = first->base;
}

TestSuite(small_pages, .init = start_small_pages);

static struct chunk *chunk_at(size_t i) {
    return space_chunk_at(base + (i << CHUNK_SHIFT));
}

/* Advises each `step`th chunk from `first` on; returns how many are advised then. */
static size_t keep_each(size_t first, size_t step) {
    size_t kept = 0;
    for (size_t i = first; i < CHUNKS; i += step) {
        small_pages_keep(chunk_at(i), 1);
        kept += chunk_at(i)->small;
    }
    return kept;
}

static size_t maps_now(void) {
    size_t lines = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    for (int c; (c = getc(maps)) != EOF;)
        lines += c == '\n';
    fclose(maps);
    return lines;
}

Test(small_pages, neighbours_share_a_map) {
    size_t before = maps_now();
    cr_assert_eq(keep_each(0, 1), (size_t)CHUNKS);
    if (!UNDER_SANITIZER && !under_valgrind())
        cr_assert_leq(maps_now(), before + 8);
}

Test(small_pages, alone_they_are_bounded) {
    size_t before = maps_now();
    cr_assert_eq(keep_each(1, 2), (size_t)MAPS_MAX / 2);
    if (!UNDER_SANITIZER && !under_valgrind())
        cr_assert_leq(maps_now(), before + MAPS_MAX + 8);
}

Test(small_pages, filling_a_gap_makes_room_for_another) {
    cr_assert_eq(keep_each(1, 2), (size_t)MAPS_MAX / 2);
    cr_assert_not(chunk_at(CHUNKS - 1)->small);
    small_pages_keep(chunk_at(2), 1); /* 1 and 3 are: one map instead of three */
    cr_assert(chunk_at(2)->small);
    small_pages_keep(chunk_at(CHUNKS - 1), 1);
    cr_assert(chunk_at(CHUNKS - 1)->small);
}

Test(small_pages, one_that_is_forgotten_makes_room_too) {
    cr_assert_eq(keep_each(1, 2), (size_t)MAPS_MAX / 2);
    small_pages_forget(chunk_at(1));
    small_pages_forget(chunk_at(1)); /* again: nothing */
    cr_assert_not(chunk_at(1)->small);
    small_pages_keep(chunk_at(CHUNKS - 1), 1);
    small_pages_keep(chunk_at(CHUNKS - 3), 1);
    cr_assert_eq(chunk_at(CHUNKS - 1)->small + chunk_at(CHUNKS - 3)->small, 1);
}

Test(small_pages, what_moves_takes_its_advice_along) {
    small_pages_keep(chunk_at(5), 1);
    small_pages_copy(chunk_at(5), chunk_at(9));
    cr_assert(chunk_at(9)->small);
    small_pages_copy(chunk_at(6), chunk_at(9));
    cr_assert_not(chunk_at(9)->small);
}
