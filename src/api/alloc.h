/* The malloc family's semantics over heaps. The two fast paths are here, to be inlined into whatever
   name they are called by: no lock, no atomic read-modify-write, no system call, no clock. Every
   other case is a call into alloc.c. */
#pragma once

#include "cache.h"
#include "pagemap.h"
#include "thread.h"

/* Everything that alloc_malloc() does not do itself; sets errno to ENOMEM with NULL. */
void *alloc_malloc_slow(size_t bytes);

/* Everything that alloc_free() does not do itself. */
void alloc_free_slow(void *p);

void *alloc_calloc(size_t count, size_t bytes);
void *alloc_realloc(void *p, size_t bytes);
void *alloc_reallocarray(void *p, size_t count, size_t bytes);

/* `align` is a power of two. NULL with ENOMEM. */
void *alloc_aligned(size_t align, size_t bytes);

/* The argument checks of the standards: EINVAL for an alignment that is not a power of two. */
void *alloc_memalign(size_t align, size_t bytes);
int alloc_posix_memalign(void **out, size_t align, size_t bytes);
void *alloc_pvalloc(size_t bytes);
void *alloc_valloc(size_t bytes);

size_t alloc_usable_size(const void *p);

/* At a multiple of `align`, a power of two; with `zero` it reads as zero. */
void *alloc_block(size_t bytes, size_t align, bool zero);
/* What alloc_usable_size() will say of a block asked for so; 0: there is none so large. */
size_t alloc_good_size(size_t bytes, size_t align);
/* Resizes in place, to between `bytes` and `most`, if that is possible; the size the block has then. */
size_t alloc_resize(void *p, size_t bytes, size_t most);
/* Empties the calling thread's cache and heap. */
void alloc_flush(void);

/* From heaps and to them, whatever watches; for checked.c. */
void *alloc_take(size_t bytes, size_t align, bool zero);
void alloc_give(void *p);

static always_inline void *alloc_malloc(size_t bytes) {
    if (likely(bytes <= CACHE_TABLE_BYTES)) {
        struct cache *cache = thread_cache();
        void *p = NULL;
        if (likely(cache_pop(cache, cache->bin_of[(bytes + 15) / 16], &p)))
            return p;
    }
    return alloc_malloc_slow(bytes);
}

static always_inline void alloc_free(void *p) {
    if (unlikely(!cache_push(thread_cache(), pagemap_tag(p), p)))
        alloc_free_slow(p);
}
