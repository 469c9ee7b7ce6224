/* A chunk: 2 MiB of address space, 2 MiB aligned, and what is known about it: four sets of
   granules. A granule is exactly one of
       used                  part of a live extent,
       dirty                 free and resident: the last user's bytes,
       lazy                  free, MADV_FREE'd: old bytes or zero, the kernel may take it,
       busy                  free, a purge is in flight on it,
       none of them: clean   free, reads as zero, not resident.
   So splitting and merging extents is setting and clearing bits.

   A chunk belongs to an arena (some granules used or busy), to a huge extent (all its granules
   used), or to the space (all free). The lock of the domain it belongs to protects its fields;
   chunk.c only does the arithmetic. */
#pragma once

#include <stdint.h>

#include "bits.h"
#include "extent.h"
#include "geometry.h"
#include "list.h"

struct domain;

/* In which of the domain's purge orders a chunk is, by its dirty granules. */
enum chunk_order {
    CHUNK_ORDER_NONE,    /* no dirty granules */
    CHUNK_ORDER_DIRTY,   /* to be purged as they become idle */
    CHUNK_ORDER_REFUSED, /* the kernel refused to purge a range of it: to be tried again later */
    CHUNK_ORDER_SPARSE, /* on a huge page of which little is in use: to be broken up after a while */
    CHUNK_ORDER_HELD,   /* on a huge page that is mostly in use: left alone */
};

/* A huge page with more granules in use than this is not broken up. */
enum { CHUNK_SPARSE_MAX = CHUNK_GRANULES / 4 };

struct chunk {
    bits_t used, dirty, lazy, busy;
    bits_t once;                 /* of lazy: advised once, and to be advised again */
    char *base;                  /* constant */
    struct extent *extents;      /* one descriptor a granule; constant once made */
    struct domain *domain;       /* who holds the chunk; NULL while it is part of a huge extent */
    uint64_t dirty_since_ns;     /* when the chunk came into its present dirty order */
    uint64_t lazy_since_ns;      /* when the oldest lazy granule became so */
    struct list_node fit_node;   /* the arena's bin of chunks with this longest free run */
    struct list_node dirty_node; /* the domain's list of this `order`, oldest first */
    struct list_node lazy_node;  /* the domain's chunks with lazy granules, oldest first */
    struct list_node once_node;  /* those with granules in `once`, oldest first, */
    uint64_t once_since_ns;      /* since then */
    unsigned surveyed;           /* survival_surveys() when its lazy granules were last looked at */
    _Atomic unsigned forks;      /* forks of the process before it was certainly its own */
    uint8_t order;               /* enum chunk_order */
    uint8_t held;                /* dirty granules, if `order` is above DIRTY */
    uint8_t in_use;              /* granules in `used` */
    uint8_t longest;             /* longest free run in granules; the bin that fit_node is in */
    uint8_t
        holes[CHUNK_GRANULES]; /* pages without objects in slabs; the slab's holder's: holes.h */
    uint16_t looks[CHUNK_GRANULES]; /* what a slab was like when it was last looked at: holes.c */
    uint64_t holes_since_ns;        /* when the oldest of them became lazy; 0: none is */
    bool huge;          /* advised for huge pages: what is touched becomes resident as a whole */
    bool lone;          /* holds one large block alone; takes no other extent */
    _Atomic bool small; /* advised against huge pages; read without the lock as a hint */
    bool refused;       /* the kernel refused to purge a range here; retried at lazy age */
};

static inline bits_t chunk_free(const struct chunk *chunk) {
    return ~(chunk->used | chunk->busy) & bits_low(CHUNK_GRANULES);
}

static inline bits_t chunk_clean(const struct chunk *chunk) {
    return chunk_free(chunk) & ~(chunk->dirty | chunk->lazy);
}

static inline char *chunk_address(const struct chunk *chunk, unsigned granule) {
    return chunk->base + bytes_of_granules(granule);
}

/* Where an extent begins. */
static inline char *chunk_extent_base(const struct extent *extent) {
    return chunk_address(extent->chunk, extent->first);
}

/* A header for the chunk at `base`, everything clean; NULL when out of memory. */
struct chunk *chunk_create(char *base);

/* Gives the header back for the next chunk_create(); its memory is unmapped or lost already. */
void chunk_destroy(struct chunk *chunk);

/* Makes the descriptor array; false when out of memory. Only the holder calls this. */
bool chunk_make_extents(struct chunk *chunk);

/* Where `n` free granules may go, at a multiple of `step`: dirty ones before lazy ones before
   clean ones, then the lowest address. CHUNK_GRANULES when there is no such run. */
unsigned chunk_find(const struct chunk *chunk, unsigned n, unsigned step);

/* Takes free granules into use; returns those of them that were not clean. */
bits_t chunk_take(struct chunk *chunk, unsigned first, unsigned n);

/* Used granules become dirty. */
void chunk_give(struct chunk *chunk, unsigned first, unsigned n);

/* Writes zeroes over used granules. */
void chunk_zero(const struct chunk *chunk, bits_t set);

/* Debug builds: the sets are disjoint. */
void chunk_check(const struct chunk *chunk);

/* Forks of the process and its ancestors. */
unsigned chunk_fork_count(void);

/* Whether the process has forked since the chunk was known to be its own: another may have it too. */
bool chunk_is_from_before_fork(const struct chunk *chunk);
/* It turned out to be its own. */
void chunk_note_exclusive(struct chunk *chunk);
/* The process is about to fork. With all locks held. */
void chunk_note_fork(void);

void chunk_lock_for_fork(void);
void chunk_unlock_after_fork(bool child);
