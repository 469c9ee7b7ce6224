/* One slab: birth, death, its three sources of free objects (free, remote, fresh), and the handing
   over of its ownership. No locks of its own; see extent.h for the ownership word. */
#include "slab.h"

#include "counters.h"
#include "os_assert.h"
#include "os_page.h"
#include "os_thread.h"
#include "pagemap.h"
#include "slab_holes.h"
#include "slab_shape.h"

/* Granules that an extent is a multiple of: one, or a page where pages are larger. */
static unsigned slab_granules(unsigned class) {
    return (unsigned)(align_up(bytes_of_granules(slab_shapes[class].granules), os_page_size()) >>
                      GRANULE_SHIFT);
}

/* Page map entries in which an object can begin. */
static size_t slab_entries(const struct extent *slab) {
    return slab->capacity == 1 ? 1 : slab->granules;
}

struct extent *slab_create(struct heap *heap, unsigned class) {
    unsigned granules = slab_granules(class);
    unsigned step = (unsigned)(max_size(os_page_size(), GRANULE_BYTES) >> GRANULE_SHIFT);
    bits_t stale;
    struct extent *slab = arena_take(heap->arena, granules, step, &stale);
    if (slab == NULL)
        return NULL;
    slab->free = NULL;
    slab->used = 0;
    slab->fresh = 0;
    extent_set_flags(slab, stale == 0 ? EXTENT_ZERO : 0);
    slab->idle_epochs = 0;
    slab->capacity = slab_shapes[class].capacity;
    slab->class = (uint8_t) class;
    list_init(&slab->node);
    atomic_store_explicit(&slab->owner, heap, memory_order_relaxed);
    atomic_store_explicit(&slab->remote, REMOTE_OWNED, memory_order_relaxed);
    pagemap_set(chunk_extent_base(slab), slab_entries(slab), slab,
                (uint8_t)cache_bin_of_class(class));
    return slab;
}

void slab_destroy(struct extent *slab) {
    fallow_assert(slab->used == 0);
    atomic_store_explicit(&slab->owner, EXTENT_NO_OWNER, memory_order_relaxed);
    pagemap_set(chunk_extent_base(slab), slab_entries(slab), NULL, 0);
    slab_forget_holes(slab);
    arena_give(slab);
}

bool slab_collect(struct extent *slab) {
    uintptr_t remote = atomic_load_explicit(&slab->remote, memory_order_relaxed);
    if ((remote & REMOTE_ADDRESS) == 0)
        return slab->free != NULL;
    remote = atomic_exchange_explicit(&slab->remote, REMOTE_OWNED, memory_order_acquire);
    void *list = (void *)(remote & REMOTE_ADDRESS);
    void *last = list;
    uint32_t n = (uint32_t)(remote >> REMOTE_COUNT_SHIFT);
    for (void *next; (next = *(void **)last) != NULL;)
        last = next;
    *(void **)last = slab->free;
    slab->free = list;
    slab->used -= n;
    counters_add(COUNTER_remote_frees, n);
    return true;
}

bool slab_extend(struct extent *slab) {
    size_t bytes = slab_shapes[slab->class].object_bytes;
    unsigned n = slab->capacity - slab->fresh;
    if (n == 0)
        return false;
    /* As many as begin on the page where the first of them begins. */
    char *first = chunk_extent_base(slab) + slab->fresh * bytes;
    char *page_end = (char *)align_up((uintptr_t)first + 1, os_page_size());
    size_t on_page = ((size_t)(page_end - first) + bytes - 1) / bytes;
    n = (unsigned)min_size(n, on_page);
    char *object = first;
    for (unsigned i = 1; i < n; i++, object += bytes)
        *(void **)object = object + bytes;
    *(void **)object = slab->free;
    slab->free = first;
    slab->fresh = (uint16_t)(slab->fresh + n);
    return true;
}

void *slab_take_fresh(struct extent *slab) {
    if (slab->fresh == slab->capacity)
        return NULL;
    slab->used++;
    return chunk_extent_base(slab) + (size_t)slab->fresh++ * slab_shapes[slab->class].object_bytes;
}

/* Compare-and-swap on the ownership word. */
static bool slab_swap_remote(struct extent *slab, uintptr_t from, uintptr_t to) {
    if (os_thread_is_alone()) {
        if (atomic_load_explicit(&slab->remote, memory_order_relaxed) != from)
            return false;
        atomic_store_explicit(&slab->remote, to, memory_order_relaxed);
        return true;
    }
    return atomic_compare_exchange_strong_explicit(&slab->remote, &from, to, memory_order_acq_rel,
                                                   memory_order_relaxed);
}

bool slab_release(struct extent *slab, struct heap *heap) {
    fallow_assert(slab->free == NULL && slab->fresh == slab->capacity && slab_holes(slab) == 0);
    atomic_store_explicit(&slab->owner, EXTENT_NO_OWNER, memory_order_relaxed);
    if (slab_swap_remote(slab, REMOTE_OWNED, 0))
        return true;
    atomic_store_explicit(&slab->owner, heap, memory_order_relaxed);
    return false;
}

bool slab_claim(struct extent *slab, struct heap *heap, bool *listed) {
    uintptr_t old = atomic_load_explicit(&slab->remote, memory_order_relaxed);
    while ((old & REMOTE_OWNED) == 0) {
        if (slab_swap_remote(slab, old, REMOTE_OWNED)) {
            *listed = (old & REMOTE_LISTED) != 0;
            atomic_store_explicit(&slab->owner, heap, memory_order_relaxed);
            return true;
        }
        old = atomic_load_explicit(&slab->remote, memory_order_relaxed);
    }
    return false;
}

bool slab_push_remote(struct extent *slab, void *p) {
    uintptr_t old = atomic_load_explicit(&slab->remote, memory_order_relaxed), count;
    do {
        if ((old & REMOTE_OWNED) == 0)
            return false;
        *(void **)p = (void *)(old & REMOTE_ADDRESS);
        count = old >> REMOTE_COUNT_SHIFT;
    } while (!atomic_compare_exchange_weak_explicit(&slab->remote, &old,
                                                    ((uintptr_t)p & REMOTE_ADDRESS) | REMOTE_OWNED |
                                                        (count + 1) << REMOTE_COUNT_SHIFT,
                                                    memory_order_release, memory_order_relaxed));
    return true;
}

void slab_check(const struct extent *slab) {
    unsigned free = 0;
    for (void *p = slab->free; p != NULL; p = *(void **)p)
        free++;
    unsigned current = (extent_flags(slab) & EXTENT_CURRENT) != 0;
    fallow_assert(slab->used + free + slab_hole_objects(slab) + (slab->capacity - slab->fresh) ==
                  slab->capacity + current);
    (void)free, (void)current;
}
