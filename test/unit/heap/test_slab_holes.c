/* The holes of one slab, for every class, at random: no live object is on one, every free object is found
   again exactly once, whatever has become of the pages. */
#include <criterion/criterion.h>
#include <string.h>

#include "../environment.h"
#include "../random.h"
#include "by_hand.h"
#include "os_page.h"
#include "slab_holes.h"

enum { OBJECTS_MAX = 2048, ROUNDS = 3 };

TestSuite(slab_holes, .init = start_heaps);

static unsigned char state[OBJECTS_MAX]; /* of each object: */
enum { NEVER, LIVE, FREE };

static struct extent *slab;
static size_t object_bytes;

static char *object(size_t i) {
    return chunk_extent_base(slab) + i * object_bytes;
}

static size_t index_of(const void *p) {
    size_t offset = (size_t)((const char *)p - chunk_extent_base(slab));
    cr_assert_eq(offset % object_bytes, 0u);
    return offset / object_bytes;
}

static void write_object(size_t i) {
    memset(object(i), (int)(i % 251), object_bytes);
}

static void check_live(void) {
    for (size_t i = 0; i < slab->capacity; i++)
        for (size_t at = 0; state[i] == LIVE && at < object_bytes; at++)
            cr_assert_eq((unsigned char)object(i)[at], i % 251, "object %zu, byte %zu", i, at);
}

/* A slab of which `handed_out` objects were handed out, all in use. */
static void begin(unsigned class, size_t handed_out) {
    memset(state, NEVER, sizeof state);
    object_bytes = class_bytes(class);
    slab = slab_create(&heap_a, class);
    cr_assert_not_null(slab);
    for (size_t i = 0; i < handed_out; i++) {
        size_t at = index_of(slab_take_fresh(slab));
        state[at] = LIVE;
        write_object(at);
    }
}

static void free_object(size_t i) {
    cr_assert_eq(state[i], LIVE);
    state[i] = FREE;
    slab->used--;
    slab_push(slab, object(i));
}

/* Frees each of the objects in use with a chance of `percent`. */
static void free_some(struct random *random, unsigned percent) {
    for (size_t n = slab->fresh, i = random_next(random) % (n + 1), seen = 0; seen < n; seen++) {
        i = (i + 1) % n;
        if (state[i] == LIVE && random_next(random) % 100 < percent)
            free_object(i);
    }
}

/* What the kernel may do to the pages that nobody needs. */
static void lose(uint64_t quarters) {
    for (unsigned i = 0; i < 64; i++)
        if ((quarters >> i & 1) != 0)
            memset(chunk_extent_base(slab) + i * SLAB_QUARTER_BYTES, 0xa5, SLAB_QUARTER_BYTES);
}

/* Takes up to `most` free objects; returns how many there were. */
static size_t take_some(size_t most) {
    size_t taken = 0;
    while (taken < most && (slab->free != NULL || slab_fill_hole(slab))) {
        size_t i = index_of(slab_pop(slab));
        cr_assert_lt(i, slab->fresh);
        cr_assert_eq(state[i], FREE, "object %zu of %zu bytes came twice", i, object_bytes);
        state[i] = LIVE;
        write_object(i);
        taken++;
    }
    return taken;
}

static size_t count_free(void) {
    size_t n = 0;
    for (size_t i = 0; i < slab->capacity; i++)
        n += state[i] == FREE;
    return n;
}

static void sweep(void) {
    uint64_t before = slab_holes(slab), unneeded = slab_make_holes(slab);
    cr_assert_eq(unneeded & before, 0u);
    cr_assert_eq(slab_holes(slab) & ~before & ~unneeded, 0u);
    slab_check(slab);
    lose(unneeded);
    check_live();
}

static void expect_no_loss(unsigned class, struct random *random) {
    size_t capacity = slab_shapes[class].capacity;
    begin(class, random_next(random) % 2 == 0 ? capacity : random_next(random) % (capacity + 1));
    for (unsigned round = 0; round < ROUNDS && slab->fresh > 0; round++) {
        free_some(random, 50 + random_next(random) % 51);
        sweep();
        if (random_next(random) % 2 == 0) {
            free_some(random, 50); /* frees among the holes */
            sweep();
        }
        size_t free_objects = count_free(), some = random_next(random) % (free_objects + 1);
        cr_assert_eq(take_some(some), some);
        slab_check(slab);
        cr_assert_eq(take_some(SIZE_MAX), free_objects - some, "%zu bytes", object_bytes);
        cr_assert_eq(slab_holes(slab), 0u);
        slab_check(slab);
        check_live();
    }
    free_some(random, 100);
    sweep();
    slab_destroy(slab);
}

static void expect_no_loss_at_all(unsigned rounds) {
    struct random random = {42};
    for (unsigned class = 0; class < CLASS_COUNT; class ++)
        for (unsigned i = 0; i < rounds && slab_shapes[class].capacity > 1; i++)
            expect_no_loss(class, &random);
    expect_all_given_back();
}

Test(slab_holes, no_object_is_lost_and_none_is_handed_out_twice) {
    expect_no_loss_at_all(20);
}

Test(slab_holes, nor_with_larger_pages) {
    for (size_t page_bytes = 16384; page_bytes <= 65536; page_bytes *= 4) {
        os_page_size_set(page_bytes);
        expect_no_loss_at_all(5);
    }
    os_page_size_set(0);
}

Test(slab_holes, one_object_left_holds_one_page) {
    begin(class_of_size(256), 64); /* of 16 KiB */
    for (size_t i = 0; i < 64; i++)
        if (i != 37) /* on the third page */
            free_object(i);
    cr_assert_eq(slab_make_holes(slab), 0xbu);
    cr_assert_eq(slab_holes(slab), 0xbu);
    cr_assert_eq(slab_hole_objects(slab), 48u);
    cr_assert_eq(slab_make_holes(slab), 0u);
}

Test(slab_holes, an_object_over_two_pages_holds_both) {
    begin(class_of_size(1792), 9); /* object 2 lies on the first two pages */
    for (size_t i = 0; i < 9; i++)
        if (i != 2)
            free_object(i);
    cr_assert_eq(slab_make_holes(slab), 0xcu);
}

Test(slab_holes, what_was_never_handed_out_is_no_hole_but_may_go) {
    begin(class_of_size(512), 3);
    cr_assert_eq(slab_make_holes(slab), 0xeu);
    cr_assert_eq(slab_holes(slab), 0u);
    slab_note_lazy(slab, 0xe, true);
    cr_assert_eq(slab_lazy_unneeded(slab), 0xeu);
    for (unsigned i = 3; i < 17; i++)
        cr_assert_eq(slab_take_fresh(slab), object(i));
    cr_assert_eq(slab_lazy_unneeded(slab), 0x8u, "two of the pages came into use");
}

Test(slab_holes, a_damaged_free_list_is_left_alone) {
    begin(class_of_size(256), 64);
    for (size_t i = 0; i < 60; i++)
        free_object(i);
    void *good = *(void **)(void *)object(59);
    void *bad[] = {object(59), object(62) + 8, object(64), (void *)16};
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        *(void **)(void *)object(59) = bad[i];
        cr_assert_eq(slab_make_holes(slab), 0u, "%zu", i);
        cr_assert_eq(slab_holes(slab), 0u);
    }
    *(void **)(void *)object(59) = good;
    cr_assert_eq(slab_make_holes(slab), 0x7u);
}
