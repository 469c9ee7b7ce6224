/* A chunk that is advised otherwise than its neighbours costs maps, of which a process has a limited number. So
   they are counted: an estimate, since neighbours come and go without a lock. */
#include "small_pages.h"

#include "first_touch.h"
#include "options.h"
#include "os_advise.h"
#include "os_clock.h"
#include "space.h"

enum { SMALL_PAGES_MAPS_MAX = 200 };

/* With thp:auto, a process of fewer chunks stays on small pages: 16 MiB. */
enum { SMALL_PAGES_CHUNKS = 8 };

static _Atomic int small_pages_maps;

/* A process with so few chunks. */
static bool small_pages_is_small(void) {
    return atomic_load_explicit(&space_mapped_chunks, memory_order_relaxed) <
           SMALL_PAGES_CHUNKS - 1 + atomic_load_explicit(&space_heaps, memory_order_relaxed);
}

bool small_pages_are_wanted(void) {
    return options.thp == THP_NEVER ||
           (options.thp == THP_AUTO &&
            (small_pages_is_small() || first_touch_is_dear(os_clock_coarse_ns())));
}

static bool small_pages_is_kept(const struct chunk *chunk) {
    return chunk != NULL && atomic_load_explicit(&chunk->small, memory_order_relaxed);
}

/* How many maps there are more for `n` chunks that are advised so: two, less where a neighbour is too. */
static int small_pages_maps_of(const struct chunk *first, size_t n) {
    int likewise = small_pages_is_kept(space_chunk_at(first->base - CHUNK_BYTES)) +
                   small_pages_is_kept(space_chunk_at(first->base + (n << CHUNK_SHIFT)));
    return 2 - 2 * likewise;
}

static void small_pages_note(struct chunk *first, size_t n, bool small, int maps) {
    atomic_fetch_add_explicit(&small_pages_maps, maps, memory_order_relaxed);
    /* The first one may be out of the space: not by its address. */
    atomic_store_explicit(&first->small, small, memory_order_relaxed);
    for (size_t i = 1; i < n; i++)
        atomic_store_explicit(&space_chunk_at(first->base + (i << CHUNK_SHIFT))->small, small,
                              memory_order_relaxed);
}

void small_pages_keep(struct chunk *first, size_t n) {
    int maps = small_pages_maps_of(first, n);
    int all = atomic_load_explicit(&small_pages_maps, memory_order_relaxed);
    if (!small_pages_is_kept(first) && all + maps <= SMALL_PAGES_MAPS_MAX &&
        os_advise(first->base, n << CHUNK_SHIFT, OS_ADVISE_NOHUGEPAGE) == 0)
        small_pages_note(first, n, true, maps);
}

void small_pages_forget(struct chunk *chunk) {
    if (small_pages_is_kept(chunk))
        small_pages_note(chunk, 1, false, -small_pages_maps_of(chunk, 1));
}

void small_pages_copy(const struct chunk *from, struct chunk *to) {
    if (small_pages_is_kept(from) && !small_pages_is_kept(to))
        small_pages_note(to, 1, true, small_pages_maps_of(to, 1));
    else if (!small_pages_is_kept(from))
        small_pages_forget(to);
}
