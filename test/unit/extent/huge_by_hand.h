/* Huge extents with contents by which each granule can be told. */
#pragma once

#include <criterion/criterion.h>

#include "huge.h"
#include "law.h"

enum { WHOLE = CHUNK_GRANULES };

static struct arena *arena;

static inline void start_huge(void) {
    start_space();
    arena = arena_attach(true);
}

static inline struct extent *take(size_t granules) {
    struct extent *extent = huge_take(arena, granules, 1, false);
    cr_assert_not_null(extent);
    cr_assert_eq(extent->granules, granules);
    cr_assert_eq(extent->first, 0u);
    return extent;
}

static inline struct chunk *part(const struct extent *extent, size_t i) {
    return space_chunk_at(extent->chunk->base + (i << CHUNK_SHIFT));
}

/* A word at the beginning and at the end of every granule tells which one it is. */
static inline uint64_t *granule_word(const struct extent *extent, size_t granule, bool last) {
    char *at = extent->chunk->base + bytes_of_granules(granule);
    return (uint64_t *)(void *)(at + (last ? GRANULE_BYTES - sizeof(uint64_t) : 0));
}

static inline void mark(const struct extent *extent, size_t from, uint64_t name) {
    for (size_t i = from; i < extent->granules; i++) {
        *granule_word(extent, i, false) = name + i;
        *granule_word(extent, i, true) = ~(name + i);
    }
}

static inline bool is_marked(const struct extent *extent, size_t granules, uint64_t name) {
    for (size_t i = 0; i < granules; i++)
        if (*granule_word(extent, i, false) != name + i ||
            *granule_word(extent, i, true) != ~(name + i))
            return false;
    return true;
}
