/* Large blocks: sizes, alignments up to 1 GiB, zeroes, resizing in place and moving. */
#include <criterion/criterion.h>
#include <string.h>

#include "../environment.h"
#include "../random.h"
#include "by_hand.h"
#include "counters.h"
#include "large.h"
#include "os_page.h"
#include "purge.h"

enum { KIB = 1024, MIB = 1024 * KIB, SLOTS = 20, STEPS = 2000 };

TestSuite(large, .init = start_heaps);

static char *alloc(size_t bytes) {
    char *p = large_alloc(&heap_a, bytes, GRANULE_BYTES, false);
    cr_assert_not_null(p);
    return p;
}

static struct extent *extent_of(const void *p) {
    struct extent *extent = pagemap_get(p);
    cr_assert_not_null(extent);
    cr_assert_eq(extent->class, EXTENT_LARGE);
    cr_assert_eq(chunk_extent_base(extent), p);
    return extent;
}

static void release(void *p) {
    struct extent *extent = extent_of(p);
    cr_assert_eq(pagemap_take(p), extent);
    large_free(&heap_a, extent);
}

static bool reads_zero(const char *p, size_t bytes) {
    return p[0] == 0 && memcmp(p, p + 1, bytes - 1) == 0;
}

static const size_t sizes[] = {1,           256 * KIB + 1,  300 * KIB,   MIB,
                               2 * MIB - 1, 2 * MIB,        2 * MIB + 1, 3 * MIB,
                               4 * MIB,     5 * MIB + 4097, 8 * MIB - 1, 9 * MIB + 16 * KIB};

Test(large, usable_bytes_are_whole_pages_and_no_more) {
    for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
        char *p = alloc(sizes[i]);
        struct extent *extent = extent_of(p);
        cr_assert_eq(extent->bytes, align_up(sizes[i], os_page_size()));
        cr_assert_eq(extent->granules, granules_of_bytes(extent->bytes));
        p[0] = p[extent->bytes - 1] = 1;
        release(p);
    }
    expect_all_given_back();
}

Test(large, only_its_beginning_is_in_the_page_map) {
    char *p = alloc(5 * MIB);
    cr_assert_eq(pagemap_get(p + GRANULE_BYTES - 1), pagemap_get(p));
    for (size_t offset = GRANULE_BYTES; offset < 5 * MIB; offset += GRANULE_BYTES)
        cr_assert_null(pagemap_get(p + offset));
    release(p);
    cr_assert_null(pagemap_get(p));
}

Test(large, alignments_up_to_1_gib_are_kept) {
    static const size_t lengths[] = {1, 100 * KIB, 3 * MIB};
    size_t most = under_valgrind() ? 64 * MIB : 1024 * MIB;
    for (size_t align = 16; align <= most; align *= 2) {
        for (size_t i = 0; i < ARRAY_COUNT(lengths); i++) {
            char *p = large_alloc(&heap_a, lengths[i], align, false);
            cr_assert_not_null(p, "%zu at %zu", lengths[i], align);
            cr_assert(is_aligned((uintptr_t)p, align), "%zu at %zu", lengths[i], align);
            p[0] = p[lengths[i] - 1] = 1;
            release(p);
        }
    }
    expect_all_given_back();
}

/* Blocks of these sizes over memory that is dirty, lazy or clean by now. */
static void expect_zeroed(void) {
    for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
        char *p = large_alloc(&heap_a, sizes[i], GRANULE_BYTES, true);
        cr_assert(reads_zero(p, extent_of(p)->bytes), "%zu bytes", sizes[i]);
        memset(p, 0x5a, extent_of(p)->bytes);
        release(p);
    }
}

Test(large, zero_is_zero_over_new_dirty_lazy_and_clean_memory) {
    expect_zeroed();
    expect_zeroed();
    purge_all(false);
    expect_zeroed();
    purge_all(true);
    expect_zeroed();
}

/* --- in place --- */

static void expect_resized(char *p, size_t bytes) {
    struct extent *extent = extent_of(p);
    cr_assert(large_resize(&heap_a, extent, bytes), "to %zu bytes", bytes);
    cr_assert_eq(extent_of(p), extent);
    cr_assert_eq(extent->bytes, align_up(bytes, os_page_size()));
    cr_assert_geq(bytes_of_granules(extent->granules), extent->bytes);
    p[0] = p[extent->bytes - 1] = 1;
}

static void expect_not_resized(char *p, size_t bytes) {
    struct extent *extent = extent_of(p);
    size_t before = extent->bytes;
    cr_assert_not(large_resize(&heap_a, extent, bytes), "to %zu bytes", bytes);
    cr_assert_eq(extent->bytes, before);
}

Test(large, grows_and_shrinks_where_nothing_is_in_the_way) {
    char *p = alloc(300 * KIB);
    expect_resized(p, 300 * KIB + 1);
    expect_resized(p, MIB);
    expect_resized(p, 2 * MIB - 1);
    expect_resized(p, 260 * KIB);
    release(p);
    expect_all_given_back();
}

Test(large, does_not_grow_over_its_neighbour) {
    char *p = alloc(300 * KIB), *q = alloc(300 * KIB);
    cr_assert_eq(q, p + align_up(300 * KIB, GRANULE_BYTES));
    expect_not_resized(p, 400 * KIB);
    expect_resized(p, align_up(300 * KIB, GRANULE_BYTES)); /* the rest of its granule */
    expect_resized(q, 400 * KIB);
    release(q);
    large_flush(&heap_a);
    expect_resized(p, 700 * KIB);
}

Test(large, does_not_grow_beyond_its_chunk) {
    char *first = alloc(1 * MIB), *second = alloc(1 * MIB);
    cr_assert_eq(second, first + MIB);
    expect_not_resized(second, MIB + 1);
}

Test(large, a_block_of_one_chunk_shrinks_in_place) {
    char *p = alloc(2 * MIB);
    expect_resized(p, 2 * MIB - 1);
    expect_resized(p, 2 * MIB - 4096);
    expect_resized(p, MIB);
    expect_resized(p, 2 * MIB);
    release(p);
    expect_all_given_back();
}

Test(large, a_huge_block_shrinks_to_any_size_and_grows_again) {
    char *p = alloc(9 * MIB);
    static const size_t steps[] = {8 * MIB, 6 * MIB + 1, 2 * MIB + 1, 2 * MIB, 4 * MIB,
                                   9 * MIB, 3 * MIB,     300 * KIB,   MIB,     260 * KIB};
    for (size_t i = 0; i < ARRAY_COUNT(steps); i++)
        expect_resized(p, steps[i]);
    release(p);
    expect_all_given_back();
}

/* --- moved --- */

static void mark(char *p, size_t bytes) {
    for (size_t i = 0; i < bytes; i += 4096)
        *(size_t *)(void *)(p + i) = i ^ 0x5a5a;
}

static void expect_marked(const char *p, size_t bytes) {
    for (size_t i = 0; i + sizeof(size_t) <= bytes; i += 4096)
        cr_assert_eq(*(const size_t *)(const void *)(p + i), i ^ 0x5a5a, "at %zu", i);
}

Test(large, a_move_keeps_the_contents_and_frees_the_old_block) {
    for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
        for (size_t k = 0; k < ARRAY_COUNT(sizes); k++) {
            size_t kept = min_size(sizes[i], sizes[k]);
            char *p = alloc(sizes[i]);
            mark(p, extent_of(p)->bytes);
            char *q = large_move(&heap_a, extent_of(p), sizes[k]);
            cr_assert_not_null(q);
            cr_assert_neq(q, p);
            cr_assert_null(pagemap_get(p));
            expect_marked(q, kept);
            release(q);
        }
    }
    expect_all_given_back();
}

Test(large, a_huge_move_copies_no_whole_chunk) {
    skip_where_nothing_moves();
    char *p = alloc(8 * MIB);
    mark(p, 8 * MIB);
    char *q = large_move(&heap_a, extent_of(p), 12 * MIB);
    cr_assert_eq(counters_read(COUNTER_remap_moves), 1u);
    expect_marked(q, 8 * MIB);
    cr_assert(reads_zero(p, 8 * MIB)); /* still mapped, and free */
}

Test(large, without_address_space_nothing_changes) {
    skip_under_tools();
    char *p = alloc(5 * MIB);
    mark(p, 5 * MIB);
    address_space_limit(MIB);
    void *huge = large_alloc(&heap_a, 40 * MIB, GRANULE_BYTES, false);
    void *aligned = large_alloc(&heap_a, 1, (size_t)64 * MIB, false);
    void *moved = large_move(&heap_a, extent_of(p), 40 * MIB);
    bool resized = large_resize(&heap_a, extent_of(p), 40 * MIB);
    address_space_free();
    cr_assert_null(huge);
    cr_assert_null(aligned);
    cr_assert_null(moved);
    cr_assert_not(resized);
    expect_marked(p, 5 * MIB);
    release(p);
    expect_all_given_back();
}

Test(large, what_no_machine_has_is_refused) {
    static const size_t most[] = {(size_t)1 << 47, (size_t)1 << 62};
    for (size_t i = 0; i < ARRAY_COUNT(most); i++) {
        cr_assert_null(large_alloc(&heap_a, most[i], GRANULE_BYTES, false));
        cr_assert_null(large_alloc(&heap_a, 1, most[i], false));
    }
    expect_all_given_back();
}

/* --- random use --- */

struct slot {
    char *p;
    size_t bytes;
};

static void random_resize(struct slot *s, size_t bytes) {
    size_t kept = min_size(bytes, s->bytes);
    if (!large_resize(&heap_a, extent_of(s->p), bytes))
        s->p = large_move(&heap_a, extent_of(s->p), bytes);
    cr_assert_not_null(s->p);
    expect_marked(s->p, kept);
}

static void random_step(struct slot *s, struct random *r) {
    size_t bytes = 1 + random_below(r, random_below(r, 4) == 0 ? 7 * MIB : 700 * KIB);
    if (s->p == NULL) {
        bool zero = random_below(r, 2) == 0;
        s->p = large_alloc(&heap_a, bytes, (size_t)4096 << random_below(r, 11), zero);
        cr_assert(!zero || reads_zero(s->p, extent_of(s->p)->bytes));
    } else if (random_below(r, 2) == 0) {
        expect_marked(s->p, s->bytes);
        release(s->p);
        s->p = NULL;
        return;
    } else {
        random_resize(s, bytes);
    }
    s->bytes = bytes;
    mark(s->p, bytes);
}

Test(large, contents_survive_random_use) {
    static struct slot slots[SLOTS];
    struct random r = {29};
    unsigned steps = under_valgrind() ? STEPS / 10 : STEPS;
    for (unsigned step = 0; step < steps; step++) {
        random_step(&slots[random_below(&r, SLOTS)], &r);
        if (step % 64 == 0)
            purge_all(random_below(&r, 2) == 0);
    }
    for (unsigned i = 0; i < SLOTS; i++)
        if (slots[i].p != NULL)
            release(slots[i].p);
    expect_all_given_back();
}
