/* The malloc family under memcheck (os_memcheck.h), where all calls of it end here: the caches of threads are closed.
   Behind each block lie bytes that nobody may touch, and what Fallow has to know of it. What is freed
   waits a while before it is used again. In the way of alloc.h's functions. */
#pragma once

#include "os_memcheck.h"

void *checked_malloc(size_t bytes, size_t align, bool zero);
void checked_free(void *p);
/* `p` is not NULL, `bytes` not 0. */
void *checked_realloc(void *p, size_t bytes);
/* What was asked for; 0: no block begins there. */
size_t checked_usable_size(const void *p);

/* What waits goes back. */
void checked_flush(void);

/* The process ends, and its blocks will be searched for lost ones. */
void checked_finish(void);
