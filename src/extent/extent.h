/* The descriptor of one extent: a slab of small objects, or one large block. One cache line,
   outside user memory, in the descriptor array of the extent's first chunk.

   Ownership of a slab is the word `remote`: REMOTE_OWNED set means that some heap owns it, the
   rest is the list of objects that other threads freed, and their number. A slab without owner is either full, or
   listed among the orphans (REMOTE_LISTED); its list is empty, and whoever next frees one of its
   objects becomes its owner by one compare-and-swap. Only the owner touches the fields of the first
   group. `owner` repeats the ownership for the fast path of free(): a thread finds its
   own heap there only if it stored it there itself, or a sweep that had taken the slab from it.

   While a slab is owned:  used = objects live or in `remote` + (1 if it is a bin's current slab)
                           used + length(free) + (capacity - fresh) + objects in holes (holes.h)
                                                     = capacity (+1 if current)  */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compiler.h"
#include "list.h"

struct chunk;
struct heap;

enum { EXTENT_LARGE = 0xff }; /* `class` of an extent that is no slab */

/* flags */
enum {
    EXTENT_ZERO = 1,    /* slab: objects never handed out read as zero */
    EXTENT_CURRENT = 2, /* slab: is a bin's current slab, carries the extra `used` */
    EXTENT_WARM = 4,    /* large block: freed, and kept in a heap for its next request */
    EXTENT_PARTIAL = 8, /* slab: in a list of its heap's, where holes.h may take it from */
};

/* remote: two flags, the address of the first object, and above it how many there are */
enum { REMOTE_OWNED = 1, REMOTE_LISTED = 2, REMOTE_COUNT_SHIFT = 48 };
#define REMOTE_ADDRESS ((((uintptr_t)1 << REMOTE_COUNT_SHIFT) - 1) & ~(uintptr_t)3)

/* `owner` of slabs that no heap owns, and of large extents: no heap's address, and not NULL, which
   is what a thread without a heap has for its own. */
#define EXTENT_NO_OWNER ((struct heap *)1)

/* `owner` of an empty slab that waits in its heap: whatever is freed there was free already. */
#define EXTENT_PARKED ((struct heap *)2)

/* `owner` of a slab while its holes are made (holes.h). It is still the heap's in whose list it is. */
#define EXTENT_SWEPT ((struct heap *)3)

struct extent {
    /* owner only */
    void *free;
    _Atomic(struct heap *) owner;
    uint32_t used;
    uint16_t fresh;        /* objects below this index were handed out at least once */
    _Atomic uint8_t flags; /* written by the owner only, so by stores; others see EXTENT_PARTIAL */
    uint8_t idle_epochs;   /* heap epochs at whose end it was seen empty or warm */
    union {
        struct list_node node; /* slab: bin's partial list, or the orphans' list */
        size_t bytes;          /* large: usable bytes, constant but for resizing by the holder */
    };

    /* constant while the extent lives */
    struct chunk *chunk;
    uint32_t granules; /* over all chunks of a huge extent */
    uint16_t capacity;
    uint8_t class;
    uint8_t first; /* granule index in the chunk */

    /* any thread */
    _Atomic uintptr_t remote;
};

_Static_assert(sizeof(struct extent) == CACHE_LINE, "a descriptor is one cache line");

/* Objects that other threads freed, of a slab's `used`. By anyone. */
static inline size_t extent_remote_count(const struct extent *extent) {
    return atomic_load_explicit(&extent->remote, memory_order_relaxed) >> REMOTE_COUNT_SHIFT;
}

static inline unsigned extent_flags(const struct extent *extent) {
    return atomic_load_explicit(&extent->flags, memory_order_relaxed);
}

static inline void extent_set_flags(struct extent *extent, unsigned flags) {
    atomic_store_explicit(&extent->flags, (uint8_t)flags, memory_order_release);
}

static inline bool extent_is_slab(const struct extent *extent) {
    return extent->class != EXTENT_LARGE;
}
