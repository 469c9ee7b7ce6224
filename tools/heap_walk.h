/* A walk over the chunks of another process's heap, and over the ranges of addresses that are Fallow's. The process goes on
   meanwhile: each chunk is looked at once, and what is read of slabs and blocks is a little old. */
#pragma once

#include "heap_view.h"

typedef unsigned __int128 heap_set; /* of granules of a chunk, the lowest bit first */

enum { HEAP_GRANULES_MAX = 128, HEAP_EXTENT_BYTES = 64 };

struct heap_chunk {
    uint64_t address; /* of its record */
    uint64_t base, extents, domain;
    heap_set used, dirty, lazy, busy; /* at one moment */
    uint8_t holes[HEAP_GRANULES_MAX];
};

/* An extent, or the part of a large one that lies in a chunk. */
struct heap_piece {
    unsigned first, granules;
    uint64_t bytes; /* of a large block: the usable ones that lie here and in what follows */
    bool warm;      /* freed, and kept for its next request */
    bool slab;
    unsigned class;          /* of a slab, */
    uint64_t capacity, used; /* its objects, and those that are not free in it */
};

struct heap_visitor {
    /* May be NULL, as may `piece`. False ends the walk. */
    bool (*chunk)(const struct heap_chunk *chunk, void *context);
    void (*piece)(const struct heap_chunk *chunk, const struct heap_piece *piece, void *context);
    void *context;
};

/* False, with errno, when memory could not be read; what disappeared meanwhile is passed over. */
bool heap_walk(const struct heap_view *view, const struct heap_visitor *visitor);

/* Ranges of the records: metadata, and leaves of the page map. */
bool heap_visit_metadata(const struct heap_view *view,
                         void (*visit)(uint64_t base, uint64_t bytes, void *context),
                         void *context);
