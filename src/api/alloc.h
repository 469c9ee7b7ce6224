/* The malloc family's semantics over heaps. The two fast paths are here, to be inlined into whatever
   name they are called by: no lock, no atomic read-modify-write, no system call, no clock. Every
   other case is a call into alloc.c. */
#pragma once

#include "pagemap.h"
#include "slab.h"
#include "slab_shape.h"
#include "thread.h"

/* Everything that alloc_malloc() does not do itself; sets errno to ENOMEM with NULL. */
void *alloc_malloc_slow(size_t bytes);

/* Everything that alloc_free() does not do itself. */
void alloc_free_slow(void *p);

/* `used` of the caller's own slab fell to 0: see heap_emptied(). */
void alloc_free_emptied(struct extent *slab, void *p);

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

static always_inline void *alloc_malloc(size_t bytes) {
    struct heap *heap = thread_self.heap;
    if (likely(bytes <= HEAP_DIRECT_BYTES) && likely(heap != NULL)) {
        struct extent *slab = heap_current_direct(heap, bytes);
        if (likely(slab->free != NULL))
            return slab_pop(slab);
    }
    return alloc_malloc_slow(bytes);
}

static always_inline void alloc_free(void *p) {
    struct extent *slab = pagemap_get(p);
    if (unlikely(slab == NULL)) {
        alloc_free_slow(p);
        return;
    }
    thread_mark(slab);
    /* Acquire: a sweep may have given it back just now. */
    if (unlikely(atomic_load_explicit(&slab->owner, memory_order_acquire) != thread_self.heap) ||
        unlikely(p == slab->free))
        alloc_free_slow(p);
    else if (unlikely(--slab->used == 0))
        alloc_free_emptied(slab, p);
    else
        slab_push(slab, p);
}
