/* Heaps without threads: what malloc and free do with a heap, done by hand, and the invariants of a
   heap as code. Any number of heaps in one thread, so that "another thread" is another heap. */
#pragma once

#include <criterion/criterion.h>

#include "arena.h"
#include "heap.h"
#include "large.h"
#include "options.h"
#include "pagemap.h"
#include "slab.h"
#include "slab_shape.h"
#include "space.h"

static struct arena *arena;
static struct heap heap_a, heap_b;

/* Small pages only; nothing is purged unasked here. */
static inline void start_heaps(void) {
    options.thp = THP_NEVER;
    space_init();
    arena = arena_attach(true);
    heap_init(&heap_a, arena, false);
    heap_init(&heap_b, arena, false);
}

static inline void *heap_alloc(struct heap *heap, unsigned class) {
    struct extent *slab = heap->current[class];
    bool zero = false;
    return slab->free != NULL ? slab_pop(slab) : heap_malloc_slow(heap, class, &zero);
}

static inline void heap_free(struct heap *heap, void *p) {
    struct extent *slab = pagemap_get(p);
    cr_assert_not_null(slab);
    if (atomic_load_explicit(&slab->owner, memory_order_relaxed) != heap)
        heap_free_remote(heap, slab, p);
    else if (--slab->used == 0)
        heap_emptied(heap, slab, p);
    else
        slab_push(slab, p);
}

static inline size_t list_length(const struct list_node *head) {
    size_t n = 0;
    LIST_FOR_EACH (node, head)
        n++;
    return n;
}

static inline size_t heap_partial_slabs(const struct heap *heap) {
    size_t n = 0;
    for (unsigned class = 0; class < CLASS_COUNT; class ++)
        n += list_length(&heap->partial[class]);
    return n;
}

/* A slab in one of a heap's lists. */
static inline void expect_listed(const struct extent *slab, unsigned class) {
    slab_check(slab);
    cr_assert_eq(slab->class, class);
    cr_assert_not(slab->flags & EXTENT_CURRENT);
    cr_assert_eq(atomic_load(&slab->remote) & (REMOTE_OWNED | REMOTE_LISTED),
                 (uintptr_t)REMOTE_OWNED);
}

/* The invariants of heap.h. No other thread is at work. */
static inline void expect_heap(struct heap *heap) {
    size_t parked = 0;
    for (unsigned class = 0; class < CLASS_COUNT; class ++) {
        struct extent *current = heap->current[class];
        if (current != &slab_none) {
            slab_check(current);
            cr_assert_eq(current->class, class);
            cr_assert_eq(atomic_load(&current->owner), heap);
            cr_assert(current->flags & EXTENT_CURRENT);
            cr_assert_geq(current->used, 1u);
        }
        LIST_FOR_EACH (node, &heap->partial[class]) {
            struct extent *slab = LIST_ENTRY(node, struct extent, node);
            expect_listed(slab, class);
            cr_assert_gt(slab->used, 0u);
            cr_assert_eq(atomic_load(&slab->owner), heap);
        }
    }
    LIST_FOR_EACH (node, &heap->parked) {
        struct extent *slab = LIST_ENTRY(node, struct extent, node);
        expect_listed(slab, slab->class);
        cr_assert_eq(slab->used, 0u);
        cr_assert_eq(atomic_load(&slab->owner), EXTENT_PARKED);
        parked += bytes_of_granules(slab->granules);
    }
    cr_assert_eq(heap->parked_bytes, parked);
    cr_assert_leq(heap->parked_bytes, (size_t)HEAP_PARKED_MAX);
}

/* No slab and, but for warm ones, no block is left in the arena. */
static inline void expect_all_given_back(void) {
    large_flush(&heap_a);
    large_flush(&heap_b);
    cr_assert_eq(arena->domain.used, 0u, "%zu granules are in use", arena->domain.used);
    cr_assert_eq(space_domain.chunks, atomic_load(&space_mapped_chunks));
}
