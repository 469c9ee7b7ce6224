/* Memory for the allocator's own records: chunk headers, descriptor arrays, heaps. Handed out
   zeroed from blocks of address space of which only what is used is ever touched; never given
   back to the kernel, recycled by its users through free lists of their own. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "os_lock.h"

/* Zeroed memory aligned to a cache line, or NULL. Takes the metadata lock. */
void *metadata_alloc(size_t bytes);

/* Counts mappings made for metadata elsewhere (page map leaves). */
void metadata_account(size_t bytes);

/* Bytes of address space that metadata has mapped. */
size_t metadata_mapped_bytes(void);

/* Every range that metadata_alloc() has mapped. */
void metadata_visit(void (*visit)(void *base, size_t bytes, void *context), void *context);

/* Whether `at` lies in one. Lowers *end to where that range ends, or the next one begins. */
bool metadata_find(const char *at, const char **end);

void metadata_lock_for_fork(void);
void metadata_unlock_after_fork(bool child);
