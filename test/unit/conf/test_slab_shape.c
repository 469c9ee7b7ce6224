/* The table of slab shapes against its rule, and what the shapes cost. */
#include <criterion/criterion.h>

#include "geometry.h"
#include "slab_shape.h"

static size_t slab_bytes(unsigned class) {
    return bytes_of_granules(slab_shapes[class].granules);
}

static size_t tail_bytes(unsigned class) {
    return slab_bytes(class) -
           (size_t)slab_shapes[class].capacity * slab_shapes[class].object_bytes;
}

Test(slab_shape, the_table_follows_the_rule) {
    for (unsigned class = 0; class < CLASS_COUNT; class ++) {
        struct slab_shape rule = slab_shape_of(class);
        cr_assert_eq(slab_shapes[class].object_bytes, rule.object_bytes, "class %u", class);
        cr_assert_eq(slab_shapes[class].capacity, rule.capacity, "class %u", class);
        cr_assert_eq(slab_shapes[class].granules, rule.granules, "class %u", class);
    }
}

Test(slab_shape, objects_are_the_classes_blocks) {
    for (unsigned class = 0; class < CLASS_COUNT; class ++)
        cr_assert_eq(slab_shapes[class].object_bytes, class_bytes(class));
}

Test(slab_shape, objects_fit_and_one_more_would_not) {
    for (unsigned class = 0; class < CLASS_COUNT; class ++) {
        size_t capacity = slab_shapes[class].capacity;
        cr_assert_gt(capacity, 0u);
        cr_assert_leq(capacity * class_bytes(class), slab_bytes(class), "class %u", class);
        cr_assert_gt((capacity + 1) * class_bytes(class), slab_bytes(class), "class %u", class);
    }
}

Test(slab_shape, the_tail_is_at_most_an_eighth) {
    for (unsigned class = 0; class < CLASS_COUNT; class ++)
        cr_assert_leq(tail_bytes(class) * 8, slab_bytes(class), "class %u", class);
}

Test(slab_shape, a_slab_fits_a_chunk_many_times) {
    for (unsigned class = 0; class < CLASS_COUNT; class ++)
        cr_assert_leq(slab_shapes[class].granules * 8u, CHUNK_GRANULES, "class %u", class);
}

/* Bytes of a slab for each of its objects, times 1000: what a size really costs. */
static uint64_t cost_of_size(size_t size) {
    unsigned class = class_of_size(size);
    return slab_bytes(class) * 1000 / slab_shapes[class].capacity;
}

Test(slab_shape, waste_is_at_most_a_fifth_of_any_size_above_128_bytes) {
    for (size_t size = 129; size <= CLASS_MAX_BYTES; size++) {
        uint64_t cost = cost_of_size(size);
        cr_assert_leq((cost - size * 1000) * 5, cost, "size %zu", size);
    }
}

Test(slab_shape, waste_is_an_eighth_on_average_tail_included) {
    uint64_t wanted = 0, cost = 0;
    for (size_t size = 129; size <= CLASS_MAX_BYTES; size++) {
        wanted += size * 1000;
        cost += cost_of_size(size);
    }
    cr_assert_leq((cost - wanted) * 8, cost);
}

Test(slab_shape, a_block_of_a_class_wastes_its_tail_only) {
    for (unsigned class = 0; class < CLASS_COUNT; class ++) {
        uint64_t cost = cost_of_size(class_bytes(class));
        cr_assert_leq((cost - class_bytes(class) * 1000) * 8, cost, "class %u", class);
    }
}

Test(slab_shape, powers_of_two_waste_nothing) {
    for (size_t size = 16; size <= CLASS_MAX_BYTES; size *= 2) {
        unsigned class = class_of_size(size);
        cr_assert_eq(class_bytes(class), size);
        cr_assert_eq(tail_bytes(class), 0u, "size %zu", size);
    }
}
