/* The census of arenas, blocks and metadata; slabs are in test/unit/api/test_why.c. */
#include "census.h"
#include "huge.h"
#include "pagemap.h"
#include "purge_by_hand.h"

static struct census census;

static void start_census(void) {
    skip_under_tools();
    start_purge();
}

TestSuite(census, .init = start_census);

static void take(void) {
    cr_assert(census_take(&census));
}

Test(census, without_blocks_there_are_others_and_metadata) {
    cr_assert_not_null(metadata_alloc(1000));
    take();
    cr_assert_eq(census.live + census.dirty + census.lazy + census.inflation, 0u);
    cr_assert_gt(census.metadata, 0u);
    cr_assert_gt(census.others, 100000u);
}

Test(census, free_granules_are_counted_by_their_state) {
    struct chunk *chunk = chunk_like("addda");
    take();
    cr_assert_eq(census.dirty, 3 * GRANULE_BYTES);
    purge_all(false);
    take();
    cr_assert_eq(census.dirty, 0u);
    cr_assert_eq(census.lazy, 3 * GRANULE_BYTES);
    cr_assert_eq(census.lazy_taken, 0u);
    /* as if the kernel had taken one */
    cr_assert_eq(os_advise(chunk_address(chunk, 2), GRANULE_BYTES, OS_ADVISE_DONTNEED), 0);
    take();
    cr_assert_eq(census.lazy, 2 * GRANULE_BYTES);
    cr_assert_eq(census.lazy_taken, (size_t)GRANULE_BYTES);
    purge_all(true);
    take();
    cr_assert_eq(census.lazy + census.lazy_taken, 0u);
    chunk->base[5 * GRANULE_BYTES] = 1; /* resident, and Fallow calls it clean */
    take();
    cr_assert_eq(census.inflation, os_page_size());
}

Test(census, lazy_memory_that_was_taken_is_found_without_the_rest) {
    size_t taken = 1;
    struct chunk *chunk = chunk_like("addda");
    purge_all(false);
    cr_assert(census_lazy_taken(&taken));
    cr_assert_eq(taken, 0u);
    /* as if the kernel had taken a page of one */
    cr_assert_eq(os_advise(chunk_address(chunk, 2), os_page_size(), OS_ADVISE_DONTNEED), 0);
    cr_assert(census_lazy_taken(&taken));
    cr_assert_eq(taken, os_page_size());
    purge_all(true);
    cr_assert(census_lazy_taken(&taken));
    cr_assert_eq(taken, 0u);
}

Test(census, large_blocks_are_live_up_to_their_usable_bytes) {
    bits_t stale;
    struct extent *extent = arena_take(arena, 10, 1, &stale);
    extent->class = EXTENT_LARGE;
    extent->bytes = 9 * GRANULE_BYTES + os_page_size();
    pagemap_set(chunk_extent_base(extent), 1, extent, 0);
    memset(chunk_extent_base(extent), BYTE, 10 * GRANULE_BYTES);
    take();
    cr_assert_eq(census.live, extent->bytes);
    cr_assert_eq(census.rounding, GRANULE_BYTES - os_page_size());
    pagemap_take(chunk_extent_base(extent));
    extent->flags = EXTENT_WARM;
    take();
    cr_assert_eq(census.live, 0u);
    cr_assert_eq(census.dirty, 10 * GRANULE_BYTES);
}

Test(census, a_block_over_several_chunks_is_counted_to_its_end) {
    struct extent *extent = huge_take(arena, 2 * CHUNK_GRANULES + 5, 1, false);
    extent->class = EXTENT_LARGE;
    extent->flags = 0;
    extent->bytes = (2 * CHUNK_GRANULES + 4) * (size_t)GRANULE_BYTES;
    pagemap_set(extent->chunk->base, 1, extent, 0);
    memset(extent->chunk->base, BYTE, (2 * CHUNK_GRANULES + 5) * (size_t)GRANULE_BYTES);
    take();
    cr_assert_eq(census.live, extent->bytes);
    cr_assert_eq(census.rounding, (size_t)GRANULE_BYTES);
    cr_assert_eq(census.dirty + census.inflation, 0u);
}
