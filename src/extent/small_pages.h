/* Chunks that the kernel shall leave on small pages: those of a small process, which a huge page would make a
   larger one where the system gives them to all (THP = always); new ones while huge pages are dear (first_touch.h); all
   under thp:never; and those of which a huge page was broken up: else it would be collapsed again, and what had been given
   back resident anew. */
#pragma once

#include "chunk.h"

/* Whether all chunks are to be such now. */
bool small_pages_are_wanted(void);

/* Advises so for `n` chunks from `first` on, unless that would split the address space into too many maps. By
   whoever has them, or granules of the only one busy. */
void small_pages_keep(struct chunk *first, size_t n);

/* The chunk is advised for huge pages again, or is gone. */
void small_pages_forget(struct chunk *chunk);

/* What is mapped at `from` is mapped at `to` as well, as it was advised. */
void small_pages_copy(const struct chunk *from, struct chunk *to);
