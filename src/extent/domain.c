/* Bookkeeping of one domain: every change of a granule's state in a held chunk goes through here,
   so that sums and lists cannot part from the bits. Callers hold the domain's lock. */
#include "domain.h"

#include "chaos.h"
#include "os_assert.h"
#include "os_clock.h"

_Atomic size_t domain_total_dirty, domain_total_lazy;
_Atomic bool domain_news;

void domain_init(struct domain *domain, bool is_space) {
    domain->is_space = is_space;
    list_init(&domain->dirty_chunks);
    list_init(&domain->refused_chunks);
    list_init(&domain->sparse_chunks);
    list_init(&domain->held_chunks);
    list_init(&domain->lazy_chunks);
    list_init(&domain->once_chunks);
}

static enum chunk_order domain_order_of(const struct domain *domain, const struct chunk *chunk) {
    if (chunk->dirty == 0)
        return CHUNK_ORDER_NONE;
    if (chunk->refused)
        return CHUNK_ORDER_REFUSED;
    if (domain->is_space || !chunk->huge)
        return CHUNK_ORDER_DIRTY;
    return chunk->in_use <= CHUNK_SPARSE_MAX && !chunk->lone ? CHUNK_ORDER_SPARSE
                                                             : CHUNK_ORDER_HELD;
}

static struct list_node *domain_list(struct domain *domain, enum chunk_order order) {
    switch (order) {
    case CHUNK_ORDER_DIRTY:
        return &domain->dirty_chunks;
    case CHUNK_ORDER_REFUSED:
        return &domain->refused_chunks;
    case CHUNK_ORDER_SPARSE:
        return &domain->sparse_chunks;
    default:
        return &domain->held_chunks;
    }
}

/* Puts a chunk behind all that have been lazy for longer. One that comes from another domain brings
   its age with it; all others are the youngest. */
static void domain_list_lazy(struct domain *domain, struct chunk *chunk) {
    struct list_node *before = domain->lazy_chunks.prev;
    if (chunk->lazy_since_ns == 0)
        chunk->lazy_since_ns = os_clock_coarse_ns();
    while (before != &domain->lazy_chunks &&
           LIST_ENTRY(before, struct chunk, lazy_node)->lazy_since_ns > chunk->lazy_since_ns)
        before = before->prev;
    list_push_front(before, &chunk->lazy_node);
}

/* Out of all purge orders, as if the chunk had nothing dirty or lazy. */
static void domain_unlist(struct domain *domain, struct chunk *chunk) {
    list_remove(&chunk->dirty_node);
    list_remove(&chunk->lazy_node);
    list_remove(&chunk->once_node);
    domain->held -= chunk->held;
    chunk->held = 0;
    chunk->order = CHUNK_ORDER_NONE;
}

/* Changes the total by what has come together, so that domains do not share a cache line's every change. */
static void domain_tell(_Atomic size_t *total, size_t *told, size_t now) {
    size_t change = now - *told;
    if (change + DOMAIN_TELL_GRANULES <= (size_t)2 * DOMAIN_TELL_GRANULES)
        return;
    atomic_fetch_add_explicit(total, change, memory_order_relaxed);
    *told = now;
}

static void domain_note_pending(struct domain *domain) {
    unsigned before = atomic_load_explicit(&domain->pending, memory_order_relaxed);
    unsigned pending = (domain_decaying_locked(domain) > 0 ? DOMAIN_DECAYING : 0) |
                       (list_is_empty(&domain->sparse_chunks) ? 0 : DOMAIN_SPARSE) |
                       (domain->lazy > 0 ? DOMAIN_LAZY : 0);
    if (pending == before)
        return;
    atomic_store_explicit(&domain->pending, pending, memory_order_relaxed);
    if ((pending & ~before & (DOMAIN_DECAYING | DOMAIN_SPARSE)) != 0)
        atomic_store(&domain_news, true);
}

static void domain_note(struct domain *domain) {
    domain_note_pending(domain);
    domain_tell(&domain_total_dirty, &domain->told_dirty, domain->dirty);
    domain_tell(&domain_total_lazy, &domain->told_lazy, domain->lazy);

    decay_note(&domain->decay, domain_decaying_locked(domain));
    atomic_store_explicit(&domain->purgeable, domain->dirty + domain->lazy, memory_order_relaxed);
}

/* Puts the chunk into the purge orders that its bits ask for. */
static void domain_order(struct domain *domain, struct chunk *chunk) {
    enum chunk_order order = domain_order_of(domain, chunk);
    if (order != (enum chunk_order)chunk->order) {
        list_remove(&chunk->dirty_node);
        if (order != CHUNK_ORDER_NONE) {
            chunk->dirty_since_ns = os_clock_coarse_ns();
            list_push_back(domain_list(domain, order), &chunk->dirty_node);
        }
        chunk->order = (uint8_t)order;
    }
    domain->held -= chunk->held;
    chunk->held = order <= CHUNK_ORDER_DIRTY ? 0 : (uint8_t)bits_count(chunk->dirty);
    domain->held += chunk->held;

    bool listed_lazy = !list_is_empty(&chunk->lazy_node);
    if (chunk->lazy != 0 && !listed_lazy)
        domain_list_lazy(domain, chunk);
    if (chunk->lazy == 0) {
        list_remove(&chunk->lazy_node);
        chunk->lazy_since_ns = 0;
    }

    if (chunk->once == 0) {
        list_remove(&chunk->once_node);
    } else if (list_is_empty(&chunk->once_node)) {
        chunk->once_since_ns = os_clock_coarse_ns();
        list_push_back(&domain->once_chunks, &chunk->once_node);
    }
    domain_note(domain);
}

void domain_add_locked(struct domain *domain, struct chunk *chunk) {
    domain_begin_locked(domain);
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
    domain_begin_locked(domain);
    domain->chunks--;
    domain->used -= chunk->in_use;
    domain->dirty -= bits_count(chunk->dirty);
    domain->lazy -= bits_count(chunk->lazy);
    domain_unlist(domain, chunk);
    chunk->domain = NULL;
    domain_note(domain);
}

/* How many of the `n` granules of `run` are in `set`; mostly all or none. */
static unsigned domain_count(bits_t set, bits_t run, unsigned n) {
    bits_t both = set & run;
    return both == 0 ? 0 : both == run ? n : bits_count(both);
}

bits_t domain_take_locked(struct domain *domain, struct chunk *chunk, unsigned first, unsigned n) {
    bits_t run = bits_range(first, n);
    domain_begin_locked(domain);
    domain->used += n;
    domain->dirty -= domain_count(chunk->dirty, run, n);
    domain->lazy -= domain_count(chunk->lazy, run, n);
    chaos_reuse(chunk, chunk->lazy & run);
    bits_t stale = chunk_take(chunk, first, n);
    domain_order(domain, chunk);
    return stale;
}

void domain_give_locked(struct domain *domain, struct chunk *chunk, unsigned first, unsigned n,
                        bool clean) {
    domain_begin_locked(domain);
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
    domain_begin_locked(domain);
    chunk->dirty |= clean;
    domain->dirty += bits_count(clean);
    domain_order(domain, chunk);
}

void domain_start_purge_locked(struct domain *domain, struct chunk *chunk, bits_t set) {
    unsigned dirty = bits_count(chunk->dirty & set);
    unsigned lazy = bits_count(chunk->lazy & set);
    fallow_assert((set & ~(chunk->dirty | chunk->lazy)) == 0);
    domain_begin_locked(domain);
    chunk->busy |= set;
    chunk->dirty &= ~set;
    chunk->lazy &= ~set;
    chunk->once &= ~set;
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
    domain_begin_locked(domain);
    chunk->busy &= ~busy;
    chunk->lazy |= lazy;
    chunk->dirty |= dirty;
    domain->busy -= bits_count(busy);
    domain->lazy += bits_count(lazy);
    domain->dirty += bits_count(dirty);
    domain_order(domain, chunk);
}

void domain_set_refused_locked(struct domain *domain, struct chunk *chunk, bool refused) {
    chunk->refused = refused;
    domain_order(domain, chunk);
}

/* The dirty granules of the chunks in one list. */
static size_t domain_check_list(struct domain *domain, enum chunk_order order) {
    size_t dirty = 0;
    LIST_FOR_EACH (node, domain_list(domain, order)) {
        struct chunk *chunk = LIST_ENTRY(node, struct chunk, dirty_node);
        chunk_check(chunk);
        fallow_assert(chunk->domain == domain && chunk->order == order && chunk->dirty != 0);
        dirty += bits_count(chunk->dirty);
    }
    return dirty;
}

void domain_check_locked(struct domain *domain) {
    if (!FALLOW_DEBUG)
        return;
    size_t lazy = 0;
    size_t decaying = domain_check_list(domain, CHUNK_ORDER_DIRTY);
    size_t held = domain_check_list(domain, CHUNK_ORDER_REFUSED) +
                  domain_check_list(domain, CHUNK_ORDER_SPARSE) +
                  domain_check_list(domain, CHUNK_ORDER_HELD);
    LIST_FOR_EACH (node, &domain->lazy_chunks) {
        struct chunk *chunk = LIST_ENTRY(node, struct chunk, lazy_node);
        fallow_assert(chunk->domain == domain && chunk->lazy != 0);
        lazy += bits_count(chunk->lazy);
    }
    fallow_assert(decaying + held == domain->dirty && held == domain->held);
    fallow_assert(lazy == domain->lazy);
    fallow_assert(domain->used + domain->dirty + domain->lazy + domain->busy <=
                  domain->chunks * CHUNK_GRANULES);
    (void)decaying, (void)held, (void)lazy;
}
