/* The space: all chunks that are wholly free, and where chunks come from. One for the process.
   Arenas take single chunks from it, huge extents runs of neighbouring ones; both bring them back
   when they are empty. Chunks that are free and resident are handed out before clean ones, and
   only then is address space mapped.

   space_lock ranks after the arenas' locks. Mapping and unmapping happen without it. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "domain.h"

extern struct domain space_domain;

/* Chunks that belong to no domain: inside huge extents, or in some thread's hands on their way
   from one domain to another. Changes under the lock of the domain they leave or enter. */
extern _Atomic size_t space_held_chunks;

/* Heaps that take memory. With thp:auto each adds a chunk to the size from which huge pages are asked
   for: a thread's slabs are mostly untouched, but on a huge page they would all be resident. */
extern _Atomic size_t space_heaps;

/* Chunks mapped now. Changes under the space's lock. */
extern _Atomic size_t space_mapped_chunks;

static inline void space_note_held(int change) {
    atomic_fetch_add_explicit(&space_held_chunks, (size_t)change, memory_order_relaxed);
}

void space_init(void);

/* Takes `n` neighbouring free chunks of which the first is at a multiple of `step` chunks, mapping
   new ones if need be; they belong to no domain then. NULL when out of memory. */
struct chunk *space_take(size_t n, size_t step);

/* Has a free chunk that belongs to nobody asked for huge pages, if it was not and that is wanted at all,
   for instance because it was broken up; what is resident of it is given back first. */
void space_make_huge(struct chunk *chunk);

/* Takes the `n` chunks that begin at `base` if all are free or can be mapped there. */
struct chunk *space_take_at(char *base, size_t n);

/* Brings back a wholly free chunk that belongs to no domain. */
void space_give(struct chunk *chunk);

/* A chunk's memory is gone from the address space (mremap took it). Its header is recycled. */
void space_forget(struct chunk *chunk);

/* The chunk at `base` if Fallow has mapped one there, else NULL. For chunks that the caller holds,
   and as a hint for others. */
struct chunk *space_chunk_at(const void *base);

/* The first chunk that is mapped after the one at `after`, or NULL; from the lowest for NULL. Without a
   lock: chunks come and go meanwhile. */
const char *space_next(const char *after);

/* Purging begins or has ended on granules of a chunk of the space. */
void space_settle_locked(struct chunk *chunk);

/* Unmaps all chunks of the space; returns how many. Called when mapping fails. */
size_t space_unmap_free(void);

void space_lock_for_fork(void);
void space_unlock_after_fork(bool child);
