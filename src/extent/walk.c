/* What is read of slabs and blocks is their owners', unsynchronised: a number that is a little old, never a pointer
   that is followed. */
#include "walk.h"

#include "domain.h"
#include "pagemap.h"
#include "space.h"

struct walk {
    const struct walk_visitor *visitor;
    /* the rest of a block that goes on in the next chunk */
    char *rest_base;
    size_t rest_granules, rest_bytes;
    bool rest_is_warm;
};

/* A chunk's sets, at one moment if some domain has it. */
unsynchronised static struct chunk walk_copy(struct chunk *chunk) {
    struct domain *domain = chunk->domain;
    struct chunk copy;
    if (domain != NULL)
        os_lock_acquire(&domain->lock);
    copy.used = chunk->used;
    copy.dirty = chunk->dirty;
    copy.lazy = chunk->lazy;
    copy.busy = chunk->busy;
    copy.base = chunk->base;
    copy.extents = chunk->extents;
    copy.domain = domain;
    if (domain != NULL)
        os_lock_release(&domain->lock);
    return copy;
}

/* Remembers what of a large block lies beyond the chunk. */
static void walk_note_rest(struct walk *walk, const struct chunk *copy,
                           const struct walk_piece *piece, size_t granules) {
    walk->rest_base = copy->base + CHUNK_BYTES;
    walk->rest_granules = granules - piece->granules;
    walk->rest_bytes = piece->bytes - min_size(piece->bytes, bytes_of_granules(piece->granules));
    walk->rest_is_warm = piece->warm;
}

/* The extent in use at granule `i`. */
unsynchronised static struct walk_piece walk_extent(struct walk *walk, const struct chunk *copy,
                                                    unsigned i) {
    struct walk_piece piece = {.first = i, .granules = 1, .begins = true};
    const struct extent *extent = pagemap_get(chunk_address(copy, i));
    if (extent == NULL && copy->extents != NULL &&
        (extent_flags(&copy->extents[i]) & EXTENT_WARM) != 0) {
        extent = &copy->extents[i];
        piece.warm = true;
    }
    size_t granules = extent != NULL ? __atomic_load_n(&extent->granules, __ATOMIC_RELAXED) : 0;
    if (granules == 0) { /* on its way from one state to another */
        piece.bytes = GRANULE_BYTES;
        return piece;
    }
    piece.granules = (unsigned)min_size(granules, CHUNK_GRANULES - i);
    if (!piece.warm && extent_is_slab(extent)) {
        piece.slab = extent;
        return piece;
    }
    piece.bytes = extent->bytes;
    walk_note_rest(walk, copy, &piece, granules);
    return piece;
}

/* The part in this chunk of a block that began before it. */
static struct walk_piece walk_rest(struct walk *walk, const struct chunk *copy) {
    struct walk_piece piece = {
        .granules = (unsigned)min_size(walk->rest_granules, CHUNK_GRANULES),
        .bytes = walk->rest_bytes,
        .warm = walk->rest_is_warm,
    };
    walk_note_rest(walk, copy, &piece, walk->rest_granules);
    return piece;
}

static void walk_pieces(struct walk *walk, const struct chunk *copy) {
    unsigned i = 0;
    while (i < CHUNK_GRANULES) {
        struct walk_piece piece;
        if (i == 0 && walk->rest_granules > 0 && walk->rest_base == copy->base) {
            piece = walk_rest(walk, copy);
        } else if ((copy->used >> i & 1) != 0) {
            piece = walk_extent(walk, copy, i);
        } else {
            i++;
            continue;
        }
        walk->visitor->piece(copy, &piece, walk->visitor->context);
        i += piece.granules;
    }
}

void walk_chunks(const struct walk_visitor *visitor) {
    struct walk walk = {.visitor = visitor};
    const char *base = NULL;
    while ((base = space_next(base)) != NULL) {
        struct chunk *chunk = space_chunk_at(base);
        if (chunk == NULL)
            continue;
        struct chunk copy = walk_copy(chunk);
        visitor->chunk(&copy, visitor->context);
        if (visitor->piece != NULL)
            walk_pieces(&walk, &copy);
    }
}
