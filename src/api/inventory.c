#include "inventory.h"

#include "compiler.h"
#include "stats.h"
#include "thread.h"

void inventory_take(struct inventory *out) {
    size_t cached[CLASS_COUNT];
    *out = (struct inventory){0};
    stats_read(&out->stats);
    tally_take(&out->tally, NULL);
    thread_cached_objects(cached);
    for (unsigned c = 0; c < CLASS_COUNT; c++) {
        struct tally_class *class = &out->tally.classes[c];
        size_t n = min_size(cached[c], class->used);
        class->used -= n;
        out->cached_blocks += n;
        out->cached_bytes += n * class_bytes(c);
        out->small_bytes += class->used * class_bytes(c);
        out->slab_free_bytes += (class->objects - class->used - n) * class_bytes(c);
    }
}

size_t inventory_live_bytes(const struct inventory *inventory) {
    return inventory->small_bytes + inventory->tally.large_bytes + inventory->tally.huge_bytes;
}
