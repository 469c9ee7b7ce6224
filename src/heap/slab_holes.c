/* The arithmetic of one slab's holes. No locks; the holder's alone. */
#include "slab_holes.h"

#include <string.h>

#include "chaos.h"
#include "chunk.h"
#include "counters.h"
#include "os_assert.h"
#include "os_page.h"
#include "slab_shape.h"

enum {
    QUARTERS = GRANULE_BYTES / SLAB_QUARTER_BYTES, /* of a granule */
    QUARTERS_LOW = (1 << QUARTERS) - 1,
    OBJECTS_MAX = 2048, /* of a slab */
};

_Static_assert(QUARTERS == 4, "a byte has a hole bit and a lazy bit for each");

unsynchronised static uint8_t *slab_hole_bytes(const struct extent *slab) {
    return &slab->chunk->holes[slab->first];
}

unsynchronised static uint64_t slab_quarters(const struct extent *slab, unsigned shift) {
    const uint8_t *bytes = slab_hole_bytes(slab);
    uint64_t set = 0;
    for (unsigned i = 0; i < slab->granules; i++)
        set |= (uint64_t)(bytes[i] >> shift & QUARTERS_LOW) << (QUARTERS * i);
    return set;
}

uint64_t slab_holes(const struct extent *slab) {
    return slab_quarters(slab, 0);
}

uint64_t slab_lazy_quarters(const struct extent *slab) {
    return slab_quarters(slab, QUARTERS);
}

static void slab_change_quarters(struct extent *slab, uint64_t set, unsigned shift, bool on) {
    uint8_t *bytes = slab_hole_bytes(slab);
    for (unsigned i = 0; i < slab->granules; i++) {
        unsigned bits = (unsigned)(set >> (QUARTERS * i) & QUARTERS_LOW) << shift;
        bytes[i] = (uint8_t)(on ? bytes[i] | bits : bytes[i] & ~bits);
    }
}

void slab_note_lazy(struct extent *slab, uint64_t quarters, bool lazy) {
    slab_change_quarters(slab, quarters, QUARTERS, lazy);
}

void slab_forget_holes(struct extent *slab) {
    memset(slab_hole_bytes(slab), 0, slab->granules);
}

/* The quarters [from, to), in bytes from the slab's beginning, that are touched. */
static uint64_t slab_touched(size_t from, size_t to) {
    if (from >= to)
        return 0;
    size_t first = from / SLAB_QUARTER_BYTES, last = (to - 1) / SLAB_QUARTER_BYTES;
    uint64_t upto_last = last == 63 ? ~UINT64_C(0) : (UINT64_C(1) << (last + 1)) - 1;
    return upto_last & ~((UINT64_C(1) << first) - 1);
}

/* Of a page all quarters or none. */
static uint64_t slab_widen(const struct extent *slab, uint64_t set) {
    size_t quarters = os_page_size() / SLAB_QUARTER_BYTES;
    uint64_t wide = 0;
    if (quarters <= 1)
        return set;
    size_t page = os_page_size(), bytes = bytes_of_granules(slab->granules);
    for (size_t from = 0; from < bytes; from += page) {
        uint64_t all = slab_touched(from, from + page);
        wide |= (set & all) != 0 ? all : 0;
    }
    return wide;
}

/* Marks the objects on the free list. False if it is no list of this slab's objects. */
static bool slab_mark_free(const struct extent *slab, uint64_t *is_free) {
    size_t bytes = slab_shapes[slab->class].object_bytes;
    const char *base = chunk_extent_base(slab);
    for (const char *p = slab->free; p != NULL; p = *(char *const *)(const void *)p) {
        size_t offset = (size_t)(p - base), i = offset / bytes;
        uint64_t bit = UINT64_C(1) << i % 64;
        if (i >= slab->fresh || offset % bytes != 0 || (is_free[i / 64] & bit) != 0)
            return false;
        is_free[i / 64] |= bit;
    }
    return true;
}

/* The quarters of object `i`. */
static uint64_t slab_touched_by(size_t bytes, size_t i) {
    return slab_touched(i * bytes, (i + 1) * bytes);
}

/* Takes the objects that touch `set` off the free list. */
static void slab_unlink(struct extent *slab, uint64_t set) {
    size_t bytes = slab_shapes[slab->class].object_bytes;
    const char *base = chunk_extent_base(slab);
    void **link = &slab->free;
    for (char *p = slab->free, *next; p != NULL; p = next) {
        next = *(void **)(void *)p;
        if ((slab_touched_by(bytes, (size_t)(p - base) / bytes) & set) != 0)
            continue;
        *link = p;
        link = (void **)(void *)p;
    }
    *link = NULL;
}

/* Where objects never handed out begin; the slab's end if there are none. */
static size_t slab_fresh_at(const struct extent *slab) {
    return slab->fresh == slab->capacity
               ? bytes_of_granules(slab->granules)
               : (size_t)slab->fresh * slab_shapes[slab->class].object_bytes;
}

uint64_t slab_lazy_unneeded(const struct extent *slab) {
    size_t fresh_page = align_up(slab_fresh_at(slab), os_page_size());
    return slab_lazy_quarters(slab) &
           (slab_holes(slab) | slab_touched(fresh_page, bytes_of_granules(slab->granules)));
}

uint64_t slab_make_holes(struct extent *slab) {
    uint64_t is_free[OBJECTS_MAX / 64] = {0};
    size_t bytes = slab_shapes[slab->class].object_bytes;
    size_t fresh_at = slab_fresh_at(slab);
    uint64_t holes = slab_holes(slab), needed = 0;
    if (!slab_mark_free(slab, is_free))
        return 0;
    for (size_t i = 0; i < slab->fresh; i++) {
        uint64_t touched = slab_touched_by(bytes, i);
        if ((is_free[i / 64] >> i % 64 & 1) == 0 && (touched & holes) == 0)
            needed |= touched;
    }
    /* Where the next object never handed out begins, others may have ended. */
    if (fresh_at % os_page_size() != 0)
        needed |= slab_touched(fresh_at, fresh_at + 1);
    needed = slab_widen(slab, needed);
    uint64_t unneeded = slab_touched(0, bytes_of_granules(slab->granules)) & ~needed & ~holes;
    uint64_t made = unneeded & slab_touched(0, align_down(fresh_at, os_page_size()));
    if (made != 0) {
        slab_unlink(slab, made);
        slab_change_quarters(slab, made, 0, true);
    }
    return unneeded;
}

/* Links the objects that touch `filled` and no hole. */
static void slab_link_filled(struct extent *slab, uint64_t filled, uint64_t holes) {
    size_t bytes = slab_shapes[slab->class].object_bytes;
    unsigned first = (unsigned)__builtin_ctzll(filled),
             last = 63 - (unsigned)__builtin_clzll(filled);
    size_t i = first * SLAB_QUARTER_BYTES / bytes;
    size_t end = min_size(((last + 1) * SLAB_QUARTER_BYTES + bytes - 1) / bytes, slab->fresh);
    void **link = &slab->free;
    void *rest = slab->free;
    for (; i < end; i++) {
        uint64_t touched = slab_touched_by(bytes, i);
        if ((touched & filled) == 0 || (touched & holes) != 0)
            continue;
        *link = chunk_extent_base(slab) + i * bytes;
        link = (void **)*link;
    }
    *link = rest;
}

bool slab_fill_hole(struct extent *slab) {
    uint64_t holes = slab_holes(slab);
    if (holes == 0)
        return false;
    uint64_t lazy = slab_lazy_quarters(slab), filled = 0;
    while (slab->free == NULL && holes != 0) {
        uint64_t page = slab_widen(slab, holes & -holes);
        holes &= ~page;
        filled |= page;
        if ((lazy & page) != 0)
            chaos_reuse_page(chunk_extent_base(slab) +
                             (unsigned)__builtin_ctzll(page) * SLAB_QUARTER_BYTES);
        slab_link_filled(slab, filled, holes);
    }
    slab_change_quarters(slab, filled, 0, false);
    slab_note_lazy(slab, filled, false);
    counters_add(COUNTER_hole_reused_bytes,
                 SLAB_QUARTER_BYTES * (unsigned)__builtin_popcountll(filled));
    return slab->free != NULL;
}

unsigned slab_hole_objects(const struct extent *slab) {
    size_t bytes = slab_shapes[slab->class].object_bytes;
    uint64_t holes = slab_holes(slab);
    unsigned n = 0;
    for (size_t i = 0; holes != 0 && i < slab->fresh; i++)
        n += (slab_touched_by(bytes, i) & holes) != 0;
    return n;
}
