/* Large blocks: extents of their own, rounded to pages, for sizes above the size classes and for
   alignments above a granule. */
#pragma once

#include "heap.h"

/* A block of at least `bytes` at a multiple of `align` (a power of two); NULL when out of memory. */
void *large_alloc(struct heap *heap, size_t bytes, size_t align, bool zero);

/* `extent` has been taken out of the page map by the caller, who alone frees it. */
void large_free(struct heap *heap, struct extent *extent);

/* Of a heap that may be another thread's: gives back its warm blocks, all of them or those that were
   idle in the epoch that ends. */
void large_flush(struct heap *heap);
void large_drain(struct heap *heap, uint64_t now_ns);

/* Resizes in place; false if that is not possible. */
bool large_resize(struct heap *heap, struct extent *extent, size_t bytes);

/* A block of `bytes` at another address with the contents of this one, which is freed; NULL, with
   nothing changed, when out of memory. */
void *large_move(struct heap *heap, struct extent *extent, size_t bytes);
