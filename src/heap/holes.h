/* The sweep: which slabs get holes (slab_holes.h), and when. A slab that is mostly free, and has been left
   alone since the last look, has its pages without objects made lazy; when they have been so for
   lazy_decay_ms they are given back. A huge page is broken up for it when all but a quarter of it is free
   or swept.

   A slab is its owner's, who takes no lock for it. So it is taken from its owner, who may be asleep:

   - `owner` becomes EXTENT_SWEPT, then every thread passes a barrier (os_barrier.h). From then on the
     owner's frees find that they are not the owner's and go to `remote`; and before it takes the slab out
     of its partial list it clears EXTENT_PARTIAL and looks at `owner` (heap_hold), so it leaves it alone.
   - What it may have begun before the barrier shows: a free has put the slab in its thread's mark before it
     looked at `owner`; anything else has cleared EXTENT_PARTIAL. Such a slab is left alone, too. So is one that
     is not EXTENT_SWEPT any more: its owner was at it, has given it up since, and it may be anybody's.

   The slab is given back by putting the heap in the place of EXTENT_SWEPT, if that is there still. Empty slabs
   that wait in a heap (EXTENT_PARKED) are taken in the same way; no free can be at those. Orphans are claimed
   as a free claims them. */
#pragma once

#include "heap.h"
#include "purge_batch.h"

/* Sweeps what is due at `now_ns`, up to some chunks: slabs of `own` and orphans only, or with NULL those of
   all threads. The batch is empty. With no lock held. */
void holes_poll(struct purge_batch *batch, struct heap *own, uint64_t now_ns);

/* The same of all chunks and threads at once, whether or not anything was used of late; with `clean`, all is
   given back. Returns the bytes for which the kernel agreed. */
size_t holes_sweep_all(struct purge_batch *batch, struct heap *own, uint64_t now_ns, bool clean);

/* When there will be something to do; UINT64_MAX: never, unless something changes. */
uint64_t holes_due_ns(void);

/* Full slabs have been freed into: there is something to look at. */
void holes_note_news(void);

void holes_lock_for_fork(void);
void holes_unlock_after_fork(bool child);
