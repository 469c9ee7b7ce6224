/* A batch's way from busy to what became of it. A refusal on one range concerns that range: it stays
   dirty, and its chunk is marked, to be left alone for a while. */
#include "purge_batch.h"

#include "arena.h"
#include "purge_advise.h"
#include "space.h"

/* After granules became busy or ceased to be: the chunk's place in its domain. */
static void purge_settle_locked(struct domain *domain, struct chunk *chunk) {
    if (domain->is_space)
        space_settle_locked(chunk);
    else
        arena_settle_locked(container_of(domain, struct arena, domain), chunk);
}

struct purge_item *purge_batch_add_locked(struct purge_batch *batch, struct domain *domain,
                                          struct chunk *chunk, bits_t set) {
    struct purge_item *item = &batch->items[batch->count++];
    *item = (struct purge_item){.chunk = chunk, .taken = set};
    if ((set & chunk->lazy) != 0)
        item->lazy_since_ns = chunk->lazy_since_ns;
    domain_start_purge_locked(domain, chunk, set);
    purge_settle_locked(domain, chunk);
    return item;
}

/* A page that another CPU has faulted in may not have been on a list of the kernel's yet when it was
   advised, and is not lazy then though the kernel said so. Once more, later, heals that. Huge pages are
   immune; and with one thread it is next to nothing. */
static bool purge_wants_again(const struct purge_item *item) {
    return !item->again && !item->chunk->huge &&
           atomic_load_explicit(&space_heaps, memory_order_relaxed) > 1;
}

size_t purge_batch_settle(struct purge_batch *batch, struct domain *domain) {
    size_t done = 0;
    os_lock_acquire(&domain->lock);
    bool forked = chunk_fork_count() != batch->forks;
    for (size_t i = 0; i < batch->count; i++) {
        struct purge_item *item = &batch->items[i];
        struct chunk *chunk = item->chunk;
        bits_t agreed = item->lazy | item->clean;
        done += item->again ? 0 : bits_count(agreed);
        if (forked)
            item->lazy = 0; /* perhaps it was shared by then: dirty, to be advised anew */
        if (purge_wants_again(item))
            chunk->once |= item->lazy;
        if (item->lazy != 0 && chunk->lazy == 0)
            chunk->lazy_since_ns = item->lazy_since_ns; /* it has not become younger */
        domain_end_purge_locked(domain, chunk, item->taken, item->lazy, item->clean);
        if (agreed != item->taken)
            domain_set_refused_locked(domain, chunk, true);
        purge_settle_locked(domain, chunk);
    }
    os_lock_release(&domain->lock);
    return done;
}

size_t purge_batch_run(struct purge_batch *batch, struct domain *domain, enum purge_stage stage) {
    purge_advise(batch, stage);
    size_t done = purge_batch_settle(batch, domain);
    batch->count = 0;
    return done;
}
