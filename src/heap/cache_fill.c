/* Objects come from the slabs in lots that double as long as they are asked for, and go back in lots, the oldest
   first. A bin has room for a batch of two lots beside what is left of a lot. */
#include "cache_fill.h"

#include <string.h>

#include "cache_drain.h"
#include "counters.h"
#include "heap_free.h"
#include "misuse.h"
#include "os_thread.h"
#include "pagemap.h"

/* Of a bin that was drained: what is left moves to the bottom. */
static void cache_reopen(struct cache *cache, unsigned bin) {
    void **base = cache_base(cache, bin), **rest = base + cache->taken[bin];
    size_t left = (size_t)(CACHE_READ(cache->top[bin]) - rest);
    memmove(base, rest, left * sizeof *base);
    CACHE_WRITE(cache->top[bin], base + left);
    cache_open(cache, bin);
}

static void cache_leave(struct cache *cache) {
    cache_mark(cache, 0);
}

/* Begins what moves many objects of a bin; false if it is being drained. Ends with cache_leave(). */
static bool cache_enter(struct cache *cache, unsigned bin) {
    cache_mark(cache, bin + CACHE_AT_WORK);
    void **limit = __atomic_load_n(&cache->limit[bin], __ATOMIC_ACQUIRE);
    if (limit == CACHE_CLOSED) {
        cache_leave(cache);
        return false;
    }
    if (limit == CACHE_DRAINED)
        cache_reopen(cache, bin);
    return true;
}

static void cache_set_bottom(struct cache *cache, unsigned bin, void **bottom) {
    void **old = __atomic_load_n(&cache->bottom[bin], __ATOMIC_RELAXED);
    /* By a locked instruction: a drain may close the bin just now. It will see the mark. */
    if (old != CACHE_NO_BOTTOM)
        __atomic_compare_exchange_n(&cache->bottom[bin], &old, bottom, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED);
}

/* The oldest `n` objects go back. */
static void cache_flush_oldest(struct heap *heap, unsigned bin, size_t n) {
    struct cache *cache = &heap->cache;
    void **base = cache_base(cache, bin), **top = CACHE_READ(cache->top[bin]);
    void *oldest[CACHE_SLOTS];
    memcpy(oldest, base, n * sizeof *base);
    memmove(base, base + n, (size_t)(top - base - (ptrdiff_t)n) * sizeof *base);
    CACHE_WRITE(cache->top[bin], top - n);
    for (size_t i = 0; i < n; i++) {
        struct extent *slab = pagemap_get(oldest[i]);
        if (slab == NULL || cache_bin_of_class(slab->class) != bin)
            misuse_double_free(oldest[i]); /* it has gone home before */
        else
            heap_free_object(heap, slab, oldest[i]);
    }
    counters_add(COUNTER_cache_flushed, n);
}

/* Up to `n` objects into `out`, lowest address last. As many as the slabs at hand have ready: no page is touched,
   and no slab begun, for more than the first. */
static size_t cache_fetch(struct heap *heap, unsigned class, void **out, size_t n) {
    size_t got = 0;
    while (got < n) {
        struct extent *slab = heap->current[class];
        while (got < n && slab->free != NULL)
            out[got++] = slab_pop(slab);
        if (got == n)
            break;
        void *p = heap_malloc_single(heap, class);
        bool zero = false;
        if (p == NULL && got == 0)
            p = heap_malloc_slow(heap, class, &zero);
        if (p == NULL)
            break;
        out[got++] = p;
    }
    heap_put_current_back(heap, class);
    for (size_t i = 0; i < got / 2; i++) {
        void *p = out[i];
        out[i] = out[got - 1 - i];
        out[got - 1 - i] = p;
    }
    return got;
}

/* Fills an empty bin, and returns one object of that. */
static void *cache_fill(struct heap *heap, unsigned class) {
    struct cache *cache = &heap->cache;
    unsigned bin = cache_bin_of_class(class);
    void **base = cache_base(cache, bin);
    size_t n = cache_fetch(heap, class, base, cache->fill[bin]);
    if (n == 0)
        return NULL;
    if (n == cache->fill[bin] && n < CACHE_LOT)
        cache->fill[bin] = (uint8_t)(n * 2);
    CACHE_WRITE(cache->top[bin], base + n - 1);
    counters_add(COUNTER_cache_filled, n);
    cache_drain_note_news();
    return base[n - 1];
}

void *cache_malloc_slow(struct heap *heap, unsigned class) {
    struct cache *cache = &heap->cache;
    unsigned bin = cache_bin_of_class(class);
    bool zero = false;
    if (!cache_enter(cache, bin))
        return heap_malloc_slow(heap, class, &zero);
    void **base = cache_base(cache, bin), **top = CACHE_READ(cache->top[bin]), *p;
    cache_set_bottom(cache, bin, base);
    if (top > base) {
        CACHE_WRITE(cache->top[bin], top - 1);
        p = top[-1];
    } else {
        p = cache_fill(heap, class);
    }
    cache_leave(cache);
    return p;
}

void cache_free_slow(struct heap *heap, struct extent *slab, void *p) {
    struct cache *cache = &heap->cache;
    unsigned bin = cache_bin_of_class(slab->class);
    if (!cache_enter(cache, bin)) {
        heap_free_object(heap, slab, p);
        return;
    }
    if (CACHE_READ(cache->top[bin])[-1] == p) {
        misuse_double_free(p);
    } else {
        if (CACHE_READ(cache->top[bin]) == cache_base(cache, bin) + CACHE_SLOTS) {
            cache_set_bottom(cache, bin, cache_base(cache, bin));
            cache_flush_oldest(heap, bin, CACHE_LOT);
        }
        void **top = CACHE_READ(cache->top[bin]);
        *top = p;
        CACHE_WRITE(cache->top[bin], top + 1);
        cache_drain_note_news();
    }
    cache_leave(cache);
}

/* What was not needed of the half kept last time goes. */
static void cache_tick_bin(struct heap *heap, unsigned bin) {
    struct cache *cache = &heap->cache;
    void **base = cache_base(cache, bin), **bottom = CACHE_READ(cache->bottom[bin]);
    if (bottom != CACHE_NO_BOTTOM && bottom > base) {
        cache_flush_oldest(heap, bin, (size_t)(bottom - base));
        cache->fill[bin] = (uint8_t)max_size(cache->fill[bin] / 2, 1);
    }
    cache_set_bottom(cache, bin, base + (CACHE_READ(cache->top[bin]) - base + 1) / 2);
}

void cache_tick(struct heap *heap) {
    struct cache *cache = &heap->cache;
    for (unsigned bin = 1; bin < CACHE_BINS; bin++)
        if (CACHE_READ(cache->top[bin]) != cache_base(cache, bin) && cache_enter(cache, bin))
            cache_tick_bin(heap, bin);
    cache_leave(cache);
}

void cache_flush(struct heap *heap) {
    struct cache *cache = &heap->cache;
    for (unsigned bin = 1; bin < CACHE_BINS; bin++) {
        while (!cache_enter(cache, bin))
            os_thread_nap(); /* a drain takes no longer */
        cache_set_bottom(cache, bin, cache_base(cache, bin));
        cache_flush_oldest(heap, bin,
                           (size_t)(CACHE_READ(cache->top[bin]) - cache_base(cache, bin)));
    }
    cache_leave(cache);
}
