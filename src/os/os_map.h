/* Address space: private anonymous memory, mapped, unmapped and moved. Sizes, addresses and
   alignments are multiples of the page size. */
#pragma once

#include "compiler.h"

/* Readable, writable, zero, MAP_NORESERVE; near hint when that is free. NULL on failure. */
void *os_map(size_t bytes, void *hint);

/* The same, aligned; exactly at hint if hint is aligned and free there. What had to be mapped on the
   way is unmapped again. */
void *os_map_aligned(size_t bytes, size_t align, void *hint);

/* False, with nothing changed, if any page of the range is already mapped. */
bool os_map_fixed_noreplace(void *addr, size_t bytes);

bool os_unmap(void *addr, size_t bytes);

enum os_remap {
    OS_REMAP_OK_KEPT_SOURCE, /* pages moved; the source stays mapped and reads as zero */
    OS_REMAP_OK_SOURCE_GONE, /* pages moved; the source is a hole now */
    OS_REMAP_FAILED,         /* the source is untouched; the destination is mapped, contents lost */
};

/* Moves the pages of from to to, replacing what is mapped there; the ranges do not overlap and have no
   holes. Before 6.17 a source of several VMAs is refused (EFAULT): failure is an ordinary result. */
enum os_remap os_remap_move(void *from, size_t from_bytes, void *to, size_t to_bytes);
