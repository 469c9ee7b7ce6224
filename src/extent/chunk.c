/* Arithmetic on one chunk's sets, and the recycling of chunk headers. Owns the list of spare
   headers (under chunk_spare_lock); a spare keeps its descriptor array. Everything else is
   called under the lock of the chunk's domain, or by the thread that holds the chunk alone. */
#include "chunk.h"

#include <string.h>

#include "metadata.h"
#include "os_assert.h"

static struct os_lock chunk_spare_lock = OS_LOCK_INIT(metadata_spare);
static struct chunk *chunk_spares; /* linked through `base` */

static _Atomic unsigned chunk_forks; /* of the process and its ancestors; relaxed */

/* All but `small`, which whoever has a neighbouring chunk may look at still, becomes zero. */
static void chunk_clear(struct chunk *chunk) {
    enum { SMALL = offsetof(struct chunk, small), BEHIND = SMALL + sizeof chunk->small };
    struct extent *extents = chunk->extents;
    atomic_store_explicit(&chunk->small, false, memory_order_relaxed);
    memset(chunk, 0, SMALL);
    memset((char *)chunk + BEHIND, 0, sizeof *chunk - BEHIND);
    chunk->extents = extents;
}

struct chunk *chunk_create(char *base) {
    os_lock_acquire(&chunk_spare_lock);
    struct chunk *chunk = chunk_spares;
    if (chunk != NULL)
        chunk_spares = (struct chunk *)(void *)chunk->base;
    os_lock_release(&chunk_spare_lock);
    if (chunk == NULL) {
        chunk = metadata_alloc(sizeof *chunk);
        if (chunk == NULL)
            return NULL;
    }
    chunk_clear(chunk);
    chunk->base = base;
    list_init(&chunk->fit_node);
    list_init(&chunk->dirty_node);
    list_init(&chunk->lazy_node);
    list_init(&chunk->once_node);
    chunk_note_exclusive(chunk);
    return chunk;
}

unsigned chunk_fork_count(void) {
    return atomic_load_explicit(&chunk_forks, memory_order_relaxed);
}

bool chunk_is_from_before_fork(const struct chunk *chunk) {
    return atomic_load_explicit(&chunk->forks, memory_order_relaxed) != chunk_fork_count();
}

void chunk_note_exclusive(struct chunk *chunk) {
    atomic_store_explicit(&chunk->forks, chunk_fork_count(), memory_order_relaxed);
}

void chunk_note_fork(void) {
    atomic_fetch_add_explicit(&chunk_forks, 1, memory_order_relaxed);
}

void chunk_destroy(struct chunk *chunk) {
    os_lock_acquire(&chunk_spare_lock);
    chunk->base = (char *)(void *)chunk_spares;
    chunk_spares = chunk;
    os_lock_release(&chunk_spare_lock);
}

bool chunk_make_extents(struct chunk *chunk) {
    if (chunk->extents == NULL)
        chunk->extents = metadata_alloc(CHUNK_GRANULES * sizeof *chunk->extents);
    return chunk->extents != NULL;
}

unsigned chunk_find(const struct chunk *chunk, unsigned n, unsigned step) {
    bits_t free = chunk_free(chunk);
    bits_t preferred[] = {free & chunk->dirty, free & (chunk->dirty | chunk->lazy), free};
    bits_t allowed = bits_multiples(step);
    for (size_t i = 0; i < ARRAY_COUNT(preferred); i++) {
        bits_t starts = bits_starts(preferred[i], n) & allowed;
        if (starts != 0)
            return bits_first(starts);
    }
    return CHUNK_GRANULES;
}

bits_t chunk_take(struct chunk *chunk, unsigned first, unsigned n) {
    bits_t run = bits_range(first, n);
    bits_t stale = run & (chunk->dirty | chunk->lazy);
    fallow_assert((run & ~chunk_free(chunk)) == 0);
    chunk->used |= run;
    chunk->in_use = (uint8_t)(chunk->in_use + n);
    chunk->dirty &= ~run;
    chunk->lazy &= ~run;
    chunk->once &= ~run;
    return stale;
}

void chunk_give(struct chunk *chunk, unsigned first, unsigned n) {
    bits_t run = bits_range(first, n);
    fallow_assert((run & ~chunk->used) == 0);
    chunk->used &= ~run;
    chunk->in_use = (uint8_t)(chunk->in_use - n);
    chunk->dirty |= run;
}

void chunk_zero(const struct chunk *chunk, bits_t set) {
    while (set != 0) {
        unsigned first = bits_first(set);
        unsigned n = bits_run_from(set, first);
        memset(chunk_address(chunk, first), 0, bytes_of_granules(n));
        set &= ~bits_range(first, n);
    }
}

void chunk_check(const struct chunk *chunk) {
    bits_t used = chunk->used, dirty = chunk->dirty, lazy = chunk->lazy, busy = chunk->busy;
    fallow_assert(chunk->in_use == bits_count(used));
    fallow_assert((used & (dirty | lazy | busy)) == 0);
    fallow_assert((dirty & (lazy | busy)) == 0);
    fallow_assert((lazy & busy) == 0);
    fallow_assert((chunk->once & ~lazy) == 0);
    fallow_assert(((used | dirty | lazy | busy) & ~bits_low(CHUNK_GRANULES)) == 0);
    (void)used, (void)dirty, (void)lazy, (void)busy;
}

void chunk_lock_for_fork(void) {
    os_lock_acquire(&chunk_spare_lock);
}

void chunk_unlock_after_fork(bool child) {
    if (child)
        os_lock_reset(&chunk_spare_lock);
    else
        os_lock_release(&chunk_spare_lock);
}
