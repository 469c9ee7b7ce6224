/* The sets of one chunk, in pictures, and against a model that is a string. */
#include <criterion/criterion.h>
#include <signal.h>

#include "../random.h"
#include "chunk.h"
#include "os_assert.h"
#include "picture.h"

enum { NOWHERE = CHUNK_GRANULES, MODEL_STEPS = 4000 };

static unsigned find_in(const char *written, unsigned n, unsigned step) {
    struct chunk chunk;
    picture_draw(&chunk, written);
    return chunk_find(&chunk, n, step);
}

Test(chunk, an_empty_chunk_is_filled_from_the_bottom) {
    cr_assert_eq(find_in(".", 1, 1), 0u);
    cr_assert_eq(find_in(".", CHUNK_GRANULES, 1), 0u);
    cr_assert_eq(find_in("aaa.", 1, 1), 3u);
}

Test(chunk, a_full_chunk_has_no_place) {
    cr_assert_eq(find_in("a", 1, 1), (unsigned)NOWHERE);
    cr_assert_eq(find_in("a.a", 2, 1), (unsigned)NOWHERE);
    cr_assert_eq(find_in("a.", CHUNK_GRANULES, 1), (unsigned)NOWHERE);
}

Test(chunk, dirty_goes_before_lazy_and_lazy_before_clean) {
    cr_assert_eq(find_in("..~~dd.", 2, 1), 4u);
    cr_assert_eq(find_in("..~~ad.", 2, 1), 2u);
    cr_assert_eq(find_in("..~aad.", 2, 1), 0u);
}

Test(chunk, dirty_and_lazy_neighbours_go_before_clean) {
    cr_assert_eq(find_in("....~d~d....", 4, 1), 4u);
    cr_assert_eq(find_in("....~d~a....", 4, 1), 0u);
}

Test(chunk, a_run_may_have_granules_of_every_free_state) {
    cr_assert_eq(find_in("aa.d~.d~a", 6, 1), 2u);
    cr_assert_eq(find_in("aa.d~.d~a", 7, 1), (unsigned)NOWHERE);
}

Test(chunk, the_lowest_of_equals_is_taken) {
    cr_assert_eq(find_in("addaadda", 2, 1), 1u);
    cr_assert_eq(find_in("a..aa..a", 2, 1), 1u);
}

Test(chunk, busy_granules_are_not_to_be_had) {
    cr_assert_eq(find_in("bb.", 1, 1), 2u);
    cr_assert_eq(find_in("dbda", 2, 1), (unsigned)NOWHERE);
    cr_assert_eq(find_in("b", 1, 1), (unsigned)NOWHERE);
}

Test(chunk, steps_are_kept) {
    cr_assert_eq(find_in("a.", 1, 2), 2u);
    cr_assert_eq(find_in("a.", 1, 64), 64u);
    cr_assert_eq(find_in("a.", 1, 128), (unsigned)NOWHERE);
    cr_assert_eq(find_in("addd.", 2, 2), 2u);
    cr_assert_eq(find_in("adda.", 2, 2), 4u); /* dirty ones lie across */
}

Test(chunk, one_granule_fits_between_others_and_two_do_not) {
    struct chunk chunk;
    picture_draw(&chunk, "a.a.a.a.a.a.a.a.a");
    cr_assert_eq(chunk_find(&chunk, 1, 1), 1u);
    cr_assert_eq(chunk_find(&chunk, 2, 1), (unsigned)NOWHERE);
    cr_assert_eq(bits_longest(chunk_free(&chunk)), 1u);
}

Test(chunk, taking_says_what_was_not_clean) {
    struct chunk chunk;
    picture_draw(&chunk, ".d~.");
    cr_assert(chunk_take(&chunk, 0, 4) == bits_range(1, 2));
    expect_picture(&chunk, "aaaa.");
    cr_assert_eq(chunk.in_use, 4u);
    cr_assert(chunk_take(&chunk, 4, 3) == 0);
}

Test(chunk, what_is_given_back_is_dirty) {
    struct chunk chunk;
    picture_draw(&chunk, "aaaaa.");
    chunk_give(&chunk, 1, 3);
    expect_picture(&chunk, "addda.");
    cr_assert_eq(chunk.in_use, 2u);
}

Test(chunk, neighbours_given_back_are_one_run) {
    struct chunk chunk;
    picture_draw(&chunk, "a");
    chunk_give(&chunk, 10, 5);
    chunk_give(&chunk, 20, 5);
    cr_assert_eq(bits_longest(chunk_free(&chunk)), 5u);
    chunk_give(&chunk, 15, 5);
    cr_assert_eq(bits_longest(chunk_free(&chunk)), 15u);
    cr_assert_eq(chunk_find(&chunk, 15, 1), 10u);
}

Test(chunk, the_whole_chunk_can_be_taken_and_given) {
    struct chunk chunk;
    picture_draw(&chunk, ".");
    cr_assert(chunk_take(&chunk, 0, CHUNK_GRANULES) == 0);
    expect_picture(&chunk, "a");
    cr_assert(chunk_free(&chunk) == 0);
    chunk_give(&chunk, 0, CHUNK_GRANULES);
    expect_picture(&chunk, "d");
    cr_assert_eq(chunk.in_use, 0u);
}

Test(chunk, addresses_follow_the_granules) {
    struct chunk chunk;
    struct extent extent = {.chunk = &chunk, .first = 5};
    picture_draw(&chunk, ".");
    chunk.base = (char *)(7 * CHUNK_BYTES);
    cr_assert_eq(chunk_address(&chunk, 0), chunk.base);
    cr_assert_eq(chunk_address(&chunk, 127), chunk.base + 127 * GRANULE_BYTES);
    cr_assert_eq(chunk_extent_base(&extent), chunk.base + 5 * GRANULE_BYTES);
}

/* --- headers --- */

Test(chunk, a_new_one_is_clean_and_in_no_list) {
    struct chunk *chunk = chunk_create((char *)(3 * CHUNK_BYTES));
    cr_assert_not_null(chunk);
    expect_picture(chunk, ".");
    cr_assert_eq(chunk->base, (char *)(3 * CHUNK_BYTES));
    cr_assert_null(chunk->domain);
    cr_assert_null(chunk->extents);
    cr_assert(list_is_empty(&chunk->fit_node));
    cr_assert(list_is_empty(&chunk->dirty_node));
    cr_assert(list_is_empty(&chunk->lazy_node));
}

Test(chunk, a_header_is_used_again_with_its_descriptors) {
    struct chunk *chunk = chunk_create((char *)(3 * CHUNK_BYTES));
    cr_assert(chunk_make_extents(chunk));
    struct extent *extents = chunk->extents;
    chunk_take(chunk, 0, 9);
    chunk_give(chunk, 0, 9);
    chunk->refused = true;
    chunk_destroy(chunk);
    struct chunk *again = chunk_create((char *)(4 * CHUNK_BYTES));
    cr_assert_eq(again, chunk);
    cr_assert_eq(again->extents, extents);
    cr_assert_eq(again->base, (char *)(4 * CHUNK_BYTES));
    cr_assert_not(again->refused);
    expect_picture(again, ".");
    cr_assert(chunk_make_extents(again));
    cr_assert_eq(again->extents, extents);
}

Test(chunk, descriptors_are_one_cache_line_each) {
    struct chunk *chunk = chunk_create((char *)(3 * CHUNK_BYTES));
    cr_assert(chunk_make_extents(chunk));
    cr_assert(is_aligned((uintptr_t)chunk->extents, CACHE_LINE));
    memset(chunk->extents, 0xff, CHUNK_GRANULES * sizeof *chunk->extents);
    struct chunk *other = chunk_create((char *)(5 * CHUNK_BYTES));
    expect_picture(other, ".");
}

#if FALLOW_DEBUG

Test(chunk, check_finds_a_granule_in_two_states, .signal = SIGABRT) {
    struct chunk chunk;
    picture_draw(&chunk, "aad.");
    chunk.lazy = chunk.dirty;
    chunk_check(&chunk);
}

Test(chunk, check_finds_a_wrong_count, .signal = SIGABRT) {
    struct chunk chunk;
    picture_draw(&chunk, "aad.");
    chunk.in_use++;
    chunk_check(&chunk);
}

Test(chunk, taking_what_is_in_use_is_caught, .signal = SIGABRT) {
    struct chunk chunk;
    picture_draw(&chunk, "..a.");
    chunk_take(&chunk, 0, 3);
}

Test(chunk, giving_back_what_is_free_is_caught, .signal = SIGABRT) {
    struct chunk chunk;
    picture_draw(&chunk, "aad.");
    chunk_give(&chunk, 0, 3);
}

#endif

/* --- the model: a string of granules, and loops over it --- */

static bool model_run_is(const char *model, unsigned first, unsigned n, const char *states) {
    for (unsigned i = first; i < first + n; i++)
        if (strchr(states, model[i]) == NULL)
            return false;
    return true;
}

static unsigned model_find(const char *model, unsigned n, unsigned step) {
    static const char *const preferences[] = {"d", "d~", "d~."};
    for (size_t p = 0; p < ARRAY_COUNT(preferences); p++)
        for (unsigned first = 0; first + n <= CHUNK_GRANULES; first += step)
            if (model_run_is(model, first, n, preferences[p]))
                return first;
    return NOWHERE;
}

/* A run of granules in use, of at most `n`, somewhere; its length, 0 if there is none. */
static unsigned model_used_run(const char *model, struct random *r, unsigned n, unsigned *first) {
    unsigned from = random_below(r, CHUNK_GRANULES), length = 0;
    while (from < CHUNK_GRANULES && model[from] != 'a')
        from++;
    *first = from;
    while (length < n && from + length < CHUNK_GRANULES && model[from + length] == 'a')
        length++;
    return length;
}

static void model_take(char *model, struct chunk *chunk, unsigned n, unsigned step) {
    unsigned first = chunk_find(chunk, n, step);
    cr_assert_eq(first, model_find(model, n, step), "%u at %u in %s", n, step, model);
    if (first == NOWHERE)
        return;
    bits_t stale = chunk_take(chunk, first, n);
    for (unsigned i = first; i < first + n; i++) {
        cr_assert_eq((stale >> i & 1) != 0, model[i] != '.');
        model[i] = 'a';
    }
    cr_assert((stale & ~bits_range(first, n)) == 0);
}

/* A purge as the domain does it: dirty or lazy granules change their state. */
static void model_purge(char *model, struct chunk *chunk, unsigned i) {
    bits_t bit = (bits_t)1 << i;
    if (model[i] == 'd') {
        model[i] = '~';
        chunk->dirty &= ~bit;
        chunk->lazy |= bit;
    } else if (model[i] == '~') {
        model[i] = '.';
        chunk->lazy &= ~bit;
    }
}

Test(chunk, agrees_with_a_string_over_thousands_of_steps) {
    struct random r = {11};
    struct chunk chunk;
    struct picture model = picture_whole(".");
    picture_draw(&chunk, ".");
    for (unsigned step = 0; step < MODEL_STEPS; step++) {
        unsigned n = 1 + random_below(&r, random_below(&r, 8) == 0 ? CHUNK_GRANULES : 12);
        unsigned first;
        switch (random_below(&r, 4)) {
        case 0:
        case 1:
            model_take(model.text, &chunk, n, 1U << random_below(&r, 5));
            break;
        case 2:
            n = model_used_run(model.text, &r, n, &first);
            if (n != 0)
                chunk_give(&chunk, first, n);
            memset(model.text + first, 'd', n);
            break;
        default:
            for (unsigned i = 0; i < n; i++)
                model_purge(model.text, &chunk, random_below(&r, CHUNK_GRANULES));
        }
        chunk_check(&chunk);
        struct picture is = picture_of(&chunk);
        cr_assert_str_eq(is.text, model.text);
        cr_assert(chunk_clean(&chunk) == picture_set(&is, '.'));
    }
}
