/* What the first touch of a huge page costs on this machine now. The kernel clears it: a tenth of a millisecond. But a
   virtual machine that hands its free memory back to its host (free page reporting: in pieces of 2 MiB) has to get each page
   of it anew: 5 ms and more, where 512 small pages, from what is left of pieces, take 1. So some first touches are timed, and
   while they are dear thp:auto stays on small pages. Decision 0013. No lock. */
#pragma once

#include "chunk.h"

/* Whether it was lately. */
bool first_touch_is_dear(uint64_t now_ns);

/* Perhaps touches, and times, a chunk on huge pages that is clean and is about to be used. `large`: for a block of its own,
   which may never be touched otherwise. By whoever has it, with no lock held. */
void first_touch_sample(struct chunk *chunk, bool large);

/* One took so long, by os_clock_coarse_ns() and os_clock_fine_ns(). */
void first_touch_note(uint64_t now_ns, uint64_t took_ns);
