/* A chunk has a word for each slab, which tells what it was like when it was last looked at. What changes
   all the time is never swept; what was swept, or is in use in a way that leaves no page free, is not
   tried again until it has changed. The words are the sweeping thread's. */
#include "holes_choose.h"

#include "counters.h"
#include "options.h"
#include "os_page.h"
#include "pagemap.h"
#include "purge.h"
#include "slab_holes.h"
#include "slab_shape.h"
#include "small_pages.h"

enum { HOLES_DONE = 1 }; /* in chunk->looks: nothing more to do as it is */

/* So much of a huge page has to be free before it is broken up. */
#define HOLES_BREAK_BYTES (CHUNK_BYTES / 4 * 3)

struct os_lock holes_lock = OS_LOCK_INIT(holes);
struct holes_entry holes_entries[HOLES_BATCH];
size_t holes_count;

/* The sweeping thread's, of the present cycle. */
static bool holes_found;           /* something that may be due in the next one */
static uint64_t holes_lazy_due_ns; /* when the first lazy hole is to be given back */

void holes_choose_begin(void) {
    holes_found = false;
    holes_lazy_due_ns = UINT64_MAX;
}

uint64_t holes_choose_next_ns(uint64_t soonest_ns) {
    return holes_found ? soonest_ns : max_u64(holes_lazy_due_ns, soonest_ns);
}

/* When what became lazy at `since_ns` is to be given back. */
static uint64_t holes_old_at_ns(uint64_t since_ns) {
    return options.lazy_decay_ms < 0 ? UINT64_MAX
                                     : since_ns + (uint64_t)options.lazy_decay_ms * 1000000;
}

/* What tells one state of a slab from another; the lowest bit is HOLES_DONE's. */
unsynchronised static uint16_t holes_look_of(const struct extent *slab) {
    uint64_t mix = (uintptr_t)slab->free ^ (uint64_t)slab->used << 40 ^
                   (uint64_t)slab->fresh << 20 ^
                   (uint64_t)atomic_load_explicit(&slab->remote, memory_order_relaxed) << 7;
    return (uint16_t)(mix * UINT64_C(0x9e3779b97f4a7c15) >> 48 & ~UINT64_C(1));
}

/* Free bytes of a slab if they may make holes, else 0. */
unsynchronised static size_t holes_worth(const struct extent *slab) {
    size_t bytes = slab_shapes[slab->class].object_bytes;
    size_t remote = extent_remote_count(slab);
    size_t used = min_size(slab->used - min_size(remote, slab->used), slab->capacity);
    size_t free_bytes = (slab->capacity - used) * bytes, all = bytes_of_granules(slab->granules);
    bool large = bytes >= 4096 && free_bytes >= 2 * os_page_size();
    return large || free_bytes >= all / 4 * 3 ? free_bytes : 0;
}

/* The next slab of a chunk from granule *i on, which is moved past it; NULL: there is none. Under the
   chunk's domain's lock, so it stays a slab. */
static struct extent *holes_next_slab(const struct chunk *chunk, unsigned *i) {
    while (*i < CHUNK_GRANULES) {
        unsigned at = (*i)++;
        if ((chunk->used >> at & 1) == 0)
            continue;
        struct extent *extent = pagemap_get(chunk_address(chunk, at));
        if (extent == NULL || extent->chunk != chunk || extent->first != at)
            continue;
        *i = at + (unsigned)min_size(extent->granules, CHUNK_GRANULES - at);
        if (extent_is_slab(extent))
            return extent;
    }
    return NULL;
}

/* Looks at all slabs. Returns those that are idle and worth it, by their first granules, and adds to *bytes
   what of them is free. */
static bits_t holes_find_idle(const struct holes_round *round, struct chunk *chunk, size_t *bytes) {
    bits_t idle = 0;
    struct extent *slab;
    for (unsigned i = 0; (slab = holes_next_slab(chunk, &i)) != NULL;) {
        uint16_t look = holes_look_of(slab), *last = &chunk->looks[slab->first];
        bool changed = (*last & ~HOLES_DONE) != look, done = (*last & HOLES_DONE) != 0;
        size_t worth = holes_worth(slab);
        if (changed)
            *last = look;
        if (worth == 0)
            continue;
        *bytes += changed && !round->at_once ? 0 : worth;
        if (round->at_once || (!changed && !done))
            idle |= (bits_t)1 << slab->first;
        holes_found |= changed;
    }
    return idle;
}

/* Those with lazy holes that are to be given back; none before they are due. */
static bits_t holes_find_old(const struct holes_round *round, struct chunk *chunk) {
    bits_t old = 0;
    uint64_t due_ns = holes_old_at_ns(chunk->holes_since_ns);
    struct extent *slab;
    if (chunk->holes_since_ns == 0)
        return 0;
    if (round->now_ns < due_ns && !round->clean) {
        holes_lazy_due_ns = min_u64(holes_lazy_due_ns, due_ns);
        return 0;
    }
    chunk->holes_since_ns = 0;
    for (unsigned i = 0; (slab = holes_next_slab(chunk, &i)) != NULL;)
        if (slab_lazy_quarters(slab) != 0)
            old |= (bits_t)1 << slab->first;
    return old;
}

/* A heap that many threads use cannot be taken from. A parked slab is in a heap's list, but nothing of it is
   in use, so no free of its thread's is at it. */
unsynchronised static bool holes_may_take_from(const struct heap *owner) {
    return owner == EXTENT_PARKED || owner->mark != NULL;
}

/* Both the taking and its being noted are under the lock of the slab's domain: a fork sees both or none. */
static bool holes_take_locked(const struct holes_round *round, struct extent *slab, bool give_back,
                              bool breaks) {
    struct heap *owner = atomic_load_explicit(&slab->owner, memory_order_acquire);
    bool taken = false;
    if (owner == EXTENT_NO_OWNER) {
        uintptr_t listed = REMOTE_LISTED;
        taken = atomic_compare_exchange_strong(&slab->remote, &listed, REMOTE_OWNED);
        if (taken)
            atomic_store_explicit(&slab->owner, EXTENT_SWEPT, memory_order_relaxed);
        owner = NULL;
    } else if (owner != EXTENT_SWEPT && (extent_flags(slab) & EXTENT_PARTIAL) != 0 &&
               (owner == round->own || (round->all && holes_may_take_from(owner)))) {
        struct heap *expected = owner;
        taken = atomic_compare_exchange_strong(&slab->owner, &expected, EXTENT_SWEPT);
    }
    if (taken)
        holes_entries[holes_count++] = (struct holes_entry){
            .slab = slab, .heap = owner, .give_back = give_back, .breaks = breaks};
    return taken;
}

/* Takes the slabs of `idle` and `old`. What cannot be taken is with its owner: it will have changed. */
static void holes_take_all_locked(const struct holes_round *round, struct chunk *chunk, bits_t idle,
                                  bits_t old, bool breaks) {
    for (bits_t rest = idle | old; rest != 0;) {
        unsigned i = bits_first(rest);
        struct extent *slab = &chunk->extents[i];
        bool is_idle = (idle >> i & 1) != 0;
        rest &= ~((bits_t)1 << i);
        if (!holes_take_locked(round, slab, !is_idle, breaks) && (old >> i & 1) != 0)
            chunk->holes_since_ns = round->now_ns;
    }
    if (chunk->holes_since_ns != 0)
        holes_lazy_due_ns = min_u64(holes_lazy_due_ns, holes_old_at_ns(chunk->holes_since_ns));
}

/* A hint until its lock is held: chunks come and go. */
unsynchronised static __attribute__((__noinline__)) struct domain *
holes_domain_of(const struct chunk *chunk) {
    return chunk->domain;
}

void holes_look(const struct holes_round *round, struct chunk *chunk) {
    struct domain *domain = holes_domain_of(chunk);
    bool broken = false;
    if (domain == NULL || domain->is_space)
        return;
    os_lock_acquire(&domain->lock);
    if (holes_domain_of(chunk) == domain && chunk->in_use != 0 && !chunk->lone) {
        size_t free_bytes = bytes_of_granules(CHUNK_GRANULES - chunk->in_use);
        size_t before = holes_count;
        bits_t idle = holes_find_idle(round, chunk, &free_bytes);
        bits_t old = holes_find_old(round, chunk);
        bool breaks = chunk->huge && idle != 0 && free_bytes >= HOLES_BREAK_BYTES;
        if (chunk->huge && !breaks)
            idle = 0;
        holes_take_all_locked(round, chunk, idle, old, breaks);
        broken = breaks && holes_count > before;
        if (broken)
            purge_break_locked(round->batch, domain, chunk);
    }
    os_lock_release(&domain->lock);
    if (!broken)
        return;
    if (round->batch->count > 0) {
        purge_batch_run(round->batch, domain, purge_first_stage());
    } else { /* no granule was free */
        counters_add(COUNTER_huge_broken_chunks, 1);
        small_pages_keep(chunk, 1);
    }
}

void holes_note_swept(const struct holes_round *round, const struct holes_entry *entry) {
    struct extent *slab = entry->slab;
    struct chunk *chunk = slab->chunk;
    chunk->looks[slab->first] = holes_look_of(slab) | HOLES_DONE;
    if (!entry->busy && !entry->lazy)
        slab_note_lazy(slab, slab_lazy_quarters(slab), false);
    else if (!entry->busy)
        slab_note_lazy(slab, entry->quarters, true);
    bool some_stay = entry->busy ? entry->give_back : entry->lazy && entry->quarters != 0;
    if (some_stay && chunk->holes_since_ns == 0)
        chunk->holes_since_ns = round->now_ns;
    if (chunk->holes_since_ns != 0)
        holes_lazy_due_ns = min_u64(holes_lazy_due_ns, holes_old_at_ns(chunk->holes_since_ns));
}
