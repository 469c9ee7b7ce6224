/* Holes: pages of a slab on which no object lives. Their free objects are linked nowhere, so that nothing
   of them is needed and the kernel may have them; that an object is free is known from its touching a
   hole. A slab that looks for an object when its free list is empty fills the lowest hole.

   chunk->holes has a byte for each granule: the low four bits are its quarters of 4 KiB that are holes, the
   high four those that the kernel has been told it may take, and has not been asked to take since: holes,
   and quarters in which no object was ever handed out. Of a page all quarters are alike. A set of quarters
   of a slab is a uint64_t, bit i standing for the i-th.

   By the slab's holder: its owner, or holes.c while it has the slab. */
#pragma once

#include <stdint.h>

#include "extent.h"

#define SLAB_QUARTER_BYTES ((size_t)4096)

/* Which quarters are holes, and which are lazy. */
uint64_t slab_holes(const struct extent *slab);
uint64_t slab_lazy_quarters(const struct extent *slab);

/* Makes holes where there can be some. Returns the quarters that nobody needs and that are not known to be
   given back: the new holes, and those in which no object was ever handed out. 0 also if the free list is
   damaged: then nothing is done. */
uint64_t slab_make_holes(struct extent *slab);

/* Makes the lowest holes memory again, until there is a free object; false if there is no hole. */
bool slab_fill_hole(struct extent *slab);

/* Of the lazy quarters, those that nobody needs still. */
uint64_t slab_lazy_unneeded(const struct extent *slab);

/* Notes that the kernel may take these quarters, or has taken them. */
void slab_note_lazy(struct extent *slab, uint64_t quarters, bool lazy);

/* Free objects that touch a hole. */
unsigned slab_hole_objects(const struct extent *slab);

/* Forgets all of it: the slab is given back. */
void slab_forget_holes(struct extent *slab);
