/* Huge extents: more than one chunk's worth of granules. All chunks but the last are wholly used
   and belong to nobody; the last, if it is partly used, is an ordinary chunk of an arena whose
   other granules serve other extents: the usable tail. */
#pragma once

#include "arena.h"

/* Memory for `granules` at a multiple of `step` chunks; its descriptor, or NULL when out of memory.
   With `zero` it reads as zero. */
struct extent *huge_take(struct arena *arena, size_t granules, size_t step, bool zero);

void huge_give(struct extent *extent);

/* In place: down to `granules`, or up (false: no room behind it). The extent begins a chunk. */
bool huge_resize(struct arena *arena, struct extent *extent, size_t granules);

/* Moves the contents of `from` to `to`, of any size that holds `bytes`: whole chunks by page
   tables where the kernel can, the rest by copying. `bytes` are of interest. Then gives `from`
   back. */
void huge_move(struct extent *from, struct extent *to, size_t bytes);
