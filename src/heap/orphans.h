/* Orphans: partly used slabs that belong to no heap, left by threads that ended. A list for each size
   class, each under a lock of its own. A thread that wants the class adopts one; a thread that frees an object of
   one adopts it by that (slab_claim), and then takes it off the list here. */
#pragma once

#include "extent.h"

/* Lists a slab with free objects and gives up `heap`'s ownership. False, still the owner, if others freed
   something meanwhile. */
bool orphans_put(struct extent *slab, struct heap *heap);

/* An orphan of the class, now owned by `heap`; NULL if there is none. */
struct extent *orphans_take(unsigned class, struct heap *heap);

/* Takes a slab off the list that has just been claimed through its remote word. */
void orphans_unlist(struct extent *slab);

/* Leaves a slab that the caller owns as EXTENT_SWEPT, with free objects, to whoever wants it; gives it back if it
   is empty. */
void orphans_settle(struct extent *slab);

/* Frees an object for a thread that shall own nothing by that. Under the lock of holes_choose.h: a sweep that gives a
   slab back takes whatever is EXTENT_SWEPT for its own. */
void orphans_free(struct extent *slab, void *p);

void orphans_lock_for_fork(void);
void orphans_unlock_after_fork(bool child);
