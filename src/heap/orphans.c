/* The orphans' lists. The remote word decides who owns a slab; a class's lock protects its list only.
   Between a claim through the word and its unlisting a claimed slab is still in the list: a taker
   that meets it fails to claim it, takes it off the list and goes on. */
#include "orphans.h"

#include "classes.h"
#include "counters.h"
#include "misuse.h"
#include "os_lock.h"
#include "slab.h"

static struct orphans {
    cache_aligned struct os_lock lock;
    _Atomic uint32_t count; /* changes under lock; read without it as a hint */
    struct list_node slabs; /* under lock; zeroes until first used */
} orphans[CLASS_COUNT] = {[0 ... CLASS_COUNT - 1] = {.lock = OS_LOCK_INIT(orphans)}};

static struct list_node *orphans_slabs_locked(struct orphans *of) {
    if (of->slabs.next == NULL)
        list_init(&of->slabs);
    return &of->slabs;
}

static void orphans_count_locked(struct orphans *of, uint32_t change) {
    uint32_t count = atomic_load_explicit(&of->count, memory_order_relaxed);
    atomic_store_explicit(&of->count, count + change, memory_order_relaxed);
}

static void orphans_remove_locked(struct orphans *of, struct extent *slab) {
    if (list_is_empty(&slab->node))
        return;
    list_remove(&slab->node);
    orphans_count_locked(of, -1U);
}

bool orphans_put(struct extent *slab, struct heap *heap) {
    uintptr_t expected = REMOTE_OWNED;
    struct orphans *of = &orphans[slab->class];
    os_lock_acquire(&of->lock);
    atomic_store_explicit(&slab->owner, EXTENT_NO_OWNER, memory_order_relaxed);
    bool put = atomic_compare_exchange_strong_explicit(&slab->remote, &expected, REMOTE_LISTED,
                                                       memory_order_release, memory_order_relaxed);
    if (put) {
        list_push_back(orphans_slabs_locked(of), &slab->node);
        orphans_count_locked(of, 1);
    } else {
        atomic_store_explicit(&slab->owner, heap, memory_order_relaxed);
    }
    os_lock_release(&of->lock);
    return put;
}

struct extent *orphans_take(unsigned class, struct heap *heap) {
    struct orphans *of = &orphans[class];
    struct extent *taken = NULL;
    if (atomic_load_explicit(&of->count, memory_order_relaxed) == 0)
        return NULL;
    os_lock_acquire(&of->lock);
    while (taken == NULL && !list_is_empty(orphans_slabs_locked(of))) {
        struct extent *slab = LIST_ENTRY(of->slabs.next, struct extent, node);
        uintptr_t expected = REMOTE_LISTED;
        orphans_remove_locked(of, slab);
        if (atomic_compare_exchange_strong_explicit(&slab->remote, &expected, REMOTE_OWNED,
                                                    memory_order_acquire, memory_order_relaxed))
            taken = slab;
    }
    os_lock_release(&of->lock);
    if (taken != NULL) {
        atomic_store_explicit(&taken->owner, heap, memory_order_relaxed);
        counters_add(COUNTER_slabs_adopted, 1);
    }
    return taken;
}

void orphans_unlist(struct extent *slab) {
    struct orphans *of = &orphans[slab->class];
    os_lock_acquire(&of->lock);
    orphans_remove_locked(of, slab);
    os_lock_release(&of->lock);
}

void orphans_settle(struct extent *slab) {
    do {
        slab_collect(slab);
        if (slab->used == 0) {
            slab_destroy(slab);
            return;
        }
    } while (!orphans_put(slab, EXTENT_SWEPT));
}

void orphans_free(struct extent *slab, void *p) {
    bool listed;
    if (slab == NULL || !extent_is_slab(slab) ||
        atomic_load_explicit(&slab->owner, memory_order_relaxed) == EXTENT_PARKED) {
        misuse_double_free(p);
        return;
    }
    while (!slab_claim(slab, EXTENT_SWEPT, &listed))
        if (slab_push_remote(slab, p))
            return;
    if (listed)
        orphans_unlist(slab);
    slab_push(slab, p);
    slab->used--;
    orphans_settle(slab);
}

void orphans_lock_for_fork(void) {
    for (unsigned class = 0; class < CLASS_COUNT; class ++)
        os_lock_acquire(&orphans[class].lock);
}

void orphans_unlock_after_fork(bool child) {
    for (unsigned class = CLASS_COUNT; class -- > 0;) {
        if (child)
            os_lock_reset(&orphans[class].lock);
        else
            os_lock_release(&orphans[class].lock);
    }
}
