/* Chaos does what the kernel may do: to lazy memory, and to nothing else. */
#include "chaos.h"
#include "os_page.h"
#include "purge_by_hand.h"

TestSuite(chaos, .init = start_purge);

static size_t zeroed_pages(const char *from, size_t bytes) {
    size_t n = 0;
    for (size_t at = 0; at < bytes; at += os_page_size())
        n += from[at] == 0;
    return n;
}

Test(chaos, each_nth_lazy_page_is_zeroed_when_it_is_used_again) {
    options.chaos_reclaim = 3;
    struct chunk *chunk = chunk_like("addda");
    purge_all(false);
    cr_assert(arena_take_at(chunk, 1, 3));
    size_t pages = 3 * GRANULE_BYTES / os_page_size();
    cr_assert_eq(zeroed_pages(chunk_address(chunk, 1), 3 * GRANULE_BYTES), (pages + 2) / 3);
    cr_assert_eq(counters_read(COUNTER_chaos_pages), (pages + 2) / 3);
    cr_assert(granule_is(chunk, 0, BYTE));
    cr_assert(granule_is(chunk, 4, BYTE));
}

Test(chaos, dirty_memory_is_left_alone) {
    options.chaos_reclaim = 1;
    struct chunk *chunk = chunk_like("addda");
    cr_assert(arena_take_at(chunk, 1, 3));
    cr_assert(granule_is(chunk, 2, BYTE));
    cr_assert_eq(counters_read(COUNTER_chaos_pages), 0u);
}

Test(chaos, the_kernel_takes_what_is_lazy_and_nothing_else) {
    skip_under_tools();
    options.chaos_pageout = true;
    struct chunk *chunk = chunk_like("addda");
    purge_all(false);
    for (int i = 0; i < 20; i++) /* pages still on their way to the kernel's lists come later */
        chaos_pageout();
    cr_assert_geq(counters_read(COUNTER_chaos_pageouts), 1u);
    cr_assert(granule_is(chunk, 0, BYTE));
    cr_assert(granule_is(chunk, 4, BYTE));
    expect_law();
}

Test(chaos, without_the_options_nothing_happens) {
    struct chunk *chunk = chunk_like("adda");
    purge_all(false);
    chaos_pageout();
    cr_assert(arena_take_at(chunk, 1, 2));
    cr_assert_eq(counters_read(COUNTER_chaos_pages) + counters_read(COUNTER_chaos_pageouts), 0u);
}
