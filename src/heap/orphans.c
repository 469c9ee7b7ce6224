/* The orphans' lists. The remote word decides who owns a slab; the lock protects the lists only.
   Between a claim through the word and its unlisting a claimed slab is still in the list: a taker
   that meets it fails to claim it, takes it off the list and goes on. */
#include "orphans.h"

#include "classes.h"
#include "counters.h"
#include "misuse.h"
#include "os_lock.h"
#include "slab.h"

static struct os_lock orphans_lock = OS_LOCK_INIT(orphans);
static struct list_node orphans_lists[CLASS_COUNT];
static _Atomic uint32_t orphans_count[CLASS_COUNT]; /* read without the lock as a hint */

static struct list_node *orphans_list_locked(unsigned class) {
    struct list_node *list = &orphans_lists[class];
    if (list->next == NULL)
        list_init(list);
    return list;
}

static void orphans_remove_locked(struct extent *slab) {
    if (list_is_empty(&slab->node))
        return;
    list_remove(&slab->node);
    atomic_fetch_sub_explicit(&orphans_count[slab->class], 1, memory_order_relaxed);
}

bool orphans_put(struct extent *slab, struct heap *heap) {
    uintptr_t expected = REMOTE_OWNED;
    unsigned class = slab->class;
    os_lock_acquire(&orphans_lock);
    atomic_store_explicit(&slab->owner, EXTENT_NO_OWNER, memory_order_relaxed);
    bool put = atomic_compare_exchange_strong_explicit(&slab->remote, &expected, REMOTE_LISTED,
                                                       memory_order_release, memory_order_relaxed);
    if (put) {
        list_push_back(orphans_list_locked(class), &slab->node);
        atomic_fetch_add_explicit(&orphans_count[class], 1, memory_order_relaxed);
    } else {
        atomic_store_explicit(&slab->owner, heap, memory_order_relaxed);
    }
    os_lock_release(&orphans_lock);
    return put;
}

struct extent *orphans_take(unsigned class, struct heap *heap) {
    struct extent *taken = NULL;
    if (atomic_load_explicit(&orphans_count[class], memory_order_relaxed) == 0)
        return NULL;
    os_lock_acquire(&orphans_lock);
    while (taken == NULL && !list_is_empty(orphans_list_locked(class))) {
        struct extent *slab = LIST_ENTRY(orphans_lists[class].next, struct extent, node);
        uintptr_t expected = REMOTE_LISTED;
        orphans_remove_locked(slab);
        if (atomic_compare_exchange_strong_explicit(&slab->remote, &expected, REMOTE_OWNED,
                                                    memory_order_acquire, memory_order_relaxed))
            taken = slab;
    }
    os_lock_release(&orphans_lock);
    if (taken != NULL) {
        atomic_store_explicit(&taken->owner, heap, memory_order_relaxed);
        counters_add(COUNTER_slabs_adopted, 1);
    }
    return taken;
}

void orphans_unlist(struct extent *slab) {
    os_lock_acquire(&orphans_lock);
    orphans_remove_locked(slab);
    os_lock_release(&orphans_lock);
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
    os_lock_acquire(&orphans_lock);
}

void orphans_unlock_after_fork(bool child) {
    if (child)
        os_lock_reset(&orphans_lock);
    else
        os_lock_release(&orphans_lock);
}
