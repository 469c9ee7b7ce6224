/* Which slabs are swept (holes.h): those that are mostly free, and as they were at the last look. */
#pragma once

#include "heap.h"
#include "os_lock.h"
#include "purge_batch.h"

enum { HOLES_BATCH = 256 }; /* slabs that are swept together */

/* A slab that is taken from its owner. */
struct holes_entry {
    struct extent *slab;
    struct heap *heap; /* the owner, or EXTENT_PARKED; NULL: an orphan */
    uint64_t quarters; /* to be advised */
    bool give_back;    /* what is lazy goes, nothing new is made */
    bool busy;         /* its owner is just at it: it stays as it is */
    bool lazy;         /* it is made lazy first */
    bool breaks;       /* it is on what was a huge page until now */
};

/* Grows under the lock of a domain, shrinks under holes_lock; the sweeping thread's. */
extern struct os_lock holes_lock;
extern struct holes_entry holes_entries[HOLES_BATCH];
extern size_t holes_count;

/* One round of the thread that sweeps. */
struct holes_round {
    struct purge_batch *batch;
    struct heap *own; /* the caller's, or NULL */
    bool all;         /* other threads' slabs, too */
    bool at_once;     /* whether or not they were used of late */
    bool clean;       /* what is lazy is given back, however young */
    size_t *agreed;   /* the bytes that the kernel agreed to; or NULL */
    uint64_t now_ns;
};

/* No room for the slabs of one more chunk. */
static inline bool holes_are_full(void) {
    return holes_count + CHUNK_GRANULES > HOLES_BATCH;
}

/* Takes what is due of a chunk, for which there is room. */
void holes_look(const struct holes_round *round, struct chunk *chunk);

/* A slab is about to be given back, and looks like this now. */
void holes_note_swept(const struct holes_round *round, const struct holes_entry *entry);

/* A cycle of looks begins; after it, when there will be something to take: not before `soonest_ns`,
   UINT64_MAX if nothing changes. */
void holes_choose_begin(void);
uint64_t holes_choose_next_ns(uint64_t soonest_ns);
