/* What the program has, by the descriptors, against what it was given. */
#include <criterion/criterion.h>

#include "../random.h"
#include "alloc.h"
#include "arena.h"
#include "inventory.h"

enum { KIB = 1024, MIB = 1024 * KIB, OBJECTS = 3000 };

static struct inventory now;

static void look(void) {
    inventory_take(&now);
    size_t slab_bytes = 0;
    for (unsigned c = 0; c < CLASS_COUNT; c++) {
        const struct tally_class *class = &now.tally.classes[c];
        cr_assert_leq(class->used, class->objects);
        cr_assert_leq(class->full_slabs, class->slabs);
        slab_bytes += class->objects * class_bytes(c);
    }
    cr_assert_eq(slab_bytes, now.small_bytes + now.slab_free_bytes + now.cached_bytes);
    cr_assert_leq(slab_bytes + now.tally.large_bytes + now.tally.huge_bytes,
                  now.stats.active_bytes);
}

Test(inventory, small_blocks_are_counted_by_their_class) {
    static void *objects[OBJECTS];
    struct random random = {7};
    size_t counts[CLASS_COUNT] = {0}, bytes = 0;
    for (size_t i = 0; i < OBJECTS; i++) {
        size_t size = random_below(&random, i % 8 == 0 ? 100 * KIB : 1000);
        objects[i] = alloc_malloc(size);
        counts[class_of_size(size)]++;
        bytes += class_bytes(class_of_size(size));
    }
    look();
    for (unsigned c = 0; c < CLASS_COUNT; c++)
        cr_assert_eq(now.tally.classes[c].used, counts[c]);
    cr_assert_eq(now.small_bytes, bytes);
    cr_assert_eq(inventory_live_bytes(&now), bytes);
    for (size_t i = 0; i < OBJECTS; i++)
        alloc_free(objects[i]);
    look();
    cr_assert_eq(now.small_bytes, 0u);
    cr_assert_gt(now.cached_blocks, 0u);
    cr_assert_geq(now.cached_bytes, now.cached_blocks * 16);
    fallow_purge(FALLOW_PURGE_LAZY);
    look();
    cr_assert_eq(now.cached_blocks, 0u);
}

Test(inventory, large_blocks_are_counted_until_they_are_freed) {
    void *large = alloc_malloc(700 * KIB), *huge = alloc_malloc(9 * MIB + 100);
    look();
    cr_assert_eq(now.tally.large_blocks, 1u);
    cr_assert_eq(now.tally.large_bytes, alloc_usable_size(large));
    cr_assert_eq(now.tally.huge_blocks, 1u);
    cr_assert_eq(now.tally.huge_bytes, alloc_usable_size(huge));
    alloc_free(large); /* warm */
    alloc_free(huge);
    look();
    cr_assert_eq(inventory_live_bytes(&now), 0u);
    cr_assert_eq(now.tally.large_blocks + now.tally.huge_blocks, 0u);
}

Test(inventory, an_arena_has_what_lies_in_its_chunks) {
    struct tally tally;
    void *small = alloc_malloc(100), *large = alloc_malloc(700 * KIB),
         *huge = alloc_malloc(9 * MIB);
    cr_assert(small && large && huge);
    tally_take(&tally, &arena_at(0)->domain);
    cr_assert_eq(tally.classes[class_of_size(100)].used, 1u);
    cr_assert_eq(tally.large_blocks, 1u);
    cr_assert_eq(tally.huge_blocks, 0u);
    cr_assert_geq(tally.free_runs, 1u);
    alloc_free(small);
    alloc_free(large);
    alloc_free(huge);
}
