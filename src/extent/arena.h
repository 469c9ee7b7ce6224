/* An arena: chunks that hold extents of up to one chunk, under one lock. Chunks are binned by
   their longest free run; an extent goes to the smallest bin that can hold it and there to the
   fullest chunk, so that sparse chunks drain and go back to the space when they are empty.

   There are as many arenas as CPUs that the process may use; each heap is attached to one, but
   may give extents back to any. Locks rank: arena (several only in the fork handler), space. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "domain.h"

enum { ARENA_MAX = 256, ARENA_BIN_WORDS = CHUNK_GRANULES / 64 + 1 };

struct arena {
    struct domain domain;
    uint64_t filled[ARENA_BIN_WORDS]; /* under lock: which bins are not empty */
    struct list_node bins[CHUNK_GRANULES + 1];
    unsigned lone_chunks;   /* under lock */
    bool churns;            /* under lock: a large block was freed here */
    _Atomic unsigned heaps; /* attached */
};

/* The arena for a new heap: the one with the fewest heaps, made if it does not exist yet.
   `only_first`: no question to the kernel how many CPUs there are. NULL when out of memory. */
struct arena *arena_attach(bool only_first);
void arena_detach(struct arena *arena);

/* How many there may be, as the process's CPUs are now; asks the kernel. */
unsigned arena_limit(void);

/* Arenas made so far, and the i-th of them. */
unsigned arena_count(void);
struct arena *arena_at(unsigned i);

/* A run of `n` granules (1 to CHUNK_GRANULES) at a multiple of `step` granules: its descriptor,
   with chunk, first and granules set, or NULL when out of memory. `stale`: those of its granules,
   as bits of the chunk, that may not read as zero. */
struct extent *arena_take(struct arena *arena, unsigned n, unsigned step, bits_t *stale);

/* Gives a run back; its granules become dirty. The extent's arena is found by itself. */
void arena_give(struct extent *extent);

/* Gives back the last `n` granules of a run in one chunk. */
void arena_shrink(struct extent *extent, unsigned n);

/* Takes `n` granules of `chunk` from `first` on if they are free. */
bool arena_take_at(struct chunk *chunk, unsigned first, unsigned n);
void arena_give_at(struct chunk *chunk, unsigned first, unsigned n, bool clean);

/* A chunk that belongs to nobody joins, with what is used in it; a wholly used one leaves. */
void arena_add_chunk(struct arena *arena, struct chunk *chunk);
void arena_remove_full_chunk(struct chunk *chunk);

/* After purging began or ended in a chunk: bins it anew, or passes it on to the space. */
void arena_settle_locked(struct arena *arena, struct chunk *chunk);

void arena_lock_for_fork(void);
void arena_unlock_after_fork(bool child);
