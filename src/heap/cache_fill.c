/* Objects come from the slabs in lots that double as long as they are asked for, and go back in lots, the oldest
   first. A small object's bin has room for a batch of two lots beside what is left of a lot. */
#include "cache_fill.h"

#include <string.h>

#include "cache_drain.h"
#include "counters.h"
#include "heap_free.h"
#include "misuse.h"
#include "options.h"
#include "os_thread.h"
#include "pagemap.h"

enum {
    FILL_BYTES = 32 << 10
}; /* that are fetched together, unless the bin has room for three times as much */

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

/* Objects that come and go together. */
static size_t cache_lot(const struct cache *cache, unsigned bin, size_t least) {
    size_t third = (cache->room[bin] + 2U) / 3;
    return min_size(max_size(third, least), CACHE_LOT);
}

/* Bytes that a room is larger than the first one. */
static size_t cache_extra_bytes(unsigned bin, size_t room) {
    size_t first = cache_first_room(bin);
    return room > first ? (room - first) * class_bytes(bin - 1) : 0;
}

static void cache_set_room(struct cache *cache, unsigned bin, size_t room) {
    cache->room_bytes -= cache_extra_bytes(bin, cache->room[bin]);
    cache->room_bytes += cache_extra_bytes(bin, room);
    CACHE_WRITE(cache->room[bin], (uint8_t)room);
    void **old = __atomic_load_n(&cache->limit[bin], __ATOMIC_RELAXED);
    /* As in cache_set_bottom(). Should the drain open the bin with the room there was: top is never past the slots. */
    if (old > CACHE_DRAINED)
        __atomic_compare_exchange_n(&cache->limit[bin], &old, cache_base(cache, bin) + room, false,
                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* What all rooms of a cache may have beyond the first ones. */
static size_t cache_rooms_bytes_max(void) {
    if (options.dirty_max < 0)
        return CACHE_ROOMS_BYTES;
    size_t all = ((size_t)options.dirty_max << 20) / CACHE_ROOMS_OF_DIRTY_MAX;
    return min_size(all / (thread_count() + 1), CACHE_ROOMS_BYTES);
}

/* A bin that spilled is empty now: had it had more room, it would not be. */
static void cache_grow_room(struct cache *cache, unsigned bin) {
    size_t room = min_size(max_size((size_t)cache->room[bin] * 2, 1), CACHE_SLOTS);
    size_t more = cache_extra_bytes(bin, room) - cache_extra_bytes(bin, cache->room[bin]);
    cache->spilled[bin] = false;
    if (cache->room_bytes + more <= cache_rooms_bytes_max())
        cache_set_room(cache, bin, room);
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

/* An object that reads as zero, if there is one at hand: an empty bin stays so. */
static void *cache_fetch_zero(struct heap *heap, unsigned class, bool *zero) {
    void *p = heap_malloc_slow(heap, class, zero);
    heap_put_current_back(heap, class);
    return p;
}

/* Fills an empty bin, and returns one object of that. */
static void *cache_fill(struct heap *heap, unsigned class) {
    struct cache *cache = &heap->cache;
    unsigned bin = cache_bin_of_class(class);
    if (cache->spilled[bin])
        cache_grow_room(cache, bin);
    void **base = cache_base(cache, bin);
    size_t n = cache_fetch(heap, class, base, cache->fill[bin]);
    if (n == 0)
        return NULL;
    if (n == cache->fill[bin])
        cache->fill[bin] = (uint8_t)min_size(
            n * 2, cache_lot(cache, bin, max_size(FILL_BYTES / class_bytes(class), 1)));
    CACHE_WRITE(cache->top[bin], base + n - 1);
    counters_add(COUNTER_cache_filled, n);
    cache_drain_note_news();
    return base[n - 1];
}

void *cache_malloc_slow(struct heap *heap, unsigned class, bool *zero) {
    struct cache *cache = &heap->cache;
    unsigned bin = cache_bin_of_class(class);
    if (!cache_enter(cache, bin))
        return cache_fetch_zero(heap, class, zero);
    void **base = cache_base(cache, bin), **top = CACHE_READ(cache->top[bin]), *p;
    cache_set_bottom(cache, bin, base);
    if (top > base) {
        CACHE_WRITE(cache->top[bin], top - 1);
        p = top[-1];
        *zero = false;
    } else if (*zero) {
        p = cache_fetch_zero(heap, class, zero);
    } else {
        p = cache_fill(heap, class);
    }
    cache_leave(cache);
    return p;
}

static void cache_keep(struct cache *cache, unsigned bin, void *p) {
    void **top = CACHE_READ(cache->top[bin]);
    *top = p;
    CACHE_WRITE(cache->top[bin], top + 1);
    cache_drain_note_news();
}

/* For one more; false if the bin has none at all. */
static bool cache_make_room(struct heap *heap, unsigned bin) {
    struct cache *cache = &heap->cache;
    size_t count = (size_t)(CACHE_READ(cache->top[bin]) - cache_base(cache, bin));
    if (count < cache->room[bin])
        return true;
    cache->spilled[bin] = true;
    cache_set_bottom(cache, bin, cache_base(cache, bin));
    cache_flush_oldest(heap, bin,
                       min_size(count, cache_lot(cache, bin, 1) + count - cache->room[bin]));
    return cache->room[bin] != 0;
}

void cache_free_slow(struct heap *heap, struct extent *slab, void *p) {
    struct cache *cache = &heap->cache;
    unsigned bin = cache_bin_of_class(slab->class);
    if (!cache_enter(cache, bin)) {
        heap_free_object(heap, slab, p);
        return;
    }
    if (CACHE_READ(cache->top[bin])[-1] == p)
        misuse_double_free(p);
    else if (cache_make_room(heap, bin))
        cache_keep(cache, bin, p);
    else
        heap_free_object(heap, slab, p);
    cache_leave(cache);
}

/* What was not needed of the half kept last time goes, and half the room with it. */
static void cache_tick_bin(struct heap *heap, unsigned bin, size_t rooms_max) {
    struct cache *cache = &heap->cache;
    void **base = cache_base(cache, bin), **bottom = CACHE_READ(cache->bottom[bin]);
    bool empty = CACHE_READ(cache->top[bin]) == base;
    if (bottom != CACHE_NO_BOTTOM && bottom > base) {
        cache_flush_oldest(heap, bin, (size_t)(bottom - base));
        cache->fill[bin] = (uint8_t)max_size(cache->fill[bin] / 2, 1);
        empty = true;
    }
    if ((empty || cache->room_bytes > rooms_max) && cache->room[bin] > cache_first_room(bin))
        cache_set_room(cache, bin, max_size(cache->room[bin] / 2, cache_first_room(bin)));
    cache_set_bottom(cache, bin, base + (CACHE_READ(cache->top[bin]) - base + 1) / 2);
}

void cache_tick(struct heap *heap) {
    struct cache *cache = &heap->cache;
    size_t rooms_max = cache_rooms_bytes_max(); /* less with each thread that came since */
    for (unsigned bin = 1; bin < CACHE_BINS; bin++)
        if ((CACHE_READ(cache->top[bin]) != cache_base(cache, bin) ||
             cache->room[bin] > cache_first_room(bin)) &&
            cache_enter(cache, bin))
            cache_tick_bin(heap, bin, rooms_max);
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
