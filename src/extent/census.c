/* The walk over chunks, metadata and all other mappings. */
#include "census.h"

#include "metadata.h"
#include "os_file.h"
#include "os_page.h"
#include "os_residence.h"
#include "os_smaps.h"
#include "pagemap.h"
#include "slab_shape.h"
#include "space.h"
#include "walk.h"

enum { CENSUS_PAGES = CHUNK_BYTES / 4096, CENSUS_WORDS = CENSUS_PAGES / 64 };

/* Leaves of the page map that are told from others' memory: for 1 TiB at one place. */
enum { CENSUS_LEAVES = 256 };

struct census_walk {
    struct census *out;
    int fd;
    bool failed;
    size_t page_bytes;
    size_t leaf_count;
    const char *leaves[CENSUS_LEAVES];
    uint64_t bitmap[CENSUS_WORDS]; /* of the chunk looked at */
};

/* Resident bytes of [from, to) within the chunk, in bytes from its beginning, to whole pages. */
static size_t census_resident(const struct census_walk *walk, size_t from, size_t to) {
    size_t first = align_up(from, walk->page_bytes) / walk->page_bytes;
    size_t end = align_up(to, walk->page_bytes) / walk->page_bytes;
    return end > first ? os_residence_count(walk->bitmap, first, end - first) * walk->page_bytes
                       : 0;
}

static void census_look(struct census_walk *walk, const char *base, size_t bytes) {
    for (size_t i = 0; i < CENSUS_WORDS; i++)
        walk->bitmap[i] = 0;
    walk->failed |= !os_residence_read(walk->fd, base, bytes / walk->page_bytes, walk->bitmap);
}

/* `n` granules from `first` on, of a large block of which `bytes` are usable from there on. */
static void census_block(struct census_walk *walk, size_t first, size_t n, size_t bytes,
                         bool is_warm) {
    size_t from = bytes_of_granules(first), to = bytes_of_granules(first + n);
    size_t used_to = min_size(from + bytes, to);
    if (is_warm) {
        walk->out->dirty += census_resident(walk, from, to);
        return;
    }
    walk->out->live += census_resident(walk, from, used_to);
    walk->out->rounding += census_resident(walk, used_to, to);
}

/* Resident bytes of [from, to) that are lazy, in pages without objects of a slab. */
unsynchronised static size_t census_lazy_holes(struct census_walk *walk, const struct extent *slab,
                                               size_t from, size_t to) {
    enum { QUARTERS = 4 };
    size_t lazy = 0, quarter = GRANULE_BYTES / QUARTERS;
    for (size_t at = from; at < to; at += max_size(quarter, walk->page_bytes)) {
        uint8_t set = slab->chunk->holes[at >> GRANULE_SHIFT];
        if ((set >> (QUARTERS + at / quarter % QUARTERS) & 1) == 0)
            continue;
        size_t end = min_size(at + max_size(quarter, walk->page_bytes), to);
        size_t resident = census_resident(walk, at, end);
        lazy += resident;
        walk->out->lazy_taken += align_up(end - at, walk->page_bytes) - resident;
    }
    walk->out->lazy += lazy;
    return lazy;
}

unsynchronised static void census_slab(struct census_walk *walk, const struct extent *slab,
                                       unsigned first) {
    size_t object_bytes = slab_shapes[slab->class].object_bytes;
    size_t from = bytes_of_granules(first), to = from + bytes_of_granules(slab->granules);
    size_t objects_to = from + slab->capacity * object_bytes;
    size_t resident = census_resident(walk, from, objects_to);
    resident -= census_lazy_holes(walk, slab, from, objects_to);
    size_t used = slab->used - ((extent_flags(slab) & EXTENT_CURRENT) != 0);
    used -= min_size(extent_remote_count(slab), used);
    size_t live = min_size(min_size(used, slab->capacity) * object_bytes, resident);
    walk->out->live += live;
    walk->out->slab_free += resident - live;
    walk->out->rounding += census_resident(walk, objects_to, to);
}

/* The chunk's free granules, by their state. */
static void census_free(struct census_walk *walk, const struct chunk *copy) {
    for (unsigned i = 0; i < CHUNK_GRANULES; i++) {
        bits_t bit = (bits_t)1 << i;
        size_t resident = census_resident(walk, bytes_of_granules(i), bytes_of_granules(i + 1));
        if ((copy->used & bit) != 0)
            continue;
        if (((copy->dirty | copy->busy) & bit) != 0) {
            walk->out->dirty += resident;
        } else if ((copy->lazy & bit) != 0) {
            walk->out->lazy += resident;
            walk->out->lazy_taken += GRANULE_BYTES - resident;
        } else {
            walk->out->inflation += resident;
        }
    }
}

static void census_chunk(const struct chunk *copy, void *context) {
    struct census_walk *walk = context;
    census_look(walk, copy->base, CHUNK_BYTES);
    census_free(walk, copy);
}

static void census_piece(const struct chunk *copy, const struct walk_piece *piece, void *context) {
    (void)copy;
    if (piece->slab != NULL)
        census_slab(context, piece->slab, piece->first);
    else
        census_block(context, piece->first, piece->granules, piece->bytes, piece->warm);
}

static void census_lazy_chunk(const struct chunk *copy, void *context) {
    if (copy->lazy != 0)
        census_chunk(copy, context);
}

/* Resident bytes of any range. */
static size_t census_range(struct census_walk *walk, const char *base, size_t bytes) {
    size_t resident;
    walk->failed |= !os_residence_sum(walk->fd, base,
                                      (bytes + walk->page_bytes - 1) / walk->page_bytes, &resident);
    return resident * walk->page_bytes;
}

static void census_metadata_range(void *base, size_t bytes, void *walk_pointer) {
    struct census_walk *walk = walk_pointer;
    walk->out->metadata += census_range(walk, base, bytes);
}

static void census_leaf(void *base, size_t bytes, void *walk_pointer) {
    struct census_walk *walk = walk_pointer;
    census_metadata_range(base, bytes, walk);
    if (walk->leaf_count < CENSUS_LEAVES)
        walk->leaves[walk->leaf_count++] = base;
}

/* Whether a leaf is at `at`. Lowers *end to where it ends, or the next one begins. */
static bool census_find_leaf(const struct census_walk *walk, const char *at, const char **end) {
    for (size_t i = 0; i < walk->leaf_count; i++) {
        const char *base = walk->leaves[i], *stop = base + PAGEMAP_LEAF_BYTES;
        if (at < base) {
            *end = base < *end ? base : *end;
        } else if (at < stop) {
            *end = stop < *end ? stop : *end;
            return true;
        }
    }
    return false;
}

/* Whether Fallow's memory is at `at`, and where the like of it ends. */
static bool census_is_ours(const struct census_walk *walk, const char *at, const char **end) {
    if (space_chunk_at(at) != NULL) {
        *end = (const char *)align_down((uintptr_t)at, CHUNK_BYTES) + CHUNK_BYTES;
        return true;
    }
    const char *next = space_next(at);
    *end = next != NULL ? next : (const char *)UINTPTR_MAX;
    return metadata_find(at, end) || census_find_leaf(walk, at, end);
}

/* Whether some of [start, stop) is Fallow's. */
static bool census_overlaps(const struct census_walk *walk, const char *start, const char *stop) {
    const char *end;
    for (const char *at = start; at < stop; at = end)
        if (census_is_ours(walk, at, &end))
            return true;
    return false;
}

/* One mapping of the process: what of it is not Fallow's. */
static void census_mapping(uintptr_t start, uintptr_t stop, size_t rss_bytes, void *walk_pointer) {
    struct census_walk *walk = walk_pointer;
    const char *end, *last = (const char *)stop;
    if (rss_bytes == 0)
        return;
    if (!census_overlaps(walk, (const char *)start, last)) {
        walk->out->others += rss_bytes;
        return;
    }
    for (const char *at = (const char *)start; at < last; at = end) {
        bool ours = census_is_ours(walk, at, &end);
        end = end < last ? end : last;
        if (!ours)
            walk->out->others += census_range(walk, at, (size_t)(end - at));
    }
}

bool census_take(struct census *out) {
    static struct census_walk walk; /* under the caller's lock */
    *out = (struct census){0};
    walk =
        (struct census_walk){.out = out, .fd = os_residence_open(), .page_bytes = os_page_size()};
    if (walk.fd < 0)
        return false;
    walk_chunks(&(struct walk_visitor){census_chunk, census_piece, &walk});
    metadata_visit(census_metadata_range, &walk);
    pagemap_visit(census_leaf, &walk);
    walk.failed |= !os_smaps_visit(census_mapping, &walk);
    os_file_close(walk.fd);
    return !walk.failed;
}

bool census_lazy_taken(size_t *out) {
    struct census census = {0};
    struct census_walk walk = {
        .out = &census, .fd = os_residence_open(), .page_bytes = os_page_size()};
    *out = 0;
    if (walk.fd < 0)
        return false;
    walk_chunks(&(struct walk_visitor){census_lazy_chunk, NULL, &walk});
    os_file_close(walk.fd);
    if (walk.failed)
        return false;
    *out = census.lazy_taken;
    return true;
}
