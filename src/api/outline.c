/* The outline of this build, found by its magic. Never written, and read by nobody here. */
#include "outline.h"

#include <fallow/fallow.h>

#include "domain.h"
#include "pagemap.h"
#include "slab_shape.h"

#define OUTLINE_TEXT(major, minor)  OUTLINE_TEXT_(major, minor)
#define OUTLINE_TEXT_(major, minor) #major "." #minor

_Static_assert(sizeof(bits_t) == 16, "a set of granules");
_Static_assert(sizeof(struct os_lock) >= sizeof(uint32_t), "a lock begins with its word");

extern const struct outline outline;

__attribute__((__used__)) const struct outline outline = {
    .magic = OUTLINE_MAGIC,
    .self = &outline,
    .version = OUTLINE_VERSION,
    .bytes = sizeof outline,
    .library = OUTLINE_TEXT(FALLOW_VERSION_MAJOR, FALLOW_VERSION_MINOR),
    .granule_shift = GRANULE_SHIFT,
    .chunk_shift = CHUNK_SHIFT,
    .arenas = &arena_outline,
    .space = &space_outline,
    .metadata = &metadata_outline,
    .heaps = &thread_outline,
    .counters = &counters_outline,
    .options = &options_outline,
    .domain =
        {
            .bytes = sizeof(struct domain),
            .lock = offsetof(struct domain, lock.word),
            .changes = offsetof(struct domain, changes),
            .chunks = offsetof(struct domain, chunks),
            .used = offsetof(struct domain, used),
            .dirty = offsetof(struct domain, dirty),
            .lazy = offsetof(struct domain, lazy),
            .busy = offsetof(struct domain, busy),
        },
    .chunk =
        {
            .bytes = sizeof(struct chunk),
            .used = offsetof(struct chunk, used),
            .dirty = offsetof(struct chunk, dirty),
            .lazy = offsetof(struct chunk, lazy),
            .busy = offsetof(struct chunk, busy),
            .base = offsetof(struct chunk, base),
            .extents = offsetof(struct chunk, extents),
            .domain = offsetof(struct chunk, domain),
            .holes = offsetof(struct chunk, holes),
        },
    .extent =
        {
            .bytes = sizeof(struct extent),
            .used = offsetof(struct extent, used),
            .flags = offsetof(struct extent, flags),
            .usable = offsetof(struct extent, bytes),
            .granules = offsetof(struct extent, granules),
            .capacity = offsetof(struct extent, capacity),
            .class = offsetof(struct extent, class),
            .remote = offsetof(struct extent, remote),
            .flag_current = EXTENT_CURRENT,
            .flag_warm = EXTENT_WARM,
            .remote_count_shift = REMOTE_COUNT_SHIFT,
            .class_large = EXTENT_LARGE,
        },
    .pagemap =
        {
            .root = pagemap_root,
            .leaf_shift = PAGEMAP_LEAF_SHIFT,
            .tag_shift = PAGEMAP_TAG_SHIFT,
            .leaf_bytes = PAGEMAP_LEAF_BYTES,
        },
    .classes =
        {
            .shapes = slab_shapes,
            .count = CLASS_COUNT,
            .bytes = sizeof(struct slab_shape),
            .object_bytes = offsetof(struct slab_shape, object_bytes),
        },
};
