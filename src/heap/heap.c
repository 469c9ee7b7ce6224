/* The slow half of a heap: replacing a current slab, slabs that become empty, adoption, retirement.
   Invariants: a slab in current[] has EXTENT_CURRENT and carries one extra `used`, so it is never
   taken for empty; slabs in partial[] are owned by the heap and have free, fresh or remotely freed
   objects when they enter. No locks here; what is called below may take the arena's, the orphans'
   or the space's lock. */
#include "heap.h"

#include "counters.h"
#include "holes.h"
#include "large.h"
#include "misuse.h"
#include "orphans.h"
#include "os_assert.h"
#include "os_clock.h"
#include "os_thread.h"
#include "slab.h"
#include "slab_holes.h"
#include "slab_shape.h"

struct extent slab_none = {.owner = EXTENT_NO_OWNER};

/* An empty slab is given back when it has been seen empty at the ends of so many epochs. */
enum { HEAP_IDLE_EPOCHS = 2 };

/* Partial slabs of a class that an epoch's end looks at. */
enum { HEAP_TICK_SLABS = 4 };

/* Slabs of a class that are swept just now, of which a search for one goes past so many. */
enum { HEAP_SWEPT_MAX = 8 };

/* A slow call of a heap that has claimed so many slabs looks at what is due. */
enum { HEAP_CLAIMS = 16 };

static void heap_set_current(struct heap *heap, unsigned class, struct extent *slab) {
    heap->current[class] = slab;
}

void heap_init(struct heap *heap, struct arena *arena, bool shared) {
    for (unsigned class = 0; class < CLASS_COUNT; class ++) {
        heap_set_current(heap, class, &slab_none);
        list_init(&heap->partial[class]);
    }
    list_init(&heap->parked);
    heap->parked_bytes = 0;
    warm_init(&heap->warm);
    heap->arena = arena;
    heap->epoch_end_ns = 0;
    heap->shared = shared;
    if (!shared)
        cache_init(&heap->cache);
}

static void heap_let_go(struct extent *slab) {
    extent_set_flags(slab, extent_flags(slab) | EXTENT_PARTIAL);
}

/* An owned slab that has free objects, in no list, waits to become current. */
static void heap_put_partial(struct heap *heap, struct extent *slab) {
    list_push_front(&heap->partial[slab->class], &slab->node);
    heap_let_go(slab);
}

/* Whether a slab of a partial list, or of the parked ones, is the heap's to do with as it likes: not while it
   is swept. `home` is what its owner is otherwise. It is in the list still; heap_let_go() leaves it there,
   list_remove() takes it. */
static bool heap_hold(struct extent *slab, const struct heap *home) {
    extent_set_flags(slab, extent_flags(slab) & ~(unsigned)EXTENT_PARTIAL);
    atomic_signal_fence(memory_order_seq_cst); /* the other half is in holes.c */
    if (likely(atomic_load_explicit(&slab->owner, memory_order_acquire) == home))
        return true;
    heap_let_go(slab);
    return false;
}

static void heap_destroy_slab(struct heap *heap, struct extent *slab) {
    heap->touched = true;
    slab_destroy(slab);
}

/* The slab leaves current[]; it is owned and in no list then. */
static void heap_end_current(struct heap *heap, struct extent *slab) {
    extent_set_flags(slab, extent_flags(slab) & ~(unsigned)EXTENT_CURRENT);
    slab->used--;
    heap_set_current(heap, slab->class, &slab_none);
}

static void heap_make_current(struct heap *heap, struct extent *slab) {
    extent_set_flags(slab, extent_flags(slab) | EXTENT_CURRENT);
    slab->used++;
    slab->idle_epochs = 0;
    heap_set_current(heap, slab->class, slab);
}

/* An empty slab, in no list, waits for its class to be wanted again. */
static void heap_park(struct heap *heap, struct extent *slab) {
    size_t bytes = bytes_of_granules(slab->granules);
    if (heap->parked_bytes + bytes > HEAP_PARKED_MAX) {
        heap_destroy_slab(heap, slab);
        return;
    }
    slab->idle_epochs = 0;
    atomic_store_explicit(&slab->owner, EXTENT_PARKED, memory_order_release);
    list_push_front(&heap->parked, &slab->node);
    heap->parked_bytes += bytes;
    heap_let_go(slab);
    holes_note_news(); /* the thread may sleep from now on */
}

/* An owned slab with free objects, in no list. */
static void heap_list(struct heap *heap, struct extent *slab) {
    if (slab->used == 0)
        heap_park(heap, slab);
    else
        heap_put_partial(heap, slab);
}

/* Takes a slab out of parked: it is owned, empty and in no list then. False if it is swept just now. */
static bool heap_unpark(struct heap *heap, struct extent *slab) {
    if (!heap_hold(slab, EXTENT_PARKED))
        return false;
    list_remove(&slab->node);
    atomic_store_explicit(&slab->owner, heap, memory_order_relaxed);
    heap->parked_bytes -= bytes_of_granules(slab->granules);
    return true;
}

/* A parked slab of the class, or NULL. HEAP_PARKED_MAX keeps the list short. */
static struct extent *heap_find_parked(struct heap *heap, unsigned class) {
    LIST_FOR_EACH (node, &heap->parked) {
        struct extent *slab = LIST_ENTRY(node, struct extent, node);
        if (slab->class == class && heap_unpark(heap, slab))
            return slab;
    }
    return NULL;
}

/* The first partial slab of the class that is not swept just now, in no list, or NULL. */
static struct extent *heap_take_partial(struct heap *heap, unsigned class) {
    unsigned swept = 0;
    LIST_FOR_EACH (node, &heap->partial[class]) {
        struct extent *slab = LIST_ENTRY(node, struct extent, node);
        if (likely(heap_hold(slab, heap))) {
            list_remove(node);
            return slab;
        }
        if (++swept == HEAP_SWEPT_MAX)
            break;
    }
    return NULL;
}

/* The next owned or orphaned slab of the class that may have an object, now in no list. */
static struct extent *heap_next_slab(struct heap *heap, unsigned class) {
    struct extent *slab = heap_take_partial(heap, class);
    if (slab != NULL)
        return slab;
    slab = heap_find_parked(heap, class);
    if (slab != NULL)
        return slab;
    slab = orphans_take(class, heap);
    if (slab != NULL)
        return slab;
    heap->touched = true;
    return slab_create(heap, class);
}

/* Makes the current slab have a free object, or says false when out of memory. `fresh`: the caller
   prefers an object never handed out, so none is linked if the slab has one of those. */
static bool heap_refill(struct heap *heap, unsigned class, bool fresh) {
    for (;;) {
        struct extent *slab = heap->current[class];
        if (slab == &slab_none) {
            slab = heap_next_slab(heap, class);
            if (slab == NULL)
                return false;
            heap_make_current(heap, slab);
        }
        if (slab_collect(slab))
            return true;
        if (slab->fresh < slab->capacity)
            return fresh ? true : slab_extend(slab);
        if (slab_fill_hole(slab))
            return true;
        heap_end_current(heap, slab);
        if (!slab_release(slab, heap))
            heap_make_current(heap, slab);
    }
}

void *heap_malloc_slow(struct heap *heap, unsigned class, bool *zero) {
    bool fresh = *zero && slab_shapes[class].object_bytes >= 4096;
    *zero = false;
    if (!heap_refill(heap, class, fresh))
        return NULL;
    struct extent *slab = heap->current[class];
    if (slab->free != NULL)
        return slab_pop(slab);
    *zero = (extent_flags(slab) & EXTENT_ZERO) != 0;
    return slab_take_fresh(slab);
}

void heap_put_current_back(struct heap *heap, unsigned class) {
    struct extent *slab = heap->current[class];
    if (slab == &slab_none)
        return;
    heap_end_current(heap, slab);
    bool usable = slab_collect(slab) || slab->fresh < slab->capacity || slab_holes(slab) != 0;
    if (usable || !slab_release(slab, heap))
        heap_list(heap, slab);
}

void *heap_malloc_single(struct heap *heap, unsigned class) {
    struct list_node *node = list_first(&heap->partial[class]);
    if (node == NULL)
        return NULL;
    struct extent *slab = LIST_ENTRY(node, struct extent, node);
    if (!heap_hold(slab, heap))
        return NULL;
    void *p = slab->free;
    if (p == NULL || *(void **)p != NULL || slab->fresh < slab->capacity || slab_holes(slab) != 0) {
        heap_let_go(slab);
        return NULL;
    }
    slab->free = NULL;
    slab->used++;
    list_remove(node);
    if (!slab_release(slab, heap))
        heap_put_partial(heap, slab);
    return p;
}

void heap_emptied(struct heap *heap, struct extent *slab, void *p) {
    if ((extent_flags(slab) & EXTENT_CURRENT) != 0) {
        /* It carries an extra `used`: nothing was in use here. */
        slab->used++;
        misuse_double_free(p);
        return;
    }
    slab_push(slab, p);
    if (!heap_hold(slab, heap))
        return; /* swept just now; it is parked when it is next looked at */
    list_remove(&slab->node);
    heap_park(heap, slab);
}

/* For each slab that comes, two that have waited for longest are looked at: others may have freed all they have.
   So a thread that only frees hoards nothing. */
static void heap_collect_oldest(struct heap *heap, unsigned class) {
    for (unsigned i = 0; i < 2 && !list_is_empty(&heap->partial[class]); i++) {
        struct extent *slab = LIST_ENTRY(heap->partial[class].prev, struct extent, node);
        if (!heap_hold(slab, heap))
            return;
        slab_collect(slab);
        list_remove(&slab->node);
        heap_list(heap, slab);
    }
}

void heap_free_remote(struct heap *heap, struct extent *slab, void *p) {
    bool listed;
    if (atomic_load_explicit(&slab->owner, memory_order_relaxed) == EXTENT_PARKED ||
        slab_is_last_freed(slab, p)) {
        misuse_double_free(p);
        return;
    }
    while (!slab_claim(slab, heap, &listed))
        if (slab_push_remote(slab, p))
            return;
    if (listed)
        orphans_unlist(slab);
    slab_push(slab, p);
    slab->used--;
    unsigned class = slab->class;
    heap_list(heap, slab);
    heap_collect_oldest(heap, class);
    if (++heap->claims % HEAP_CLAIMS == 0) {
        holes_note_news();
        heap->touched = true;
    }
}

/* Gives back the parked slabs that have been seen empty so many epochs, this one included. */
static void heap_flush_parked(struct heap *heap, unsigned epochs) {
    LIST_FOR_EACH (node, &heap->parked) {
        struct extent *slab = LIST_ENTRY(node, struct extent, node);
        if (++slab->idle_epochs >= epochs && heap_unpark(heap, slab))
            heap_destroy_slab(heap, slab);
    }
}

/* The same for the current slabs. */
static void heap_flush_current(struct heap *heap, unsigned epochs) {
    for (unsigned class = 0; class < CLASS_COUNT; class ++) {
        struct extent *slab = heap->current[class];
        if (slab == &slab_none)
            continue;
        slab_collect(slab);
        if (slab->used != 1) {
            slab->idle_epochs = 0;
        } else if (++slab->idle_epochs >= epochs) {
            heap_end_current(heap, slab);
            heap_destroy_slab(heap, slab);
        }
    }
}

/* Parks what other threads' frees have emptied among the first `slabs` of each class. */
static void heap_collect_partial(struct heap *heap, size_t slabs) {
    for (unsigned class = 0; class < CLASS_COUNT; class ++) {
        size_t seen = 0;
        LIST_FOR_EACH (node, &heap->partial[class]) {
            struct extent *slab = LIST_ENTRY(node, struct extent, node);
            if (seen++ == slabs)
                break;
            if (!heap_hold(slab, heap))
                continue;
            slab_collect(slab);
            if (slab->used == 0) {
                list_remove(&slab->node);
                heap_park(heap, slab);
            } else {
                heap_let_go(slab);
            }
        }
    }
}

void heap_flush(struct heap *heap) {
    large_flush(heap);
    heap_collect_partial(heap, SIZE_MAX);
    heap_flush_parked(heap, 1);
    heap_flush_current(heap, 1);
}

/* Its work is bounded: a heap may have millions of partial slabs, each a cache miss away. */
bool heap_tick(struct heap *heap, uint64_t now_ns) {
    if (now_ns < heap->epoch_end_ns)
        return false;
    heap->epoch_end_ns = now_ns + heap_epoch_ns;
    heap_flush_parked(heap, HEAP_IDLE_EPOCHS);
    heap_flush_current(heap, HEAP_IDLE_EPOCHS);
    heap_collect_partial(heap, HEAP_TICK_SLABS);
    large_drain(heap, now_ns);
    return true;
}

/* Leaves one owned slab, in no list, to whoever needs it. */
static void heap_leave(struct heap *heap, struct extent *slab) {
    for (;;) {
        bool usable = slab_collect(slab) || slab->fresh < slab->capacity || slab_holes(slab) != 0;
        if (slab->used == 0) {
            heap_destroy_slab(heap, slab);
            return;
        }
        if (usable ? orphans_put(slab, heap) : slab_release(slab, heap))
            return;
        fallow_assert(atomic_load(&slab->owner) == heap);
    }
}

void heap_retire(struct heap *heap) {
    large_flush(heap);
    for (heap_flush_parked(heap, 1); !list_is_empty(&heap->parked); heap_flush_parked(heap, 1))
        os_thread_nap(); /* a sweep takes no longer */
    for (unsigned class = 0; class < CLASS_COUNT; class ++) {
        struct extent *slab = heap->current[class];
        if (slab != &slab_none) {
            heap_end_current(heap, slab);
            heap_leave(heap, slab);
        }
        struct list_node *node;
        while ((node = list_first(&heap->partial[class])) != NULL) {
            slab = LIST_ENTRY(node, struct extent, node);
            while (!heap_hold(slab, heap))
                os_thread_nap();
            list_remove(node);
            heap_leave(heap, slab);
        }
    }
}
