/* A cycle goes over all heaps, some in a go: close, pass the barrier, take. What was taken waits in a buffer that
   holes_lock protects, so that a fork finds each object either there, or in its cache, or in its slab. */
#include "cache_drain.h"

#include "counters.h"
#include "domain.h"
#include "heap.h"
#include "holes.h"
#include "holes_choose.h"
#include "look.h"
#include "options.h"
#include "orphans.h"
#include "os_barrier.h"
#include "os_thread.h"
#include "pagemap.h"
#include "thread.h"

enum { DRAIN_HEAPS = 64 }; /* in one go */

/* Between two goes of a cycle. */
static const uint64_t drain_pause_ns = 5000000;

static _Atomic bool drain_busy; /* one thread at a time; its own are: */
static struct heap *drain_heaps[DRAIN_HEAPS];
static size_t drain_heap_count;
static size_t drain_left;  /* heaps of the cycle still to be looked at */
static bool drain_changed; /* a cache was not as it had been */
static bool drain_at_once;

static _Atomic bool drain_news;
static _Atomic bool drain_off;                       /* the kernel has no barrier for it */
static _Atomic uint64_t drain_last_ns;               /* when a cycle began */
static _Atomic uint64_t drain_go_on_ns;              /* the next go of a cycle; 0: none has begun */
static void *drain_taken[CLASS_COUNT * CACHE_SLOTS]; /* under holes_lock */
static size_t drain_taken_count;

/* What a cache is like, in one number: 0 if it is empty. */
unsynchronised static uint64_t drain_sum(struct cache *cache) {
    uint64_t sum = 0;
    for (unsigned bin = 1; bin < CACHE_BINS; bin++) {
        void **base = cache_base(cache, bin);
        if (cache->limit[bin] > CACHE_DRAINED && cache->top[bin] != base)
            sum = sum * 65599 + (uint64_t)(cache->top[bin] - base);
    }
    return sum;
}

/* Closes the bins of a cache that is left alone. */
unsynchronised static void drain_close(struct heap *heap) {
    struct cache *cache = &heap->cache;
    uint64_t sum = drain_sum(cache);
    bool same = atomic_exchange_explicit(&cache->seen, sum, memory_order_relaxed) == sum;
    if (sum == 0 || drain_heap_count == DRAIN_HEAPS)
        return;
    if (!same && !drain_at_once) {
        drain_changed = true;
        return;
    }
    unsigned closed = 0;
    for (unsigned bin = 1; bin < CACHE_BINS; bin++) {
        if (cache->limit[bin] <= CACHE_DRAINED || cache->top[bin] == cache_base(cache, bin))
            continue;
        __atomic_store_n(&cache->bottom[bin], CACHE_NO_BOTTOM, __ATOMIC_RELAXED);
        __atomic_store_n(&cache->limit[bin], CACHE_CLOSED, __ATOMIC_RELAXED);
        closed++;
    }
    if (closed > 0)
        drain_heaps[drain_heap_count++] = heap;
}

/* What is in a closed bin, but for the last object if its owner may be at that. */
static void drain_take(struct cache *cache, unsigned bin, bool at_last) {
    void **base = cache_base(cache, bin);
    size_t n = (size_t)(CACHE_READ(cache->top[bin]) - base);
    n -= n > 0 && at_last;
    os_lock_acquire(&holes_lock);
    for (size_t i = 0; i < n; i++)
        drain_taken[drain_taken_count + i] = base[i];
    cache->taken[bin] = (uint8_t)n;
    /* Unless its thread had ended before it was closed, and another has the heap by now. */
    void **closed = CACHE_CLOSED;
    if (__atomic_compare_exchange_n(&cache->limit[bin], &closed, CACHE_DRAINED, false,
                                    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        drain_taken_count += n;
    os_lock_release(&holes_lock);
}

static void drain_free_taken(void) {
    if (drain_taken_count == 0)
        return;
    counters_add(COUNTER_cache_drained, drain_taken_count);
    holes_note_news();
    while (drain_taken_count > 0) {
        os_lock_acquire(&holes_lock);
        void *p = drain_taken[--drain_taken_count];
        orphans_free(pagemap_get(p), p);
        os_lock_release(&holes_lock);
    }
}

static void drain_heap(struct heap *heap, bool barred) {
    struct cache *cache = &heap->cache;
    size_t mark = atomic_load(&cache->mark);
    for (unsigned bin = 1; bin < CACHE_BINS; bin++) {
        if (__atomic_load_n(&cache->limit[bin], __ATOMIC_ACQUIRE) != CACHE_CLOSED)
            continue;
        if (barred && mark != bin + CACHE_AT_WORK)
            drain_take(cache, bin, mark == bin);
        else
            cache_open(cache, bin);
    }
    atomic_store_explicit(&cache->seen, drain_sum(cache), memory_order_relaxed);
    drain_free_taken();
}

/* Some heaps. */
static void drain_go(size_t threads) {
    drain_heap_count = 0;
    thread_visit(drain_close, threads);
    if (drain_heap_count == 0)
        return;
    bool barred = os_barrier_all();
    if (!barred)
        atomic_store(&drain_off, true);
    while (drain_heap_count > 0)
        drain_heap(drain_heaps[--drain_heap_count], barred);
}

/* In a process that libc takes for single-threaded, owners change slabs without atomic operations. */
static bool drain_is_wanted(void) {
    return !os_thread_is_single() && options.purge != PURGE_NEVER && options.dirty_decay_ms >= 0 &&
           !atomic_load_explicit(&drain_off, memory_order_relaxed);
}

uint64_t cache_drain_due_ns(void) {
    uint64_t go_on_ns = atomic_load_explicit(&drain_go_on_ns, memory_order_relaxed);
    if (go_on_ns != 0)
        return go_on_ns;
    if (!atomic_load_explicit(&drain_news, memory_order_relaxed) || !drain_is_wanted())
        return UINT64_MAX;
    return atomic_load_explicit(&drain_last_ns, memory_order_relaxed) + heap_epoch_ns;
}

void cache_drain_note_news(void) {
    if (!atomic_load_explicit(&drain_news, memory_order_relaxed)) {
        atomic_store(&drain_news, true);
        atomic_store(&domain_news, true);
    }
}

static void drain_begin(bool at_once) {
    drain_left = thread_count();
    drain_changed = false;
    drain_at_once = at_once;
}

/* Returns true at the end of the cycle. */
static bool drain_go_on(void) {
    size_t threads = min_size(drain_left, DRAIN_HEAPS - 1);
    drain_go(threads);
    drain_left -= threads;
    return drain_left == 0;
}

void cache_drain_poll(uint64_t now_ns) {
    if (now_ns < cache_drain_due_ns() || atomic_exchange(&drain_busy, true))
        return;
    if (!drain_is_wanted() || !look_is_allowed()) { /* until there are other news */
        drain_left = 0;
        atomic_store_explicit(&drain_go_on_ns, 0, memory_order_relaxed);
        atomic_store_explicit(&drain_last_ns, now_ns, memory_order_relaxed);
        atomic_store(&drain_news, false);
        atomic_store(&drain_busy, false);
        return;
    }
    if (drain_left == 0) {
        atomic_store_explicit(&drain_last_ns, now_ns, memory_order_relaxed);
        atomic_store(&drain_news, false);
        drain_begin(false);
    }
    bool ended = drain_go_on();
    atomic_store_explicit(&drain_go_on_ns, ended ? 0 : now_ns + drain_pause_ns,
                          memory_order_relaxed);
    if (drain_changed)
        atomic_store(&drain_news, true);
    atomic_store(&drain_busy, false);
}

void cache_drain_all(void) {
    if (!drain_is_wanted() || !look_is_allowed() || atomic_exchange(&drain_busy, true))
        return;
    drain_begin(true);
    while (!drain_go_on())
        ;
    atomic_store_explicit(&drain_go_on_ns, 0, memory_order_relaxed);
    atomic_store(&drain_busy, false);
}

void cache_drain_after_fork(bool child) {
    if (!child)
        return;
    struct cache *own = thread_cache();
    for (unsigned bin = 1; bin < CACHE_BINS && own != &cache_none; bin++)
        if (own->limit[bin] == CACHE_CLOSED)
            cache_open(own, bin);
    while (drain_taken_count > 0) { /* nobody else is left to do it */
        void *p = drain_taken[--drain_taken_count];
        orphans_free(pagemap_get(p), p);
    }
    drain_left = 0;
    atomic_store(&drain_go_on_ns, 0);
    atomic_store(&drain_news, true);
    atomic_store(&drain_busy, false);
}
