/* Bit sets over the granules of one chunk, and the run arithmetic that everything about extents
   is made of. A set is one 128-bit integer: bit i stands for granule i, so a split, a merge of
   neighbours or "which runs are free" is a mask operation. Pure functions, no state. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "compiler.h"

enum { BITS_MAX = 128 };

typedef unsigned __int128 bits_t;

/* The set {0 .. n-1}; n from 0 to 128. */
static inline bits_t bits_low(unsigned n) {
    return n == 0 ? 0 : ~(bits_t)0 >> (BITS_MAX - n);
}

/* The set {first .. first+n-1}. */
static inline bits_t bits_range(unsigned first, unsigned n) {
    return n == 0 ? 0 : bits_low(n) << first;
}

static inline unsigned bits_count(bits_t set) {
    return (unsigned)__builtin_popcountll((uint64_t)set) +
           (unsigned)__builtin_popcountll((uint64_t)(set >> 64));
}

/* Lowest member of a set that is not empty. */
static inline unsigned bits_first(bits_t set) {
    uint64_t low = (uint64_t)set;
    return low != 0 ? (unsigned)__builtin_ctzll(low)
                    : 64 + (unsigned)__builtin_ctzll((uint64_t)(set >> 64));
}

/* Every member from which `n` consecutive members start; n from 1 to 128. */
static inline bits_t bits_starts(bits_t set, unsigned n) {
    unsigned have = 1; /* `set` holds the starts of runs of this length */
    while (have < n && set != 0) {
        unsigned step = have < n - have ? have : n - have;
        set &= set >> step;
        have += step;
    }
    return set;
}

/* Length of the run of members that starts at member `first`. */
static inline unsigned bits_run_from(bits_t set, unsigned first) {
    bits_t gaps = ~(set >> first);
    return gaps == 0 ? BITS_MAX : bits_first(gaps);
}

/* Length of the longest run of consecutive members; 0 for the empty set. Doubles the run length
   while it still finds starts, then refines downwards: about 14 steps for any set. */
static inline unsigned bits_longest(bits_t set) {
    bits_t levels[8]; /* levels[i]: starts of runs of length 2^i */
    unsigned top = 0;
    if (set == 0)
        return 0;
    levels[0] = set;
    while (top < 7) {
        bits_t next = levels[top] & (levels[top] >> (1U << top));
        if (next == 0)
            break;
        levels[++top] = next;
    }
    if (top == 7)
        return BITS_MAX;
    bits_t starts = levels[top];
    unsigned length = 1U << top;
    for (unsigned i = top; i-- > 0;) {
        bits_t longer = starts & (levels[i] >> length);
        if (longer != 0) {
            starts = longer;
            length += 1U << i;
        }
    }
    return length;
}

/* Members whose index is a multiple of `step`, a power of two. */
static inline bits_t bits_multiples(unsigned step) {
    bits_t set = 1;
    if (step == 1)
        return ~(bits_t)0;
    for (unsigned width = step; width < BITS_MAX; width *= 2)
        set |= set << width;
    return set;
}

/* Sets or clears bit `i` of a larger set. */
static inline void bits_word_assign(uint64_t *words, unsigned i, bool value) {
    uint64_t bit = (uint64_t)1 << (i % 64);
    words[i / 64] = value ? words[i / 64] | bit : words[i / 64] & ~bit;
}
