/* From addresses to descriptors. Entries can be made for addresses at which nothing is mapped, so
   the tests choose theirs. */
#include <criterion/criterion.h>
#include <pthread.h>

#include "../environment.h"
#include "metadata.h"
#include "pagemap.h"

enum { THREADS = 4, RACES = 2000 };

#define LEAF_BYTES ((uintptr_t)1 << PAGEMAP_LEAF_SHIFT)

static struct extent extents[2];

static void *at(uintptr_t address) {
    return (void *)address;
}

Test(pagemap, nothing_is_known_of_null_and_its_neighbours) {
    cr_assert_null(pagemap_get(NULL));
    cr_assert_null(pagemap_get(at(1)));
    cr_assert_null(pagemap_get(at(4096)));
    cr_assert_null(pagemap_get(at(UINTPTR_MAX)));
}

Test(pagemap, nothing_is_known_of_the_stack_and_of_static_data) {
    int local = 0;
    cr_assert_null(pagemap_get(&local));
    cr_assert_null(pagemap_get(extents));
}

Test(pagemap, what_is_reserved_is_empty) {
    uintptr_t base = 5 * LEAF_BYTES + 7 * CHUNK_BYTES;
    cr_assert(pagemap_reserve(at(base), CHUNK_BYTES));
    for (size_t i = 0; i < CHUNK_GRANULES; i++)
        cr_assert_null(pagemap_get(at(base + i * GRANULE_BYTES)));
}

Test(pagemap, every_address_of_a_run_leads_to_its_extent) {
    uintptr_t base = 5 * LEAF_BYTES + 7 * CHUNK_BYTES;
    cr_assert(pagemap_reserve(at(base), CHUNK_BYTES));
    pagemap_set(at(base), 3, &extents[0], 0);
    pagemap_set(at(base + 3 * GRANULE_BYTES), 1, &extents[1], 0);
    for (size_t offset = 0; offset < 4 * GRANULE_BYTES; offset += 16)
        cr_assert_eq(pagemap_get(at(base + offset)), &extents[offset >= 3 * GRANULE_BYTES]);
    cr_assert_eq(pagemap_get(at(base + 3 * GRANULE_BYTES - 1)), &extents[0]);
    cr_assert_eq(pagemap_get(at(base + 4 * GRANULE_BYTES - 1)), &extents[1]);
    cr_assert_null(pagemap_get(at(base - 1)));
    cr_assert_null(pagemap_get(at(base + 4 * GRANULE_BYTES)));
}

Test(pagemap, a_run_can_be_cleared_again) {
    uintptr_t base = 5 * LEAF_BYTES;
    cr_assert(pagemap_reserve(at(base), CHUNK_BYTES));
    pagemap_set(at(base), CHUNK_GRANULES, &extents[0], 0);
    cr_assert_eq(pagemap_get(at(base + CHUNK_BYTES - 1)), &extents[0]);
    pagemap_set(at(base), CHUNK_GRANULES, NULL, 0);
    for (size_t i = 0; i < CHUNK_GRANULES; i++)
        cr_assert_null(pagemap_get(at(base + i * GRANULE_BYTES)));
}

Test(pagemap, a_range_across_a_leafs_border_has_entries_on_both_sides) {
    uintptr_t border = 9 * LEAF_BYTES;
    cr_assert(pagemap_reserve(at(border - CHUNK_BYTES), 2 * CHUNK_BYTES));
    pagemap_set(at(border - GRANULE_BYTES), 1, &extents[0], 0);
    pagemap_set(at(border), 1, &extents[1], 0);
    cr_assert_eq(pagemap_get(at(border - 1)), &extents[0]);
    cr_assert_eq(pagemap_get(at(border)), &extents[1]);
    cr_assert_null(pagemap_get(at(border - GRANULE_BYTES - 1)));
    cr_assert_null(pagemap_get(at(border + GRANULE_BYTES)));
}

Test(pagemap, a_range_over_several_leaves_has_entries_in_all) {
    uintptr_t base = 20 * LEAF_BYTES - CHUNK_BYTES;
    cr_assert(pagemap_reserve(at(base), 2 * LEAF_BYTES));
    for (unsigned leaf = 19; leaf <= 21; leaf++) {
        cr_assert_not_null(atomic_load(&pagemap_root[leaf]));
        pagemap_set(at(leaf * LEAF_BYTES + CHUNK_BYTES), 1, &extents[0], 0);
        cr_assert_eq(pagemap_get(at(leaf * LEAF_BYTES + CHUNK_BYTES)), &extents[0]);
    }
    cr_assert_null(atomic_load(&pagemap_root[18]));
    cr_assert_null(atomic_load(&pagemap_root[22]));
}

Test(pagemap, reserving_again_costs_nothing) {
    uintptr_t base = 5 * LEAF_BYTES;
    size_t before = metadata_mapped_bytes();
    cr_assert(pagemap_reserve(at(base), CHUNK_BYTES));
    size_t leaf_bytes = PAGEMAP_LEAF_ENTRIES * sizeof(pagemap_entry);
    cr_assert_eq(metadata_mapped_bytes(), before + leaf_bytes);
    pagemap_set(at(base), 1, &extents[0], 0);
    cr_assert(pagemap_reserve(at(base), LEAF_BYTES));
    cr_assert_eq(metadata_mapped_bytes(), before + leaf_bytes);
    cr_assert_eq(pagemap_get(at(base)), &extents[0]);
}

Test(pagemap, the_highest_address_can_be_reserved_and_no_higher_one) {
    uintptr_t end = (uintptr_t)1 << ADDRESS_BITS;
    cr_assert(pagemap_reserve(at(end - CHUNK_BYTES), CHUNK_BYTES));
    pagemap_set(at(end - GRANULE_BYTES), 1, &extents[0], 0);
    cr_assert_eq(pagemap_get(at(end - 1)), &extents[0]);
    cr_assert_not(pagemap_reserve(at(end - CHUNK_BYTES), 2 * CHUNK_BYTES));
    cr_assert_not(pagemap_reserve(at(end), CHUNK_BYTES));
    cr_assert_not(pagemap_reserve(at(UINTPTR_MAX - CHUNK_BYTES + 1), CHUNK_BYTES));
}

Test(pagemap, a_tag_in_the_top_bits_is_ignored) {
    uintptr_t base = 5 * LEAF_BYTES;
    cr_assert(pagemap_reserve(at(base), CHUNK_BYTES));
    pagemap_set(at(base), 1, &extents[0], 0);
    for (uintptr_t tag = 1; tag < 1 << 16; tag <<= 1)
        cr_assert_eq(pagemap_get(at(base | tag << ADDRESS_BITS)), &extents[0]);
    cr_assert_null(pagemap_get(at((base + LEAF_BYTES) | (uintptr_t)0xff << 56)));
}

Test(pagemap, an_address_that_the_machine_does_not_have_is_not_known) {
    for (unsigned shift = ADDRESS_BITS; shift < 64; shift++)
        cr_assert_null(pagemap_get(at((uintptr_t)1 << shift)));
}

Test(pagemap, what_was_taken_is_not_there_again) {
    uintptr_t base = 5 * LEAF_BYTES;
    cr_assert(pagemap_reserve(at(base), CHUNK_BYTES));
    pagemap_set(at(base), 2, &extents[0], 0);
    cr_assert_eq(pagemap_take(at(base)), &extents[0]);
    cr_assert_null(pagemap_take(at(base)));
    cr_assert_null(pagemap_get(at(base)));
    cr_assert_eq(pagemap_get(at(base + GRANULE_BYTES)), &extents[0]);
}

/* --- several threads --- */

static pthread_barrier_t barrier;
static _Atomic unsigned winners;

static void *take_each_entry(void *arg) {
    uintptr_t base = *(uintptr_t *)arg;
    pthread_barrier_wait(&barrier);
    for (unsigned i = 0; i < RACES; i++)
        if (pagemap_take(at(base + i * GRANULE_BYTES)) != NULL)
            atomic_fetch_add(&winners, 1);
    return NULL;
}

static void run_threads(void *(*run)(void *), void *arg) {
    pthread_t threads[THREADS];
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (unsigned i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, run, arg), 0);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

Test(pagemap, of_several_threads_one_takes_an_entry) {
    uintptr_t base = 5 * LEAF_BYTES;
    cr_assert(pagemap_reserve(at(base), RACES * GRANULE_BYTES));
    pagemap_set(at(base), RACES, &extents[0], 0);
    run_threads(take_each_entry, &base);
    cr_assert_eq(atomic_load(&winners), (unsigned)RACES);
}

static void *reserve_a_leaf(void *arg) {
    uintptr_t base = *(uintptr_t *)arg;
    pthread_barrier_wait(&barrier);
    cr_assert(pagemap_reserve(at(base), CHUNK_BYTES));
    cr_assert_null(pagemap_get(at(base)));
    return NULL;
}

Test(pagemap, of_several_threads_one_makes_a_leaf) {
    for (uintptr_t leaf = 30; leaf < 40; leaf++) {
        uintptr_t base = leaf * LEAF_BYTES;
        size_t before = metadata_mapped_bytes();
        run_threads(reserve_a_leaf, &base);
        cr_assert_eq(metadata_mapped_bytes() - before,
                     PAGEMAP_LEAF_ENTRIES * sizeof(pagemap_entry));
    }
}

Test(pagemap, without_address_space_nothing_is_reserved) {
    skip_under_tools();
    uintptr_t base = 50 * LEAF_BYTES;
    size_t before = metadata_mapped_bytes();
    address_space_limit(0);
    bool reserved = pagemap_reserve(at(base), CHUNK_BYTES);
    address_space_free();
    cr_assert_not(reserved);
    cr_assert_null(pagemap_get(at(base)));
    cr_assert_eq(metadata_mapped_bytes(), before);
    cr_assert(pagemap_reserve(at(base), CHUNK_BYTES));
}
