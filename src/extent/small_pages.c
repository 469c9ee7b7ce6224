/* A chunk that is advised otherwise than its neighbours costs maps, of which a process has a limited number. So
   they are counted: an estimate, since neighbours come and go without a lock. */
#include "small_pages.h"

#include "os_advise.h"
#include "space.h"

enum { SMALL_PAGES_MAPS_MAX = 200 };

static _Atomic int small_pages_maps;

static bool small_pages_is_kept(const struct chunk *chunk) {
    return chunk != NULL && atomic_load_explicit(&chunk->small, memory_order_relaxed);
}

/* How many maps there are more for a chunk that is advised so: two, less where a neighbour is too. */
static int small_pages_maps_of(const struct chunk *chunk) {
    int likewise = small_pages_is_kept(space_chunk_at(chunk->base - CHUNK_BYTES)) +
                   small_pages_is_kept(space_chunk_at(chunk->base + CHUNK_BYTES));
    return 2 - 2 * likewise;
}

static void small_pages_note(struct chunk *chunk, bool small, int maps) {
    atomic_store_explicit(&chunk->small, small, memory_order_relaxed);
    atomic_fetch_add_explicit(&small_pages_maps, maps, memory_order_relaxed);
}

void small_pages_keep(struct chunk *chunk) {
    int maps = small_pages_maps_of(chunk);
    int all = atomic_load_explicit(&small_pages_maps, memory_order_relaxed);
    if (!small_pages_is_kept(chunk) && all + maps <= SMALL_PAGES_MAPS_MAX &&
        os_advise(chunk->base, CHUNK_BYTES, OS_ADVISE_NOHUGEPAGE) == 0)
        small_pages_note(chunk, true, maps);
}

void small_pages_forget(struct chunk *chunk) {
    if (small_pages_is_kept(chunk))
        small_pages_note(chunk, false, -small_pages_maps_of(chunk));
}

void small_pages_copy(const struct chunk *from, struct chunk *to) {
    if (small_pages_is_kept(from) && !small_pages_is_kept(to))
        small_pages_note(to, true, small_pages_maps_of(to));
    else if (!small_pages_is_kept(from))
        small_pages_forget(to);
}
