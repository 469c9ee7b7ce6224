/* Every size against a naive loop. */
#include <criterion/criterion.h>

#include "classes.h"

/* The classes as the comment in classes.h has them. */
static size_t naive_classes(size_t *bytes) {
    size_t count = 0;
    for (size_t size = 16; size <= 128; size += 16)
        bytes[count++] = size;
    for (size_t base = 128; base < CLASS_MAX_BYTES; base *= 2) {
        for (size_t step = 1; step <= 8; step++)
            bytes[count++] = base + step * base / 8;
    }
    return count;
}

Test(classes, sizes_of_all_classes) {
    size_t bytes[2 * CLASS_COUNT];
    cr_assert_eq(naive_classes(bytes), CLASS_COUNT);
    cr_assert_eq(bytes[CLASS_COUNT - 1], CLASS_MAX_BYTES);
    for (unsigned c = 0; c < CLASS_COUNT; c++)
        cr_assert_eq(class_bytes(c), bytes[c], "class %u", c);
}

Test(classes, class_of_every_size) {
    size_t bytes[2 * CLASS_COUNT];
    naive_classes(bytes);
    unsigned expected = 0;
    for (size_t size = 0; size <= CLASS_MAX_BYTES; size++) {
        while (bytes[expected] < size)
            expected++;
        cr_assert_eq(class_of_size(size), expected, "size %zu", size);
    }
}

Test(classes, waste_is_below_an_eighth_above_128_bytes) {
    for (size_t size = 129; size <= CLASS_MAX_BYTES; size++) {
        size_t block = class_bytes(class_of_size(size));
        cr_assert_lt((block - size) * 8, block, "size %zu", size);
    }
}

Test(classes, blocks_are_multiples_of_16) {
    for (unsigned c = 0; c < CLASS_COUNT; c++)
        cr_assert(is_aligned(class_bytes(c), 16));
}
