/* Chunks that the kernel shall leave on small pages, since a huge page of theirs was broken up: else it would
   collapse them again, and what had been given back would be resident anew. */
#pragma once

#include "chunk.h"

/* Advises so, unless that would split the address space into too many maps. By whoever has granules of
   the chunk busy or in use. */
void small_pages_keep(struct chunk *chunk);

/* The chunk is advised for huge pages again, or is gone. */
void small_pages_forget(struct chunk *chunk);

/* What is mapped at `from` is mapped at `to` as well, as it was advised. */
void small_pages_copy(const struct chunk *from, struct chunk *to);
