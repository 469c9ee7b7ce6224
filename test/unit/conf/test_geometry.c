/* Granules and chunks, and the arithmetic between bytes and granules. */
#include <criterion/criterion.h>

#include "bits.h"
#include "geometry.h"

Test(geometry, a_chunks_granules_fit_one_set) {
    cr_assert_leq(CHUNK_GRANULES, (unsigned)BITS_MAX);
    cr_assert_eq(CHUNK_GRANULES * GRANULE_BYTES, CHUNK_BYTES);
    cr_assert(is_pow2(GRANULE_BYTES));
    cr_assert(is_pow2(CHUNK_BYTES));
}

Test(geometry, a_granule_is_whole_pages_of_4_kib) {
    cr_assert(is_aligned(GRANULE_BYTES, 4096));
}

Test(geometry, granules_hold_the_bytes_and_no_granule_more) {
    for (size_t bytes = 1; bytes <= 4 * GRANULE_BYTES; bytes++) {
        size_t naive = 0;
        while (naive * GRANULE_BYTES < bytes)
            naive++;
        cr_assert_eq(granules_of_bytes(bytes), naive, "%zu bytes", bytes);
    }
}

Test(geometry, no_bytes_need_no_granule) {
    cr_assert_eq(granules_of_bytes(0), 0u);
    cr_assert_eq(bytes_of_granules(0), 0u);
}

Test(geometry, bytes_of_granules_is_the_inverse) {
    for (size_t granules = 1; granules < (size_t)1 << 40; granules = granules * 3 + 1) {
        size_t bytes = bytes_of_granules(granules);
        cr_assert_eq(granules_of_bytes(bytes), granules);
        cr_assert_eq(granules_of_bytes(bytes + 1), granules + 1);
        cr_assert_eq(granules_of_bytes(bytes - 1), granules);
    }
}

Test(geometry, the_whole_address_space_can_be_counted) {
    size_t all = (size_t)1 << ADDRESS_BITS;
    cr_assert_eq(bytes_of_granules(granules_of_bytes(all)), all);
}
