/*
 * Contents that tell whose they are: every byte of a block depends on the block's seed and on the
 * byte's place, so a block that overlaps another, was moved wrongly, or was purged while in use
 * shows at the first byte that differs. Seeds that differ give contents that differ early.
 */
#ifndef FALLOW_TEST_PATTERN_H
#define FALLOW_TEST_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t pattern_mix(uint64_t value) {
    value ^= value >> 32;
    value *= 0x9e3779b97f4a7c15u;
    value ^= value >> 29;
    value *= 0xbf58476d1ce4e5b9u;
    return value ^ (value >> 32);
}

static inline uint64_t pattern_word(uint64_t seed, size_t word_index) {
    return pattern_mix(seed) + (uint64_t)word_index * 0x0101010101010101u;
}

static inline void pattern_fill(void *block, size_t size, uint64_t seed) {
    unsigned char *bytes = block;
    size_t words = size / 8;
    for (size_t i = 0; i < words; i++) {
        uint64_t word = pattern_word(seed, i);
        memcpy(bytes + i * 8, &word, 8);
    }
    uint64_t last = pattern_word(seed, words);
    memcpy(bytes + words * 8, &last, size % 8);
}

/* The index of the first of `size` bytes that is not as filled, or `size` when all are. */
static inline size_t pattern_differs_at(const void *block, size_t size, uint64_t seed) {
    const unsigned char *bytes = block;
    for (size_t i = 0; i * 8 < size; i++) {
        uint64_t word = pattern_word(seed, i);
        size_t length = size - i * 8 < 8 ? size - i * 8 : 8;
        if (memcmp(bytes + i * 8, &word, length) != 0) {
            size_t j = 0;
            unsigned char expected[8];
            memcpy(expected, &word, 8);
            while (bytes[i * 8 + j] == expected[j]) {
                j++;
            }
            return i * 8 + j;
        }
    }
    return size;
}

static inline bool pattern_holds(const void *block, size_t size, uint64_t seed) {
    return pattern_differs_at(block, size, seed) == size;
}

/* For huge blocks: the first word of each page and the block's last bytes, not every byte. */
static inline void pattern_mark(void *block, size_t size, uint64_t seed) {
    unsigned char *bytes = block;
    for (size_t offset = 0; offset + 8 <= size; offset += 4096) {
        uint64_t word = pattern_word(seed, offset / 8);
        memcpy(bytes + offset, &word, 8);
    }
    if (size >= 16) {
        uint64_t word = pattern_word(~seed, size);
        memcpy(bytes + size - 8, &word, 8);
    }
}

/* `was` is the size that was marked, `now` how much of it is left to look at. */
static inline bool pattern_marked(const void *block, size_t was, size_t now, uint64_t seed) {
    const unsigned char *bytes = block;
    for (size_t offset = 0; offset + 8 <= now; offset += 4096) {
        uint64_t word = pattern_word(seed, offset / 8);
        if (offset + 16 > was && was >= 16) {
            break; /* the end mark may lie over this word */
        }
        if (memcmp(bytes + offset, &word, 8) != 0) {
            return false;
        }
    }
    if (was >= 16 && now >= was) {
        uint64_t word = pattern_word(~seed, was);
        return memcmp(bytes + was - 8, &word, 8) == 0;
    }
    return true;
}

/* The index of the first byte that is not zero, or `size` when all are. */
static inline size_t pattern_not_zero_at(const void *block, size_t size) {
    const unsigned char *bytes = block;
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] != 0) {
            return i;
        }
    }
    return size;
}

/* A small generator, one per thread; the same seed gives the same run everywhere. */
static inline uint64_t pattern_random(uint64_t *state) {
    *state += 0x9e3779b97f4a7c15u;
    return pattern_mix(*state);
}

#endif
