/* Bookkeeping of one domain: every change of a granule's state in a held chunk goes through here,
   so that sums and lists cannot part from the bits. Callers hold the domain's lock. */
#include "domain.h"

#include "os_assert.h"
#include "os_clock.h"

void domain_init(struct domain *domain, bool is_space) {
    domain->is_space = is_space;
    list_init(&domain->dirty_chunks);
    list_init(&domain->lazy_chunks);
}

/* Puts the chunk into, or out of, the two purge orders as its bits say. */
static void domain_order(struct domain *domain, struct chunk *chunk) {
    bool listed_dirty = !list_is_empty(&chunk->dirty_node);
    bool listed_lazy = !list_is_empty(&chunk->lazy_node);
    if (listed_dirty != (chunk->dirty != 0)) {
        if (listed_dirty) {
            list_remove(&chunk->dirty_node);
        } else {
            chunk->dirty_since_ns = os_clock_coarse_ns();
            list_push_back(&domain->dirty_chunks, &chunk->dirty_node);
        }
    }
    if (listed_lazy != (chunk->lazy != 0)) {
        if (listed_lazy) {
            list_remove(&chunk->lazy_node);
        } else {
            chunk->lazy_since_ns = os_clock_coarse_ns();
            list_push_back(&domain->lazy_chunks, &chunk->lazy_node);
        }
    }
    decay_note(&domain->decay, domain->dirty);
    atomic_store_explicit(&domain->purgeable, domain->dirty + domain->lazy, memory_order_relaxed);
}

void domain_add_locked(struct domain *domain, struct chunk *chunk) {
    domain->chunks++;
    domain->used += chunk->in_use;
    domain->dirty += bits_count(chunk->dirty);
    domain->lazy += bits_count(chunk->lazy);
    domain->busy += bits_count(chunk->busy);
    chunk->domain = domain;
    domain_order(domain, chunk);
}

void domain_remove_locked(struct domain *domain, struct chunk *chunk) {
    fallow_assert(chunk->domain == domain && chunk->busy == 0);
    domain->chunks--;
    domain->used -= chunk->in_use;
    domain->dirty -= bits_count(chunk->dirty);
    domain->lazy -= bits_count(chunk->lazy);
    list_remove(&chunk->dirty_node);
    list_remove(&chunk->lazy_node);
    chunk->domain = NULL;
    decay_note(&domain->decay, domain->dirty);
    atomic_store_explicit(&domain->purgeable, domain->dirty + domain->lazy, memory_order_relaxed);
}

/* How many of the `n` granules of `run` are in `set`; mostly all or none. */
static unsigned domain_count(bits_t set, bits_t run, unsigned n) {
    bits_t both = set & run;
    return both == 0 ? 0 : both == run ? n : bits_count(both);
}

bits_t domain_take_locked(struct domain *domain, struct chunk *chunk, unsigned first, unsigned n) {
    bits_t run = bits_range(first, n);
    domain->used += n;
    domain->dirty -= domain_count(chunk->dirty, run, n);
    domain->lazy -= domain_count(chunk->lazy, run, n);
    bits_t stale = chunk_take(chunk, first, n);
    domain_order(domain, chunk);
    return stale;
}

void domain_give_locked(struct domain *domain, struct chunk *chunk, unsigned first, unsigned n,
                        bool clean) {
    chunk_give(chunk, first, n);
    domain->used -= n;
    if (clean)
        chunk->dirty &= ~bits_range(first, n);
    else
        domain->dirty += n;
    domain_order(domain, chunk);
}

void domain_dirty_clean_locked(struct domain *domain, struct chunk *chunk) {
    bits_t clean = chunk_clean(chunk);
    chunk->dirty |= clean;
    domain->dirty += bits_count(clean);
    domain_order(domain, chunk);
}

void domain_start_purge_locked(struct domain *domain, struct chunk *chunk, bits_t set) {
    unsigned dirty = bits_count(chunk->dirty & set);
    unsigned lazy = bits_count(chunk->lazy & set);
    fallow_assert((set & ~(chunk->dirty | chunk->lazy)) == 0);
    chunk->busy |= set;
    chunk->dirty &= ~set;
    chunk->lazy &= ~set;
    domain->busy += dirty + lazy;
    domain->dirty -= dirty;
    domain->lazy -= lazy;
    domain_order(domain, chunk);
}

void domain_end_purge_locked(struct domain *domain, struct chunk *chunk, bits_t busy, bits_t lazy,
                             bits_t clean) {
    bits_t dirty = busy & ~lazy & ~clean;
    fallow_assert((busy & ~chunk->busy) == 0);
    fallow_assert(((lazy | clean) & ~busy) == 0 && (lazy & clean) == 0);
    chunk->busy &= ~busy;
    chunk->lazy |= lazy;
    chunk->dirty |= dirty;
    domain->busy -= bits_count(busy);
    domain->lazy += bits_count(lazy);
    domain->dirty += bits_count(dirty);
    domain_order(domain, chunk);
}

void domain_check_locked(struct domain *domain) {
    size_t dirty = 0, lazy = 0;
    LIST_FOR_EACH (node, &domain->dirty_chunks) {
        struct chunk *chunk = LIST_ENTRY(node, struct chunk, dirty_node);
        chunk_check(chunk);
        fallow_assert(chunk->domain == domain && chunk->dirty != 0);
        dirty += bits_count(chunk->dirty);
    }
    LIST_FOR_EACH (node, &domain->lazy_chunks) {
        struct chunk *chunk = LIST_ENTRY(node, struct chunk, lazy_node);
        fallow_assert(chunk->domain == domain && chunk->lazy != 0);
        lazy += bits_count(chunk->lazy);
    }
    fallow_assert(dirty == domain->dirty && lazy == domain->lazy);
    fallow_assert(domain->used + domain->dirty + domain->lazy + domain->busy <=
                  domain->chunks * CHUNK_GRANULES);
    (void)dirty, (void)lazy;
}
