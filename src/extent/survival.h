/* Whether what was made lazy is still there. Now and then a reuse of lazy memory is looked at before its
   first write; when something is missing, the kernel takes such memory just now, and all that is lazy is
   surveyed: what is gone counts as clean from then on, so that reuse prefers what has survived. */
#pragma once

#include <stdint.h>

#include "chunk.h"

/* Lazy granules of a chunk have come into use, and nobody has written to them yet. With no lock held. */
void survival_note_reuse(const struct chunk *chunk, bits_t lazy);

/* `n` chunks that were free belong to nobody and are about to be used. One write, and no part of a huge page
   is lazy any more: what was lazy of those counts as dirty from now on. */
void survival_note_chunks(struct chunk *first, size_t n);

/* Those granules of `set` of which no page is resident, as `pagemap` says (os_residence_open()). Counts
   them as reclaimed. Nobody else has any business with them. */
bits_t survival_find_gone(int pagemap, const struct chunk *chunk, bits_t set);

/* The number of surveys so far, the one that begins now included. */
unsigned survival_surveys(uint64_t now_ns);
