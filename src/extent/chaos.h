/* Chaos, for tests: what the kernel may do to lazy memory at any moment, it does now. */
#pragma once

#include "chunk.h"
#include "options.h"

void chaos_reuse_slow(const struct chunk *chunk, bits_t lazy);

/* Lazy granules of a chunk come into use. With chaos_reclaim:N each Nth of their pages is zeroed, as if
   the kernel had taken it. Under the lock of the chunk's domain. */
static inline void chaos_reuse(const struct chunk *chunk, bits_t lazy) {
    if (unlikely(options.chaos_reclaim != 0) && lazy != 0)
        chaos_reuse_slow(chunk, lazy);
}

void chaos_reuse_page_slow(char *page);

/* The same of one page. */
static inline void chaos_reuse_page(char *page) {
    if (unlikely(options.chaos_reclaim != 0))
        chaos_reuse_page_slow(page);
}

/* With chaos_pageout:true the kernel is asked to take what is lazy now in all domains. With no lock
   held, in the purge thread: others use, free and purge the same memory meanwhile. */
void chaos_pageout(void);
