/* Address space: private anonymous memory, mapped, unmapped and moved. Sizes, addresses and
   alignments are multiples of the page size. */
#pragma once

#include "compiler.h"

/* Readable, writable, zero; near hint when that is free. NULL on failure. */
void *os_map(size_t bytes, void *hint);

/* The same, aligned; exactly at hint if hint is aligned and free there. What had to be mapped on the
   way is unmapped again. */
void *os_map_aligned(size_t bytes, size_t align, void *hint);

/* False, with nothing changed, if any page of the range is already mapped. */
bool os_map_fixed_noreplace(void *addr, size_t bytes);

bool os_unmap(void *addr, size_t bytes);

/* Makes readable memory writable, or no longer. */
bool os_map_protect(void *addr, size_t bytes, bool writable);

/* Moves the pages of from to to, replacing what is mapped there; the ranges do not overlap. The source
   stays mapped and reads as zero. False: the source is untouched, the contents of the destination are
   lost. Needs 5.7 (MREMAP_DONTUNMAP): a hole where the source was could not be filled again without a
   race. The source must be one VMA before 6.17 (EFAULT): failure is an ordinary result. */
bool os_remap_move(void *from, void *to, size_t bytes);
