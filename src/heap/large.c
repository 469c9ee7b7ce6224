/* Large blocks over arena and huge extents. The block's address is its extent's first granule; only
   that granule is in the page map. Usable size: the request rounded up to pages. */
#include "large.h"

#include <string.h>

#include "huge.h"
#include "options.h"
#include "os_page.h"
#include "os_thread.h"
#include "pagemap.h"
#include "purge_thread.h"

/* What an extent is a multiple of: a granule, or a page where pages are larger. */
static size_t large_unit(void) {
    return max_size(os_page_size(), GRANULE_BYTES);
}

/* The block's life begins. */
static void *large_begin(struct extent *extent, size_t usable) {
    char *p = chunk_extent_base(extent);
    extent->bytes = usable;
    pagemap_set(p, 1, extent, 0);
    return p;
}

void *large_alloc(struct heap *heap, size_t bytes, size_t align, bool zero) {
    size_t usable = align_up(max_size(bytes, 1), os_page_size());
    size_t unit = large_unit(), granules = granules_of_bytes(align_up(usable, unit));
    struct extent *extent = warm_take(&heap->warm, granules, align);
    if (extent != NULL) {
        if (zero)
            memset(chunk_extent_base(extent), 0, usable);
        return large_begin(extent, usable);
    }
    heap->touched = true;
    size_t step = max_size(align, unit) >> GRANULE_SHIFT;
    if (granules > CHUNK_GRANULES || step > CHUNK_GRANULES) {
        size_t chunk_step = step > CHUNK_GRANULES ? step / CHUNK_GRANULES : 1;
        extent = huge_take(heap->arena, granules, chunk_step, zero);
    } else {
        bits_t stale;
        extent = arena_take(heap->arena, (unsigned)granules, (unsigned)step, &stale);
        if (extent != NULL && zero)
            chunk_zero(extent->chunk, stale);
    }
    if (extent == NULL)
        return NULL;
    extent->class = EXTENT_LARGE;
    extent_set_flags(extent, 0);
    extent->free = NULL;
    atomic_store_explicit(&extent->owner, EXTENT_NO_OWNER, memory_order_relaxed);
    return large_begin(extent, usable);
}

static void large_give(struct extent *extent) {
    /* A block of one chunk's size may be a huge one that shrank. */
    if (extent->granules < CHUNK_GRANULES)
        arena_give(extent);
    else
        huge_give(extent);
}

static void large_give_evicted(const struct warm_evicted *evicted) {
    for (unsigned i = 0; i < evicted->count; i++)
        large_give(evicted->blocks[i]);
}

void large_free(struct heap *heap, struct extent *extent) {
    if (options.dirty_decay_ms == 0 || heap->shared) {
        heap->touched = true;
        large_give(extent);
        return;
    }
    struct warm_evicted evicted;
    warm_put(&heap->warm, extent, &evicted);
    heap->touched |= evicted.count > 0;
    if (!os_thread_is_single() && purge_thread_is_away()) {
        purge_thread_note_warm();
        heap->touched = true;
    }
    large_give_evicted(&evicted);
}

void large_flush(struct heap *heap) {
    struct warm_evicted evicted;
    warm_evict_all(&heap->warm, &evicted);
    large_give_evicted(&evicted);
}

void large_drain(struct heap *heap, uint64_t now_ns) {
    struct warm_evicted evicted;
    warm_evict_idle(&heap->warm, now_ns, heap_epoch_ns, &evicted);
    large_give_evicted(&evicted);
}

/* An extent inside one chunk, to a size that fits there too. */
static bool large_resize_in_chunk(struct extent *extent, size_t granules) {
    unsigned have = extent->granules;
    if (granules <= have) {
        if (granules < have)
            arena_shrink(extent, have - (unsigned)granules);
        return true;
    }
    if (extent->first + granules > CHUNK_GRANULES ||
        !arena_take_at(extent->chunk, extent->first + have, (unsigned)granules - have))
        return false;
    extent->granules = (uint32_t)granules;
    return true;
}

bool large_resize(struct heap *heap, struct extent *extent, size_t bytes) {
    size_t usable = align_up(max_size(bytes, 1), os_page_size());
    size_t granules = granules_of_bytes(align_up(usable, large_unit()));
    bool in_chunk = extent->granules <= CHUNK_GRANULES && extent->chunk->domain != NULL;
    if (in_chunk && granules <= CHUNK_GRANULES) {
        if (!large_resize_in_chunk(extent, granules))
            return false;
    } else {
        /* A full chunk that an arena holds cannot become part of a huge extent where it lies. */
        bool alone = extent->first == 0 &&
                     (extent->granules > CHUNK_GRANULES || extent->chunk->domain == NULL);
        if (!alone || !huge_resize(heap->arena, extent, granules))
            return false;
    }
    extent->bytes = usable;
    return true;
}

void *large_move(struct heap *heap, struct extent *extent, size_t bytes) {
    char *p = chunk_extent_base(extent);
    size_t kept = min_size(bytes, extent->bytes);
    char *q = large_alloc(heap, bytes, GRANULE_BYTES, false);
    if (q == NULL)
        return NULL;
    pagemap_take(p);
    if (extent->granules > CHUNK_GRANULES) {
        huge_move(extent, pagemap_get(q), kept);
    } else {
        memcpy(q, p, kept);
        large_free(heap, extent);
    }
    return q;
}
