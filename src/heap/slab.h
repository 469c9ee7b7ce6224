/* A slab: an extent cut into objects of one class. Free objects are linked through their first
   word, in the memory of the objects; objects are linked only when a page of them is first needed,
   so an untouched slab costs no memory. Called by the slab's owner unless said otherwise. */
#pragma once

#include "extent.h"
#include "heap.h"
#include "os_assert.h"

/* A new slab of class `class` for `heap`, empty, in no list; NULL when out of memory. */
struct extent *slab_create(struct heap *heap, unsigned class);

/* Gives an empty slab back to its arena. */
void slab_destroy(struct extent *slab);

/* Takes over what others freed. True if the free list has something then. */
bool slab_collect(struct extent *slab);

/* Links the next page's worth of objects never handed out yet; false if there are none left. */
bool slab_extend(struct extent *slab);

/* The next object never handed out yet, without touching it; NULL if there is none left. */
void *slab_take_fresh(struct extent *slab);

/* Pops from the free list, which is not empty. */
static always_inline void *slab_pop(struct extent *slab) {
    void *p = slab->free;
    slab->free = *(void **)p;
    slab->used++;
    return p;
}

static always_inline void slab_push(struct extent *slab, void *p) {
    fallow_assert(p != NULL);
    *(void **)p = slab->free;
    slab->free = p;
}

/* Gives up `heap`'s ownership of a slab with no free object, leaving it to nobody. False, still the owner, if
   others freed something meanwhile. */
bool slab_release(struct extent *slab, struct heap *heap);

/* Makes `heap` the owner of a slab that has none; false if it has one. `*listed` says whether the slab
   is among the orphans. */
bool slab_claim(struct extent *slab, struct heap *heap, bool *listed);

/* Leaves a freed object to the slab's owner; false if it has none (any more). */
bool slab_push_remote(struct extent *slab, void *p);

/* Reads what may be another thread's, for a hint: a block that is alive cannot be found here, since
   the thread that has it learnt of it after it had left the free list. */
unsynchronised static inline bool slab_is_last_freed(const struct extent *slab, const void *p) {
    return __atomic_load_n(&slab->free, __ATOMIC_RELAXED) == p;
}

/* Debug builds: the equation of extent.h. */
void slab_check(const struct extent *slab);
