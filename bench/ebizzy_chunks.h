#ifndef EBIZZY_CHUNKS_H
#define EBIZZY_CHUNKS_H

#include "ebizzy_options.h"

#include <stddef.h>
#include <stdint.h>

// The set that records are copied from. Chunk c holds ascending words that no other chunk holds, so
// a copy that was mixed up with another chunk's is found out as surely as one that was overwritten.
struct ebizzy_chunks {
    uint64_t **words; // [chunks], each chunk_bytes long; constant after creation
};

struct ebizzy_chunks ebizzy_chunks_create(const struct ebizzy_options *options);
void ebizzy_chunks_destroy(struct ebizzy_chunks *set, const struct ebizzy_options *options);

static inline uint64_t ebizzy_chunks_word(size_t chunk, size_t index) {
    return ((uint64_t)chunk << 32) + index;
}

#endif
