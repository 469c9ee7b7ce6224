/* Taking, resizing and moving extents over several chunks. A huge extent is owned by the thread
   that holds its block, so its chunks that belong to no domain need no lock; only the tail chunk
   is shared, and is touched through its arena. */
#include "huge.h"

#include <string.h>

#include "counters.h"
#include "first_touch.h"
#include "os_advise.h"
#include "os_assert.h"
#include "os_map.h"
#include "small_pages.h"
#include "space.h"
#include "survival.h"

/* A moved range cannot merge with its neighbours' mappings any more: two maps a move. */
enum { HUGE_MOVES_MAX = 200 };

static struct chunk *huge_chunk(const struct extent *extent, size_t i) {
    return space_chunk_at(extent->chunk->base + (i << CHUNK_SHIFT));
}

static size_t huge_whole(size_t granules) {
    return granules / CHUNK_GRANULES;
}

static unsigned huge_tail(size_t granules) {
    return (unsigned)(granules % CHUNK_GRANULES);
}

/* Takes the first `n` granules of a chunk that belongs to nobody. */
static void huge_occupy(struct chunk *chunk, unsigned n, bool zero) {
    survival_note_reuse(chunk, chunk->lazy & bits_low(n));
    bits_t stale = chunk_take(chunk, 0, n);
    if (zero)
        chunk_zero(chunk, stale);
}

/* A block of at least so many chunks on huge pages that shall read as zero is given back to the kernel
   instead of being zeroed (docs/decisions/0009). */
enum { HUGE_DROP_CHUNKS = 8 };

static bool huge_wants_drop(const struct chunk *first, size_t n) {
    bits_t stale = 0;
    if (n < HUGE_DROP_CHUNKS)
        return false;
    for (size_t i = 0; i < n; i++) {
        const struct chunk *chunk = space_chunk_at(first->base + (i << CHUNK_SHIFT));
        if (!chunk->huge)
            return false;
        stale |= chunk->dirty | chunk->lazy;
    }
    return stale != 0 && os_dontneed_zeroes();
}

/* Has chunks that belong to nobody read as zero, by one call for all, if that is worth it and possible. */
static void huge_drop(struct chunk *first, size_t n) {
    if (!huge_wants_drop(first, n) ||
        os_advise(first->base, n << CHUNK_SHIFT, OS_ADVISE_DONTNEED) != 0)
        return;
    counters_add(COUNTER_zeroed_by_kernel_bytes, n << CHUNK_SHIFT);
    for (size_t i = 0; i < n; i++) {
        struct chunk *chunk = space_chunk_at(first->base + (i << CHUNK_SHIFT));
        chunk->dirty = chunk->lazy = chunk->once = 0;
    }
}

/* `count` chunks from `first` on become part of a huge extent, the last with `tail` granules if
   that is not 0. */
static void huge_occupy_all(struct arena *arena, struct chunk *first, size_t whole, unsigned tail,
                            bool zero) {
    for (size_t i = 0; i < whole; i++)
        huge_occupy(space_chunk_at(first->base + (i << CHUNK_SHIFT)), CHUNK_GRANULES, zero);
    if (tail != 0) {
        struct chunk *last = space_chunk_at(first->base + (whole << CHUNK_SHIFT));
        huge_occupy(last, tail, zero);
        arena_add_chunk(arena, last);
    }
}

static bool huge_give_chunks(struct chunk *first, size_t n) {
    char *base = first->base; /* once given back, the header may be another chunk's */
    for (size_t i = 0; i < n; i++)
        space_give(space_chunk_at(base + (i << CHUNK_SHIFT)));
    return false;
}

static bool huge_is_clean(const struct chunk *chunk) {
    return (chunk->dirty | chunk->lazy) == 0;
}

/* Chunks of a run that nobody has touched shall be on small pages after all. */
static void huge_renounce(struct chunk *first, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!huge_is_clean(space_chunk_at(first->base + (i << CHUNK_SHIFT))))
            return;
    small_pages_keep(first, n);
    bool kept = atomic_load_explicit(&first->small, memory_order_relaxed);
    for (size_t i = 0; kept && i < n; i++)
        space_chunk_at(first->base + (i << CHUNK_SHIFT))->huge = false;
}

/* Times the first touch of a block; if such are dear, the rest of it does without huge pages. */
static void huge_sample(struct chunk *first, size_t n) {
    if (!first->huge || !huge_is_clean(first))
        return;
    first_touch_sample(first, true);
    if (n > 1 && small_pages_are_wanted())
        huge_renounce(space_chunk_at(first->base + CHUNK_BYTES), n - 1);
}

struct extent *huge_take(struct arena *arena, size_t granules, size_t step, bool zero) {
    size_t whole = huge_whole(granules);
    unsigned tail = huge_tail(granules);
    size_t n = whole + (tail != 0);
    struct chunk *first = space_take(n, step);
    if (first == NULL)
        return NULL;
    /* The last chunk will hold extents of its own. */
    if (!chunk_make_extents(first) ||
        !chunk_make_extents(space_chunk_at(first->base + ((n - 1) << CHUNK_SHIFT)))) {
        huge_give_chunks(first, n);
        return NULL;
    }
    if (zero)
        huge_drop(first, n);
    else
        huge_sample(first, n);
    huge_occupy_all(arena, first, whole, tail, zero);
    struct extent *extent = &first->extents[0];
    extent->chunk = first;
    extent->first = 0;
    extent->granules = (uint32_t)granules;
    return extent;
}

/* Gives back the granules from `from` to `to` of the extent at `base`. `moved`: so many whole chunks
   at the front were emptied by mremap and read as zero. */
static void huge_release(struct arena *arena, char *base, size_t from, size_t to, size_t moved) {
    while (to > from) {
        size_t i = (to - 1) / CHUNK_GRANULES;
        size_t low = max_size(from, i * CHUNK_GRANULES);
        unsigned first = (unsigned)(low - i * CHUNK_GRANULES);
        unsigned n = (unsigned)(to - low);
        struct chunk *chunk = space_chunk_at(base + (i << CHUNK_SHIFT));
        to = low;
        if (chunk->domain != NULL) {
            arena_give_at(chunk, first, n, false);
            continue;
        }
        chunk_give(chunk, first, n);
        if (i < moved)
            chunk->dirty = 0;
        if (first == 0)
            space_give(chunk);
        else
            arena_add_chunk(arena, chunk);
    }
}

void huge_give(struct extent *extent) {
    huge_release(NULL, extent->chunk->base, 0, extent->granules, 0);
}

static bool huge_grow(struct arena *arena, struct extent *extent, size_t granules) {
    size_t whole = huge_whole(extent->granules);
    unsigned tail = huge_tail(extent->granules);
    struct chunk *last = huge_chunk(extent, whole - (tail == 0));
    if (tail != 0 && granules < (whole + 1) * CHUNK_GRANULES)
        return arena_take_at(last, tail, huge_tail(granules) - tail);
    /* The rest of the tail chunk, and new chunks behind it. */
    size_t have = whole + (tail != 0);
    size_t new_whole = huge_whole(granules);
    unsigned new_tail = huge_tail(granules);
    size_t more = new_whole + (new_tail != 0) - have;
    struct chunk *next = NULL;
    if (more > 0) {
        next = space_take_at(extent->chunk->base + (have << CHUNK_SHIFT), more);
        if (next == NULL)
            return false;
        if (new_tail != 0 &&
            !chunk_make_extents(space_chunk_at(next->base + ((more - 1) << CHUNK_SHIFT))))
            return huge_give_chunks(next, more);
    }
    if (tail != 0) {
        if (!arena_take_at(last, tail, CHUNK_GRANULES - tail))
            return more > 0 ? huge_give_chunks(next, more) : false;
        arena_remove_full_chunk(last);
    }
    if (more > 0)
        huge_occupy_all(arena, next, more - (new_tail != 0), new_tail, false);
    return true;
}

bool huge_resize(struct arena *arena, struct extent *extent, size_t granules) {
    if (granules > extent->granules) {
        if (!huge_grow(arena, extent, granules))
            return false;
    } else if (granules < extent->granules) {
        /* What stays of the last chunk becomes a chunk of the arena, which needs descriptors. */
        size_t whole = huge_whole(granules);
        if (huge_tail(granules) != 0 && !chunk_make_extents(huge_chunk(extent, whole)))
            return false;
        huge_release(arena, extent->chunk->base, granules, extent->granules, 0);
    }
    extent->granules = (uint32_t)granules;
    return true;
}

/* A mapping that moves takes its advice about huge pages with it. */
static void huge_pass_flags(const struct extent *from, const struct extent *to, size_t chunks) {
    for (size_t i = 0; i < chunks; i++) {
        huge_chunk(to, i)->huge = huge_chunk(from, i)->huge;
        small_pages_copy(huge_chunk(from, i), huge_chunk(to, i));
    }
}

void huge_move(struct extent *from, struct extent *to, size_t bytes) {
    static _Atomic unsigned moves;
    size_t granules = from->granules;
    size_t whole = min_size(bytes >> CHUNK_SHIFT, huge_whole(granules));
    size_t moved = 0;
    char *source = from->chunk->base, *target = chunk_extent_base(to);
    if (whole > 0 && atomic_load_explicit(&moves, memory_order_relaxed) < HUGE_MOVES_MAX) {
        if (os_remap_move(source, target, whole << CHUNK_SHIFT)) {
            moved = whole;
            huge_pass_flags(from, to, moved);
            counters_add(COUNTER_remap_moves, 1);
            atomic_fetch_add_explicit(&moves, 1, memory_order_relaxed);
        }
    }
    size_t done = moved << CHUNK_SHIFT;
    if (bytes > done)
        memcpy(target + done, source + done, bytes - done);
    huge_release(NULL, source, 0, granules, moved);
}
