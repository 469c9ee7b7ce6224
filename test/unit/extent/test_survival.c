/* What of the lazy memory the kernel has taken is noticed: at reuse, in a survey, before the second
   stage. The test takes it itself. */
#include "../environment.h"
#include "arena.h"
#include "os_advise.h"
#include "os_status.h"
#include "purge_by_hand.h"

static struct chunk *chunk;

/* A lazy chunk in a process that is not small. */
static void start_survival(void) {
    skip_under_tools();
    if (!os_status_is_unfiltered())
        cr_skip_test("this process is in a sandbox");
    start_purge();
    arena_attach(true);
    chunk = chunk_like("addda");
    purge_all(false);
    expect_picture(chunk, "a~~~a.");
}

TestSuite(survival, .init = start_survival);

static void kernel_takes(unsigned granule) {
    cr_assert_eq(os_advise(chunk_address(chunk, granule), GRANULE_BYTES, OS_ADVISE_DONTNEED), 0);
}

static uint64_t granules_counted(enum counter counter) {
    return counters_read(counter) / GRANULE_BYTES;
}

Test(survival, the_second_stage_advises_what_is_left) {
    kernel_takes(2);
    poll_after(0);
    poll_after(LAZY_DECAY + EPOCH);
    expect_picture(chunk, "a...a.");
    cr_assert_eq(granules_counted(COUNTER_lazy_reclaimed_bytes), 1u);
    cr_assert_eq(granules_counted(COUNTER_clean_advised_bytes), 2u);
    expect_law();
}

Test(survival, what_is_missing_at_reuse_has_the_rest_surveyed) {
    kernel_takes(1);
    kernel_takes(3);
    cr_assert(arena_take_at(chunk, 1, 1));
    cr_assert_eq(granules_counted(COUNTER_lazy_reused_bytes), 1u);
    cr_assert_eq(granules_counted(COUNTER_lazy_sampled_bytes), 1u);
    cr_assert_eq(counters_read(COUNTER_lazy_survived_bytes), 0u);
    poll_after(0);
    poll_after(2 * EPOCH);
    expect_picture(chunk, "aa~.a.");
    cr_assert_eq(granules_counted(COUNTER_lazy_reclaimed_bytes), 1u);
    cr_assert_eq(counters_read(COUNTER_clean_advised_bytes), 0u);
    expect_law();
}

Test(survival, a_survey_makes_nothing_younger) {
    kernel_takes(1);
    cr_assert(arena_take_at(chunk, 1, 1));
    poll_after(0);
    poll_after(LAZY_DECAY / 2);
    expect_picture(chunk, "aa~~a.");
    poll_after(LAZY_DECAY / 2 + EPOCH);
    expect_picture(chunk, "aa..a.");
}

Test(survival, what_is_all_there_needs_no_survey) {
    cr_assert(arena_take_at(chunk, 1, 1));
    cr_assert_eq(granules_counted(COUNTER_lazy_sampled_bytes), 1u);
    cr_assert_eq(granules_counted(COUNTER_lazy_survived_bytes), 1u);
    kernel_takes(3);
    poll_after(0);
    poll_after(2 * EPOCH);
    expect_picture(chunk, "aa~~a.");
    cr_assert_eq(counters_read(COUNTER_lazy_reclaimed_bytes), 0u);
}

Test(survival, reuse_prefers_what_survived) {
    bits_t stale;
    kernel_takes(1);
    kernel_takes(3);
    cr_assert(arena_take_at(chunk, 3, 1));
    poll_after(0);
    poll_after(2 * EPOCH);
    expect_picture(chunk, "a.~aa.");
    struct extent *extent = arena_take(arena, 1, 1, &stale);
    cr_assert_eq(extent->chunk, chunk);
    cr_assert_eq(extent->first, 2u);
}

Test(survival, one_reuse_in_many_is_looked_at) {
    for (unsigned i = 0; i < 64; i++) {
        cr_assert(arena_take_at(chunk, 1, 3));
        arena_give_at(chunk, 1, 3, false);
        purge_all(false);
    }
    cr_assert_eq(granules_counted(COUNTER_lazy_reused_bytes), 3u * 64);
    cr_assert_eq(granules_counted(COUNTER_lazy_sampled_bytes), 3u);
}

Test(survival, a_small_process_looks_at_nothing) {
    arena_detach(arena);
    kernel_takes(1);
    cr_assert(arena_take_at(chunk, 1, 1));
    poll_after(0);
    poll_after(LAZY_DECAY + EPOCH);
    cr_assert_eq(granules_counted(COUNTER_lazy_reused_bytes), 1u);
    cr_assert_eq(counters_read(COUNTER_lazy_sampled_bytes), 0u);
    cr_assert_eq(counters_read(COUNTER_lazy_reclaimed_bytes), 0u);
    cr_assert_eq(granules_counted(COUNTER_clean_advised_bytes), 2u);
}
