/* Arithmetic on alignments. */
#include <criterion/criterion.h>

#include "compiler.h"

Test(compiler, powers_of_two) {
    cr_assert_not(is_pow2(0));
    for (unsigned shift = 0; shift < 64; shift++) {
        cr_assert(is_pow2((size_t)1 << shift));
        cr_assert_eq(is_pow2(((size_t)1 << shift) + 1), shift == 0);
    }
}

Test(compiler, aligning_agrees_with_division) {
    for (size_t align = 1; align <= 256; align *= 2) {
        for (size_t value = 0; value < 1024; value++) {
            cr_assert_eq(align_down(value, align), value / align * align);
            cr_assert_eq(align_up(value, align), (value + align - 1) / align * align);
            cr_assert_eq(is_aligned(value, align), value % align == 0);
        }
    }
}

Test(compiler, the_container_of_a_member) {
    struct pair {
        char first;
        long second;
    } pair = {0};
    cr_assert_eq(container_of(&pair.second, struct pair, second), &pair);
}
