/* The sections, the chunks in them, and the extents in those, as src/extent/walk.c has them. A chunk's record is read
   twice in one system call, and taken when both are alike and the sets do not overlap. */
#include "heap_walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "remote.h"

enum {
    WALK_READS_MAX = 100,
    WALK_CHUNK_BYTES = 4096, /* more than a record has */
    WALK_SECTIONS_MAX = 1 << 16,
    WALK_RANGES_MAX = 1 << 22,
};

struct walk {
    const struct heap_view *view;
    const struct heap_visitor *visitor;
    unsigned granules; /* of a chunk */
    uint64_t chunk_bytes;
    struct remote_batch *batch;
    unsigned char record[2][WALK_CHUNK_BYTES];
    unsigned char extents[HEAP_GRANULES_MAX * HEAP_EXTENT_BYTES];
    uint64_t entries[HEAP_GRANULES_MAX]; /* of the page map */
    uint64_t leaf, leaf_number;          /* the leaf used last */
    /* the rest of a block that goes on in the next chunk */
    uint64_t rest_base, rest_granules, rest_bytes;
    bool rest_is_warm;
};

static uint64_t field_u64(const unsigned char *record, uint32_t offset) {
    uint64_t value;
    memcpy(&value, record + offset, sizeof value);
    return value;
}

static uint32_t field_u32(const unsigned char *record, uint32_t offset) {
    uint32_t value;
    memcpy(&value, record + offset, sizeof value);
    return value;
}

static uint16_t field_u16(const unsigned char *record, uint32_t offset) {
    uint16_t value;
    memcpy(&value, record + offset, sizeof value);
    return value;
}

static heap_set field_set(const unsigned char *record, uint32_t offset) {
    heap_set value;
    memcpy(&value, record + offset, sizeof value);
    return value;
}

/* --- chunks --- */

static bool walk_is_whole(const struct walk *walk, struct heap_chunk *chunk) {
    const struct outline_chunk *at = &walk->view->outline.chunk;
    const unsigned char *record = walk->record[0];
    if (memcmp(record, walk->record[1], at->bytes) != 0)
        return false;
    chunk->used = field_set(record, at->used);
    chunk->dirty = field_set(record, at->dirty);
    chunk->lazy = field_set(record, at->lazy);
    chunk->busy = field_set(record, at->busy);
    chunk->base = field_u64(record, at->base);
    chunk->extents = field_u64(record, at->extents);
    chunk->domain = field_u64(record, at->domain);
    memcpy(chunk->holes, record + at->holes, walk->granules);
    return (chunk->used & (chunk->dirty | chunk->lazy | chunk->busy)) == 0 &&
           (chunk->dirty & (chunk->lazy | chunk->busy)) == 0 && (chunk->lazy & chunk->busy) == 0;
}

/* False with errno 0 if it never was whole, or is another chunk's record by now. */
static bool walk_read_chunk(struct walk *walk, uint64_t address, uint64_t base,
                            struct heap_chunk *chunk) {
    uint32_t bytes = walk->view->outline.chunk.bytes;
    chunk->address = address;
    for (unsigned reads = 0; reads < WALK_READS_MAX; reads++) {
        walk->batch->count = walk->batch->bytes = 0;
        remote_add(walk->batch, address, walk->record[0], bytes);
        remote_add(walk->batch, address, walk->record[1], bytes);
        if (!remote_run(walk->view->pid, walk->batch))
            return false;
        if (walk_is_whole(walk, chunk)) {
            errno = 0;
            return chunk->base == base;
        }
    }
    errno = 0;
    return false;
}

/* --- extents --- */

/* The descriptors of the chunk's extents, and its entries in the page map. */
static bool walk_read_extents(struct walk *walk, const struct heap_chunk *chunk) {
    const struct outline_pagemap *map = &walk->view->outline.pagemap;
    uint64_t number = chunk->base >> map->leaf_shift;
    uint64_t within = chunk->base & (((uint64_t)1 << map->leaf_shift) - 1);
    if (walk->leaf == 0 || walk->leaf_number != number) {
        walk->leaf_number = number;
        if (!remote_u64(walk->view->pid, remote_address(map->root) + number * sizeof(uint64_t),
                        &walk->leaf))
            return false;
    }
    memset(walk->extents, 0, sizeof walk->extents);
    memset(walk->entries, 0, sizeof walk->entries);
    walk->batch->count = walk->batch->bytes = 0;
    if (chunk->extents != 0)
        remote_add(walk->batch, chunk->extents, walk->extents,
                   (size_t)walk->granules * HEAP_EXTENT_BYTES);
    if (walk->leaf != 0)
        remote_add(walk->batch,
                   walk->leaf + (within >> walk->view->outline.granule_shift) * sizeof(uint64_t),
                   walk->entries, walk->granules * sizeof(uint64_t));
    return walk->batch->count == 0 || remote_run(walk->view->pid, walk->batch);
}

static void walk_note_rest(struct walk *walk, const struct heap_chunk *chunk,
                           const struct heap_piece *piece, uint64_t granules) {
    uint64_t here = (uint64_t)piece->granules << walk->view->outline.granule_shift;
    walk->rest_base = chunk->base + walk->chunk_bytes;
    walk->rest_granules = granules - piece->granules;
    walk->rest_bytes = piece->bytes > here ? piece->bytes - here : 0;
    walk->rest_is_warm = piece->warm;
}

static void walk_slab(const struct walk *walk, const unsigned char *extent,
                      struct heap_piece *piece) {
    const struct outline_extent *at = &walk->view->outline.extent;
    uint64_t used = field_u32(extent, at->used),
             remote = field_u64(extent, at->remote) >> at->remote_count_shift;
    used -= used > 0 && (extent[at->flags] & at->flag_current) != 0;
    used -= remote < used ? remote : used;
    piece->slab = true;
    piece->class = extent[at->class];
    piece->capacity = field_u16(extent, at->capacity);
    piece->used = used < piece->capacity ? used : piece->capacity;
}

static struct heap_piece walk_extent(struct walk *walk, const struct heap_chunk *chunk,
                                     unsigned i) {
    const struct outline *outline = &walk->view->outline;
    const struct outline_extent *at = &outline->extent;
    const unsigned char *extent = walk->extents + (size_t)i * HEAP_EXTENT_BYTES;
    struct heap_piece piece = {
        .first = i, .granules = 1, .bytes = (uint64_t)1 << outline->granule_shift};
    uint64_t entry = walk->entries[i] & (((uint64_t)1 << outline->pagemap.tag_shift) - 1);
    uint64_t granules = field_u32(extent, at->granules);
    piece.warm = entry == 0 && (extent[at->flags] & at->flag_warm) != 0;
    bool known = entry == chunk->extents + (uint64_t)i * HEAP_EXTENT_BYTES || piece.warm;
    if (!known || granules == 0) /* on its way from one state to another */
        return piece;
    piece.granules = granules < walk->granules - i ? (unsigned)granules : walk->granules - i;
    if (!piece.warm && extent[at->class] != at->class_large) {
        walk_slab(walk, extent, &piece);
        return piece;
    }
    piece.bytes = field_u64(extent, at->usable);
    walk_note_rest(walk, chunk, &piece, granules);
    return piece;
}

static struct heap_piece walk_rest(struct walk *walk, const struct heap_chunk *chunk) {
    struct heap_piece piece = {
        .granules =
            walk->rest_granules < walk->granules ? (unsigned)walk->rest_granules : walk->granules,
        .bytes = walk->rest_bytes,
        .warm = walk->rest_is_warm,
    };
    walk_note_rest(walk, chunk, &piece, walk->rest_granules);
    return piece;
}

static bool walk_pieces(struct walk *walk, const struct heap_chunk *chunk) {
    if (chunk->used == 0)
        return true;
    if (!walk_read_extents(walk, chunk))
        return false;
    for (unsigned i = 0; i < walk->granules;) {
        struct heap_piece piece;
        if (i == 0 && walk->rest_granules > 0 && walk->rest_base == chunk->base) {
            piece = walk_rest(walk, chunk);
        } else if ((chunk->used >> i & 1) != 0) {
            piece = walk_extent(walk, chunk, i);
        } else {
            i++;
            continue;
        }
        walk->visitor->piece(chunk, &piece, walk->visitor->context);
        i += piece.granules;
    }
    return true;
}

/* --- sections --- */

/* False, with errno, when the walk is to end. */
static bool walk_section(struct walk *walk, uint64_t index, const uint64_t *chunks) {
    uint32_t count = walk->view->space.chunk_count;
    for (uint32_t i = 0; i < count; i++) {
        struct heap_chunk chunk;
        uint64_t base = (index * count + i) << walk->view->outline.chunk_shift;
        if (chunks[i] == 0)
            continue;
        if (!walk_read_chunk(walk, chunks[i], base, &chunk)) {
            if (errno != 0)
                return false;
            continue;
        }
        errno = 0;
        if (walk->visitor->chunk != NULL && !walk->visitor->chunk(&chunk, walk->visitor->context))
            return false;
        if (walk->visitor->piece != NULL && !walk_pieces(walk, &chunk))
            return false;
    }
    return true;
}

/* Calls `take` with each section's index and chunks. */
static bool walk_sections(const struct heap_view *view,
                          bool (*take)(void *context, uint64_t index, const uint64_t *chunks),
                          void *context) {
    const struct outline_space *at = &view->space;
    size_t bytes = (size_t)at->chunk_count * sizeof(uint64_t);
    uint64_t *chunks = malloc(bytes), section = 0;
    bool ok = chunks != NULL && remote_u64(view->pid, remote_address(at->sections), &section);
    for (unsigned i = 0; ok && section != 0 && i < WALK_SECTIONS_MAX; i++) {
        uint64_t index;
        ok = remote_u64(view->pid, section + at->index, &index) &&
             remote_read(view->pid, section + at->chunks, chunks, bytes) &&
             take(context, index, chunks) && remote_u64(view->pid, section + at->next, &section);
    }
    free(chunks);
    return ok;
}

static bool walk_take_section(void *context, uint64_t index, const uint64_t *chunks) {
    return walk_section(context, index, chunks);
}

bool heap_walk(const struct heap_view *view, const struct heap_visitor *visitor) {
    const struct outline *outline = &view->outline;
    if (outline->chunk.bytes > WALK_CHUNK_BYTES || outline->extent.bytes != HEAP_EXTENT_BYTES) {
        errno = EPROTO;
        return false;
    }
    struct walk *walk = calloc(1, sizeof *walk);
    if (walk == NULL)
        return false;
    walk->view = view;
    walk->visitor = visitor;
    walk->granules = 1U << (outline->chunk_shift - outline->granule_shift);
    walk->chunk_bytes = (uint64_t)1 << outline->chunk_shift;
    walk->batch = calloc(1, sizeof *walk->batch);
    bool ok = walk->batch != NULL && walk_sections(view, walk_take_section, walk);
    free(walk->batch);
    free(walk);
    return ok;
}

/* --- records --- */

struct walk_leaves {
    const struct heap_view *view;
    void (*visit)(uint64_t base, uint64_t bytes, void *context);
    void *context;
    uint64_t last; /* the number of the leaf visited last, plus one */
};

/* The leaf of each section that has one: the root's other entries are not looked at, most of its pages being untouched. */
static bool walk_leaf(void *context, uint64_t index, const uint64_t *chunks) {
    struct walk_leaves *leaves = context;
    const struct outline *outline = &leaves->view->outline;
    uint64_t first = index * leaves->view->space.chunk_count << outline->chunk_shift;
    uint64_t number = first >> outline->pagemap.leaf_shift, leaf;
    (void)chunks;
    if (number + 1 == leaves->last)
        return true;
    leaves->last = number + 1;
    if (!remote_u64(leaves->view->pid, remote_address(outline->pagemap.root) + number * sizeof leaf,
                    &leaf))
        return false;
    if (leaf != 0)
        leaves->visit(leaf, outline->pagemap.leaf_bytes, leaves->context);
    return true;
}

bool heap_visit_metadata(const struct heap_view *view,
                         void (*visit)(uint64_t base, uint64_t bytes, void *context),
                         void *context) {
    const struct outline_metadata *at = &view->metadata;
    struct walk_leaves leaves = {.view = view, .visit = visit, .context = context};
    uint64_t range = 0;
    bool ok = remote_u64(view->pid, remote_address(at->ranges), &range);
    for (unsigned i = 0; ok && range != 0 && i < WALK_RANGES_MAX; i++) {
        uint64_t bytes;
        ok = remote_u64(view->pid, range + at->bytes, &bytes);
        if (ok)
            visit(range, bytes, context);
        ok = ok && remote_u64(view->pid, range + at->next, &range);
    }
    return ok && walk_sections(view, walk_leaf, &leaves);
}
