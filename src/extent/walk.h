/* A walk over all that is mapped for blocks: chunk by chunk its sets of granules, and piece by piece the extents
   in it. Other threads may be at work: each chunk is looked at once, and what is read of slabs and blocks is a
   little old. No allocation, no system call. For reports. */
#pragma once

#include "chunk.h"

/* An extent, or the part of a huge one that lies in a chunk. */
struct walk_piece {
    unsigned first;    /* granule of the chunk */
    unsigned granules; /* of the chunk */
    size_t bytes;      /* of a large block: the usable ones that lie here and in what follows */
    bool begins;       /* false: the block began in a chunk before */
    bool warm;         /* freed, and kept for its next request */
    const struct extent *slab; /* NULL: a large block, or one of which nothing is known just now */
};

struct walk_visitor {
    /* `copy`: its sets, base, extents and domain at one moment, if some domain has it. */
    void (*chunk)(const struct chunk *copy, void *context);
    /* In order of addresses, after its chunk; may be NULL. */
    void (*piece)(const struct chunk *copy, const struct walk_piece *piece, void *context);
    void *context;
};

void walk_chunks(const struct walk_visitor *visitor);
