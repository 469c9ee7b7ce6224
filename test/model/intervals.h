/*
 * The live blocks ordered by address, so that an overlap is found when it is made: a new interval is
 * compared with its neighbours only. A plain sorted array: slow to insert, easy to believe.
 */
#ifndef FALLOW_TEST_INTERVALS_H
#define FALLOW_TEST_INTERVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { INTERVALS_MAX = 8192 };

struct interval {
    uintptr_t start, end;
};

struct intervals {
    size_t count;
    struct interval sorted[INTERVALS_MAX];
};

/* The index of the first interval that ends above `address`. */
static inline size_t intervals_find(const struct intervals *intervals, uintptr_t address) {
    size_t low = 0;
    size_t high = intervals->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (intervals->sorted[middle].end <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* False when the new interval overlaps one that is there. */
static inline bool intervals_insert(struct intervals *intervals, const void *block, size_t size) {
    uintptr_t start = (uintptr_t)block;
    size_t place = intervals_find(intervals, start);
    if (place < intervals->count && intervals->sorted[place].start < start + size) {
        return false;
    }
    memmove(&intervals->sorted[place + 1], &intervals->sorted[place],
            (intervals->count - place) * sizeof *intervals->sorted);
    intervals->sorted[place].start = start;
    intervals->sorted[place].end = start + size;
    intervals->count++;
    return true;
}

/* False when no interval begins at the block. */
static inline bool intervals_remove(struct intervals *intervals, const void *block) {
    uintptr_t start = (uintptr_t)block;
    size_t place = intervals_find(intervals, start);
    if (place == intervals->count || intervals->sorted[place].start != start) {
        return false;
    }
    intervals->count--;
    memmove(&intervals->sorted[place], &intervals->sorted[place + 1],
            (intervals->count - place) * sizeof *intervals->sorted);
    return true;
}

#endif
