/* jemalloc's allocation functions with flags: alignment, zeroes. The flags' other parts, which cache and which arena, are
   taken and make no difference. */
#pragma once

#include <stddef.h>

void *allocx_malloc(size_t size, int flags);
void *allocx_realloc(void *p, size_t size, int flags);
/* In place, to between `size` and `size` + `extra`; what the size is then. */
size_t allocx_resize(void *p, size_t size, size_t extra, int flags);
/* What malloc_usable_size() would say; 0 for more than there is. */
size_t allocx_good_size(size_t size, int flags);
