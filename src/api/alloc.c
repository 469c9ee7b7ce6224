/* The slow half of the malloc family: empty and full bins of the cache, large blocks,
   alignment, realloc, and the conventions about errno. free() and its kin keep errno, since nothing
   below sets it; what fails sets it here. Purges that are due happen at the end of slow calls, when
   no lock is held. */
#include "alloc.h"

#include <errno.h>
#include <string.h>

#include "cache_fill.h"
#include "checked.h"
#include "heap_free.h"
#include "holes.h"
#include "large.h"
#include "misuse.h"
#include "options.h"
#include "os_clock.h"
#include "os_page.h"
#include "purge.h"
#include "purge_thread.h"
#include "slab_shape.h"
#include "space.h"

/* No address space is larger, and granules are counted in 32 bits. */
#define ALLOC_MAX_BYTES ((size_t)1 << (ADDRESS_BITS - 3))

static void *alloc_fail(void) {
    errno = ENOMEM;
    return NULL;
}

/* A slow call that neither took nor gave an extent looks at the clock only so often. */
enum { ALLOC_POLL_TURNS = 16 };

/* Other threads' heaps that are looked at for warm blocks at the end of a heap's epoch. */
enum { ALLOC_DRAINS = 4 };

static noinline_cold void alloc_sweep(struct heap *own, uint64_t now_ns) {
    PURGE_BATCH_ON_STACK(batch);
    holes_poll(&batch, own, now_ns);
}

/* The end of some slow calls. First, with the heap still in hand, its epoch; then, with no lock held,
   the purges that are due: in the heap's arena, in the space, and in one other arena, in turn, whose
   threads may be asleep. With immediate purging in all of them: the caller may have freed into any. */
static __attribute__((__noinline__)) void alloc_leave_polling(struct heap *heap, unsigned turn) {
    heap->touched = false;
    uint64_t now_ns = os_clock_coarse_ns();
    struct arena *arena = heap->arena;
    bool epoch_ends = heap_tick(heap, now_ns);
    if (epoch_ends && !heap->shared)
        cache_tick(heap);
    thread_leave(heap);
    if (purge_thread_tend(now_ns) && options.dirty_decay_ms != 0)
        return;
    if (epoch_ends)
        thread_drain(now_ns, ALLOC_DRAINS);
    if (purge_is_over())
        purge_to_bounds_now(now_ns);
    purge_poll(&arena->domain, now_ns);
    purge_poll(&space_domain, now_ns);
    if (now_ns >= holes_due_ns() && thread_self.heap != NULL)
        alloc_sweep(thread_self.heap, now_ns);
    unsigned n = arena_count();
    if (n <= 1)
        return;
    if (options.dirty_decay_ms != 0) {
        purge_poll(&arena_at(turn % n)->domain, now_ns);
        return;
    }
    for (unsigned i = 0; i < n; i++)
        purge_poll(&arena_at(i)->domain, now_ns);
}

/* The end of every slow call. */
static inline void alloc_leave(struct heap *heap) {
    unsigned turn = ++heap->turn;
    if (heap->touched || turn % ALLOC_POLL_TURNS == 0)
        alloc_leave_polling(heap, turn);
    else
        thread_leave(heap);
}

/* What checked.c gives out shall be pointed to by nothing of Fallow's. */
static inline bool alloc_caches(const struct heap *heap) {
    return !heap->shared && !os_memcheck_is_on();
}

/* An object of `class`; `*zero` as in heap_malloc_slow(). */
static void *alloc_small(struct heap *heap, unsigned class, bool *zero) {
    if (alloc_caches(heap)) {
        void *p = NULL;
        if (!cache_pop(&heap->cache, cache_bin_of_class(class), &p))
            return cache_malloc_slow(heap, class, zero);
        *zero = false;
        return p;
    }
    struct extent *slab = heap->current[class];
    if (likely(slab->free != NULL)) {
        *zero = false;
        return slab_pop(slab);
    }
    return heap_malloc_slow(heap, class, zero);
}

/* The class for a block of any size and alignment; CLASS_COUNT: it will be a large one. */
static inline unsigned alloc_class(size_t bytes, size_t align) {
    if (bytes > CLASS_MAX_BYTES || align > GRANULE_BYTES)
        return CLASS_COUNT;
    unsigned class = class_of_size(max_size(bytes, align));
    while (class < CLASS_COUNT && !is_aligned(slab_shapes[class].object_bytes, align))
        class ++;
    return class;
}

void *alloc_take(size_t bytes, size_t align, bool zero) {
    struct heap *heap = thread_enter();
    if (heap == NULL)
        return alloc_fail();
    void *p = NULL;
    unsigned class = alloc_class(bytes, align);
    if (class < CLASS_COUNT) {
        bool is_zero = zero;
        p = alloc_small(heap, class, &is_zero);
        if (p != NULL && zero && !is_zero)
            memset(p, 0, bytes);
    } else {
        p = large_alloc(heap, bytes, align, zero);
    }
    alloc_leave(heap);
    return p != NULL ? p : alloc_fail();
}

/* Any size and alignment; `zero`: the block shall read as zero. */
static __attribute__((__noinline__)) void *alloc_any(size_t bytes, size_t align, bool zero) {
    if (bytes > ALLOC_MAX_BYTES)
        return alloc_fail();
    return os_memcheck_is_on() ? checked_malloc(bytes, align, zero)
                               : alloc_take(bytes, align, zero);
}

void *alloc_malloc_slow(size_t bytes) {
    void *p = NULL;
    if (likely(bytes <= CLASS_MAX_BYTES) && likely(bytes > CACHE_TABLE_BYTES) &&
        likely(cache_pop(thread_cache(), cache_bin_of_class(class_of_size(bytes)), &p)))
        return p;
    return alloc_any(bytes, 1, false);
}

void *alloc_block(size_t bytes, size_t align, bool zero) {
    if (align <= 16)
        return zero ? alloc_calloc(1, bytes) : alloc_malloc(bytes);
    if (align > PTRDIFF_MAX / 2)
        return alloc_fail();
    return alloc_any(bytes, align, zero);
}

size_t alloc_good_size(size_t bytes, size_t align) {
    if (bytes > ALLOC_MAX_BYTES || align > PTRDIFF_MAX / 2)
        return 0;
    if (os_memcheck_is_on())
        return bytes;
    unsigned class = alloc_class(bytes, align);
    return class < CLASS_COUNT ? class_bytes(class) : align_up(max_size(bytes, 1), os_page_size());
}

void *alloc_calloc(size_t count, size_t bytes) {
    size_t total;
    if (__builtin_mul_overflow(count, bytes, &total))
        return alloc_fail();
    if (total > CACHE_TABLE_BYTES)
        return alloc_any(total, 1, true);
    void *p = alloc_malloc(total);
    if (p != NULL)
        memset(p, 0, total);
    return p;
}

/* Whether a block can begin at `p`: inside a slab it cannot be told without a division. */
static bool alloc_is_start(const struct extent *extent, const void *p) {
    return extent_is_slab(extent) || p == chunk_extent_base(extent);
}

/* A large block: whoever gets its page map entry frees it. */
static void alloc_free_large(struct heap *heap, struct extent *extent, void *p) {
    if (!alloc_is_start(extent, p) || pagemap_take(p) == NULL)
        misuse_unknown(p);
    else
        large_free(heap, extent);
}

void alloc_give(void *p) {
    struct extent *extent = pagemap_get(p);
    if (extent == NULL) {
        misuse_unknown(p);
        return;
    }
    struct heap *heap = thread_enter();
    if (heap == NULL)
        return;
    if (!extent_is_slab(extent))
        alloc_free_large(heap, extent, p);
    else if (alloc_caches(heap))
        cache_free_slow(heap, extent, p);
    else
        heap_free_object(heap, extent, p);
    alloc_leave(heap);
}

void alloc_free_slow(void *p) {
    if (p == NULL)
        return;
    if (os_memcheck_is_on())
        checked_free(p);
    else
        alloc_give(p);
}

size_t alloc_usable_size(const void *p) {
    if (os_memcheck_is_on())
        return checked_usable_size(p);
    const struct extent *extent = pagemap_get(p);
    if (extent == NULL || !alloc_is_start(extent, p))
        return 0;
    return extent_is_slab(extent) ? slab_shapes[extent->class].object_bytes : extent->bytes;
}

/* A large block: in place, by moving its pages, or not at all (NULL: a small block is wanted, or
   memory is out). */
static void *alloc_realloc_large(struct extent *extent, void *p, size_t bytes) {
    struct heap *heap = thread_enter();
    if (heap == NULL)
        return NULL;
    heap->touched = true;
    if (!large_resize(heap, extent, bytes))
        p = large_move(heap, extent, bytes);
    alloc_leave(heap);
    return p;
}

void *alloc_realloc(void *p, size_t bytes) {
    if (p == NULL)
        return alloc_malloc(bytes);
    if (bytes == 0) { /* as glibc does */
        alloc_free(p);
        return NULL;
    }
    if (os_memcheck_is_on())
        return bytes > ALLOC_MAX_BYTES ? alloc_fail() : checked_realloc(p, bytes);
    struct extent *extent = pagemap_get(p);
    if (extent == NULL || !alloc_is_start(extent, p)) {
        misuse_unknown(p);
        errno = EINVAL;
        return NULL;
    }
    if (bytes > ALLOC_MAX_BYTES)
        return alloc_fail();
    size_t usable = alloc_usable_size(p);
    if (bytes <= usable && (bytes > usable / 2 || extent->class == 0) && extent_is_slab(extent))
        return p;
    if (!extent_is_slab(extent) && bytes > CLASS_MAX_BYTES) {
        void *moved = alloc_realloc_large(extent, p, bytes);
        return moved != NULL ? moved : alloc_fail();
    }
    void *q = alloc_malloc(bytes);
    if (q == NULL)
        return NULL;
    memcpy(q, p, min_size(bytes, usable));
    alloc_free(p);
    return q;
}

size_t alloc_resize(void *p, size_t bytes, size_t most) {
    struct extent *extent = pagemap_get(p);
    if (extent == NULL || extent_is_slab(extent) || most <= CLASS_MAX_BYTES ||
        !alloc_is_start(extent, p) || os_memcheck_is_on())
        return alloc_usable_size(p);
    struct heap *heap = thread_enter();
    if (heap == NULL)
        return extent->bytes;
    heap->touched = true;
    most = min_size(most, ALLOC_MAX_BYTES);
    if (most != extent->bytes && !large_resize(heap, extent, most) && bytes > extent->bytes &&
        bytes < most)
        (void)large_resize(heap, extent, bytes);
    size_t now = extent->bytes;
    alloc_leave(heap);
    return now;
}

void *alloc_reallocarray(void *p, size_t count, size_t bytes) {
    size_t total;
    if (__builtin_mul_overflow(count, bytes, &total))
        return alloc_fail();
    return alloc_realloc(p, total);
}

void *alloc_aligned(size_t align, size_t bytes) {
    return alloc_block(bytes, align, false);
}

void alloc_flush(void) {
    checked_flush();
    struct heap *heap = thread_enter();
    if (heap == NULL)
        return;
    os_memcheck_mute();
    if (!heap->shared)
        cache_flush(heap);
    heap_flush(heap);
    os_memcheck_unmute();
    thread_leave(heap);
}

void *alloc_memalign(size_t align, size_t bytes) {
    if (!is_pow2(align)) {
        errno = EINVAL;
        return NULL;
    }
    return alloc_aligned(align, bytes);
}

int alloc_posix_memalign(void **out, size_t align, size_t bytes) {
    if (!is_pow2(align) || align < sizeof(void *))
        return EINVAL;
    int saved = errno;
    void *p = alloc_aligned(align, bytes);
    errno = saved;
    if (p == NULL)
        return ENOMEM;
    *out = p;
    return 0;
}

void *alloc_valloc(size_t bytes) {
    return alloc_aligned(os_page_size(), bytes);
}

void *alloc_pvalloc(size_t bytes) {
    size_t page = os_page_size();
    if (bytes > PTRDIFF_MAX)
        return alloc_fail();
    return alloc_aligned(page, max_size(align_up(bytes, page), page));
}
