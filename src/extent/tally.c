#include "tally.h"

#include "walk.h"

struct tally_walk {
    struct tally *out;
    const struct domain *domain;
};

static bool tally_wants(const struct tally_walk *walk, const struct chunk *copy) {
    return walk->domain == NULL || copy->domain == walk->domain;
}

static void tally_chunk(const struct chunk *copy, void *context) {
    const struct tally_walk *walk = context;
    if (!tally_wants(walk, copy))
        return;
    bits_t free = ~copy->used & bits_low(CHUNK_GRANULES);
    bits_t starts = free & ~(free << 1);
    for (; starts != 0; starts &= starts - 1)
        walk->out->free_runs++;
}

unsynchronised static void tally_slab(struct tally_class *class, const struct extent *slab) {
    size_t used = slab->used - ((extent_flags(slab) & EXTENT_CURRENT) != 0);
    used -= min_size(extent_remote_count(slab), used);
    used = min_size(used, slab->capacity);
    class->slabs++;
    class->full_slabs += used == slab->capacity;
    class->objects += slab->capacity;
    class->used += used;
}

unsynchronised static void tally_piece(const struct chunk *copy, const struct walk_piece *piece,
                                       void *context) {
    const struct tally_walk *walk = context;
    if (!tally_wants(walk, copy) || !piece->begins || piece->warm)
        return;
    if (piece->slab != NULL) {
        unsigned class = piece->slab->class;
        if (class < CLASS_COUNT)
            tally_slab(&walk->out->classes[class], piece->slab);
    } else if (piece->bytes > CHUNK_BYTES) {
        if (walk->domain == NULL) {
            walk->out->huge_blocks++;
            walk->out->huge_bytes += piece->bytes;
        }
    } else {
        walk->out->large_blocks++;
        walk->out->large_bytes += piece->bytes;
    }
}

void tally_take(struct tally *out, const struct domain *domain) {
    struct tally_walk walk = {.out = out, .domain = domain};
    *out = (struct tally){0};
    walk_chunks(&(struct walk_visitor){tally_chunk, tally_piece, &walk});
}
