/* An object goes straight to its slab. */
#pragma once

#include "misuse.h"
#include "slab.h"
#include "thread.h"

/* By the thread whose heap it is, or with it in hand. */
static always_inline void heap_free_object(struct heap *heap, struct extent *slab, void *p) {
    thread_mark(slab);
    /* Acquire: a sweep may have given it back just now. */
    if (unlikely(atomic_load_explicit(&slab->owner, memory_order_acquire) != heap))
        heap_free_remote(heap, slab, p);
    else if (unlikely(p == slab->free))
        misuse_double_free(p);
    else if (unlikely(--slab->used == 0))
        heap_emptied(heap, slab, p);
    else
        slab_push(slab, p);
}
