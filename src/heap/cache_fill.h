/* The slow half of a thread's cache: between it and the slabs. By the heap's owner. */
#pragma once

#include "heap.h"

/* An object of which cache_pop() found none; `*zero` and NULL as in heap_malloc_slow(). */
void *cache_malloc_slow(struct heap *heap, unsigned class, bool *zero);

/* Frees an object that cache_push() did not take. */
void cache_free_slow(struct heap *heap, struct extent *slab, void *p);

/* At the end of an epoch: what was not needed in it goes back to the slabs. */
void cache_tick(struct heap *heap);

/* All goes back; waits for a drain. */
void cache_flush(struct heap *heap);
