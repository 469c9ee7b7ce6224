/* Every function on sets against a loop over 128 booleans, on edge sets and on random ones. */
#include <criterion/criterion.h>

#include "../random.h"
#include "bits.h"

enum { RANDOM_SETS = 120 };

static bool has(bits_t set, unsigned i) {
    return (uint64_t)(set >> i) & 1;
}

static bits_t one(unsigned i) {
    return (bits_t)1 << i;
}

static bits_t both(uint64_t high, uint64_t low) {
    return (bits_t)high << 64 | low;
}

/* runs[i]: how many members follow from i on, i included. */
static void naive_runs(bits_t set, unsigned runs[BITS_MAX]) {
    unsigned run = 0;
    for (unsigned i = BITS_MAX; i-- > 0;) {
        run = has(set, i) ? run + 1 : 0;
        runs[i] = run;
    }
}

static void check_set(bits_t set) {
    unsigned runs[BITS_MAX];
    unsigned count = 0, longest = 0, first = BITS_MAX;
    naive_runs(set, runs);
    for (unsigned i = BITS_MAX; i-- > 0;) {
        count += has(set, i);
        longest = runs[i] > longest ? runs[i] : longest;
        first = has(set, i) ? i : first;
        cr_assert_eq(bits_run_from(set, i), runs[i], "from %u", i);
    }
    cr_assert_eq(bits_count(set), count);
    cr_assert_eq(bits_longest(set), longest);
    if (set != 0)
        cr_assert_eq(bits_first(set), first);
    for (unsigned n = 1; n <= BITS_MAX; n++) {
        bits_t starts = 0;
        for (unsigned i = 0; i < BITS_MAX; i++)
            starts |= runs[i] >= n ? one(i) : 0;
        cr_assert(bits_starts(set, n) == starts, "runs of %u", n);
    }
}

Test(bits, empty_and_full_sets) {
    check_set(0);
    check_set(~(bits_t)0);
}

Test(bits, alternating_sets) {
    check_set(both(0x5555555555555555, 0x5555555555555555));
    check_set(both(0xaaaaaaaaaaaaaaaa, 0xaaaaaaaaaaaaaaaa));
    check_set(both(0x3333333333333333, 0x3333333333333333));
    check_set(both(0xff00ff00ff00ff00, 0xff00ff00ff00ff00));
}

Test(bits, single_members_at_the_word_borders) {
    static const unsigned members[] = {0, 1, 62, 63, 64, 65, 126, 127};
    for (size_t i = 0; i < ARRAY_COUNT(members); i++) {
        check_set(one(members[i]));
        check_set(~one(members[i]));
    }
}

Test(bits, runs_at_both_ends_and_across_the_middle) {
    static const unsigned lengths[] = {1, 2, 7, 63, 64, 65, 120, 127};
    for (size_t i = 0; i < ARRAY_COUNT(lengths); i++) {
        unsigned n = lengths[i];
        check_set(bits_low(n));
        check_set(bits_low(n) << (BITS_MAX - n));
        check_set(bits_low(n) << ((BITS_MAX - n) / 2));
        check_set(~(bits_low(n) << ((BITS_MAX - n) / 2)));
    }
}

/* From nearly empty to nearly full: and-ing and or-ing random words thins and thickens. */
static bits_t random_set(struct random *r) {
    bits_t set = both(random_next(r), random_next(r));
    for (unsigned i = random_below(r, 5); i > 0; i--)
        set &= both(random_next(r), random_next(r));
    for (unsigned i = random_below(r, 5); i > 0; i--)
        set |= both(random_next(r), random_next(r));
    return set;
}

static bits_t random_runs(struct random *r) {
    bits_t set = 0;
    for (unsigned i = random_below(r, 6); i > 0; i--) {
        unsigned first = random_below(r, BITS_MAX);
        set ^= bits_range(first, 1 + random_below(r, BITS_MAX - first));
    }
    return set;
}

Test(bits, random_sets) {
    struct random r = {1};
    for (unsigned i = 0; i < RANDOM_SETS; i++)
        check_set(random_set(&r));
}

Test(bits, random_sets_of_a_few_runs) {
    struct random r = {2};
    for (unsigned i = 0; i < RANDOM_SETS; i++)
        check_set(random_runs(&r));
}

Test(bits, every_low_set) {
    for (unsigned n = 0; n <= BITS_MAX; n++) {
        bits_t set = bits_low(n);
        for (unsigned i = 0; i < BITS_MAX; i++)
            cr_assert_eq(has(set, i), i < n, "%u in the lowest %u", i, n);
    }
}

Test(bits, every_range) {
    for (unsigned first = 0; first < BITS_MAX; first++) {
        bits_t expected = 0;
        for (unsigned n = 0; n <= BITS_MAX - first; n++) {
            cr_assert(bits_range(first, n) == expected, "%u from %u", n, first);
            expected |= first + n < BITS_MAX ? one(first + n) : 0;
        }
    }
}

Test(bits, multiples_of_every_power_of_two) {
    for (unsigned step = 1; step <= BITS_MAX; step *= 2) {
        bits_t set = bits_multiples(step);
        for (unsigned i = 0; i < BITS_MAX; i++)
            cr_assert_eq(has(set, i), i % step == 0, "%u at steps of %u", i, step);
    }
}

Test(bits, a_run_is_found_by_its_start_and_its_length) {
    struct random r = {3};
    for (unsigned i = 0; i < RANDOM_SETS; i++) {
        bits_t set = random_set(&r);
        bits_t rest = set;
        while (rest != 0) { /* as the purge takes a set apart */
            unsigned first = bits_first(rest);
            unsigned n = bits_run_from(rest, first);
            cr_assert((bits_range(first, n) & ~set) == 0);
            cr_assert(first + n == BITS_MAX || !has(set, first + n));
            rest &= ~bits_range(first, n);
        }
    }
}
