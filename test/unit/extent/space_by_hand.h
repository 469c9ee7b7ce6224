/* Chunks taken and given back by hand. */
#pragma once

#include <criterion/criterion.h>

#include "law.h"
#include "space.h"

static inline size_t mapped(void) {
    return atomic_load(&space_mapped_chunks);
}

static inline size_t held(void) {
    return atomic_load(&space_held_chunks);
}

static inline struct chunk *neighbour(struct chunk *chunk, size_t i) {
    return space_chunk_at(chunk->base + (i << CHUNK_SHIFT));
}

static inline void give_dirty(struct chunk *chunk) {
    chunk_take(chunk, 0, CHUNK_GRANULES);
    chunk_give(chunk, 0, CHUNK_GRANULES);
    space_give(chunk);
}

static inline void give_lazy(struct chunk *chunk) {
    chunk->lazy = bits_low(4);
    space_give(chunk);
}

static inline void give_run(struct chunk *first, size_t n) {
    char *base = first->base; /* once given back, it may be anybody's or nobody's */
    for (size_t i = 0; i < n; i++)
        space_give(space_chunk_at(base + (i << CHUNK_SHIFT)));
}

/* A place at a 4 GiB border where nothing is, two chunks of it taken; NULL if there is none. */
static inline struct chunk *take_at_a_border(void) {
    static const uintptr_t borders[] = {0x10, 0x11, 0x3000, 0x5000, 0x7000};
    for (size_t i = 0; i < ARRAY_COUNT(borders); i++) {
        struct chunk *chunk = space_take_at((char *)(borders[i] << 32) - CHUNK_BYTES, 2);
        if (chunk != NULL)
            return chunk;
    }
    return NULL;
}
