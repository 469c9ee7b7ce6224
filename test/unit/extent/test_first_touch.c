/* What is believed of the cost of a huge page's first touch, and what follows from that. */
#include <criterion/criterion.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "../environment.h"
#include "arena.h"
#include "counters.h"
#include "first_touch.h"
#include "huge.h"
#include "options.h"
#include "os_clock.h"
#include "os_inject.h"
#include "small_pages.h"
#include "space.h"

enum { CHEAP = 100000, DEAR = 5000000, CHUNKS = 64 };

static const uint64_t second = 1000000000;

Test(first_touch, nothing_is_dear_before_it_was_tried) {
    cr_assert_not(first_touch_is_dear(0));
    cr_assert_not(first_touch_is_dear(second));
}

Test(first_touch, one_dear_touch_is_not_believed) {
    first_touch_note(second, DEAR);
    cr_assert_not(first_touch_is_dear(second));
    first_touch_note(second, CHEAP);
    first_touch_note(second, DEAR);
    cr_assert_not(first_touch_is_dear(second));
    cr_assert_eq(counters_read(COUNTER_huge_touches_timed), 3u);
    cr_assert_eq(counters_read(COUNTER_huge_touches_dear), 2u);
}

Test(first_touch, two_in_a_row_are_for_a_time_in_proportion) {
    first_touch_note(second, DEAR);
    first_touch_note(second, DEAR);
    cr_assert(first_touch_is_dear(second));
    cr_assert(first_touch_is_dear(second + (uint64_t)DEAR * 200 - 1));
    cr_assert_not(first_touch_is_dear(second + (uint64_t)DEAR * 200));
}

Test(first_touch, but_never_for_long) {
    first_touch_note(second, second);
    first_touch_note(second, second);
    cr_assert(first_touch_is_dear(3 * second - 1));
    cr_assert_not(first_touch_is_dear(3 * second));
}

Test(first_touch, while_dear_new_chunks_stay_on_small_pages_by_default_alone) {
    options.thp = THP_AUTO;
    space_init();
    cr_assert_not_null(space_take(CHUNKS, 1)); /* no small process any more */
    cr_assert_not(small_pages_are_wanted());
    uint64_t now_ns = os_clock_coarse_ns();
    first_touch_note(now_ns, 2 * second);
    first_touch_note(now_ns, 2 * second);
    cr_assert(small_pages_are_wanted());
    cr_assert_not(space_take(1, 1)->huge);
    options.thp = THP_ALWAYS;
    cr_assert_not(small_pages_are_wanted());
}

/* Where it is not, whatever this machine's own touches cost. */
Test(first_touch, a_sample_changes_nothing_of_what_is_read) {
    options.thp = THP_ALWAYS;
    space_init();
    struct chunk *chunk = space_take(1, 1);
    cr_assert_not_null(chunk);
    first_touch_sample(chunk, false);
    for (size_t i = 0; i < CHUNK_BYTES; i += 4096)
        cr_assert_eq(chunk->base[i], 0);
    cr_assert_leq(counters_read(COUNTER_huge_touches_timed), 1u);
}

#if FALLOW_DEBUG

static bool dear_when_advised;

/* Huge pages become dear between being asked for and the sample. */
bool fallow_test_call(long number, const long arguments[6], long *result) {
    *result = 0;
    if (dear_when_advised && number == SYS_madvise && arguments[2] == MADV_HUGEPAGE) {
        uint64_t now_ns = os_clock_coarse_ns();
        first_touch_note(now_ns, 2 * second);
        first_touch_note(now_ns, 2 * second);
    }
    return false;
}

Test(first_touch, a_large_block_does_without_huge_pages_but_for_the_first) {
    options.thp = THP_AUTO;
    space_init();
    cr_assert_not_null(space_take(CHUNKS, 1));
    struct arena *arena = arena_attach(false);
    if (small_pages_are_wanted() || !space_take(1, 1)->huge)
        cr_skip_test("no huge pages here");
    dear_when_advised = true;
    struct extent *extent = huge_take(arena, 4 * CHUNK_GRANULES, 1, false);
    dear_when_advised = false;
    cr_assert(first_touch_is_dear(os_clock_coarse_ns()));
    struct chunk *first = extent->chunk;
    cr_assert(first->huge);
    for (size_t i = 1; i < 4; i++) {
        const struct chunk *chunk = space_chunk_at(first->base + i * CHUNK_BYTES);
        cr_assert_not(chunk->huge, "chunk %zu", i);
        cr_assert(chunk->small, "chunk %zu", i);
    }
}

Test(first_touch, one_that_shall_be_zero_is_not_touched) {
    options.thp = THP_AUTO;
    space_init();
    cr_assert_not_null(space_take(CHUNKS, 1));
    struct extent *extent = huge_take(arena_attach(false), 4 * CHUNK_GRANULES, 1, true);
    cr_assert_not_null(extent);
    cr_assert_eq(counters_read(COUNTER_huge_touches_timed), 0u);
}

#endif
