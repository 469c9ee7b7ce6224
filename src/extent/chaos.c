/* Both are harmless to an allocator that never relies on what it left in lazy memory. */
#include "chaos.h"

#include <string.h>

#include "arena.h"
#include "counters.h"
#include "os_advise.h"
#include "os_page.h"
#include "space.h"

enum { CHAOS_CHUNKS = 64 }; /* of a domain, in one round */

/* A page of so many bytes, or a part of one. */
static void chaos_reuse_some(char *at, size_t bytes) {
    static _Atomic uint64_t pages;
    uint64_t n = atomic_fetch_add_explicit(&pages, 1, memory_order_relaxed);
    if (n % (uint64_t)options.chaos_reclaim != 0)
        return;
    memset(at, 0, bytes);
    counters_add(COUNTER_chaos_pages, 1);
}

void chaos_reuse_page_slow(char *page) {
    chaos_reuse_some(page, os_page_size());
}

void chaos_reuse_slow(const struct chunk *chunk, bits_t lazy) {
    size_t page_bytes = os_page_size();
    size_t granule_pages = max_size(GRANULE_BYTES / page_bytes, 1);
    for (unsigned i = 0; i < CHUNK_GRANULES; i++) {
        if ((lazy >> i & 1) == 0)
            continue;
        char *at = chunk_address(chunk, i);
        for (size_t page = 0; page < granule_pages; page++, at += page_bytes)
            chaos_reuse_some(at, min_size(page_bytes, GRANULE_BYTES));
    }
}

static void chaos_pageout_domain(struct domain *domain) {
    char *bases[CHAOS_CHUNKS];
    size_t n = 0;
    os_lock_acquire(&domain->lock);
    LIST_FOR_EACH (node, &domain->lazy_chunks) {
        if (n == CHAOS_CHUNKS)
            break;
        bases[n++] = LIST_ENTRY(node, struct chunk, lazy_node)->base;
    }
    os_lock_release(&domain->lock);
    for (size_t i = 0; i < n; i++)
        if (os_advise(bases[i], CHUNK_BYTES, OS_ADVISE_PAGEOUT) == 0)
            counters_add(COUNTER_chaos_pageouts, 1);
}

void chaos_pageout(void) {
    if (!options.chaos_pageout)
        return;
    for (unsigned i = 0; i < arena_count(); i++)
        chaos_pageout_domain(&arena_at(i)->domain);
    chaos_pageout_domain(&space_domain);
}
