/* From an address to its descriptor, the one way there is: two levels, one entry a granule.
   Every granule of a slab points to the slab's descriptor, the first granule of a large extent (or
   of a slab of one object) to that extent's, everything else is NULL: pointers that are not Fallow's, free memory, the
   inside of large blocks. So a large block freed twice is seen until its address is reused.

   An entry has a tag beside the pointer, a byte that means something to the layers above: so free() need
   not look into a descriptor to learn an object's class.

   The root lies in .bss and covers the whole user address space, 4 GiB an entry; a leaf is
   2 MiB of address space of which only touched pages cost memory. Leaves are never unmapped. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compiler.h"
#include "extent.h"
#include "geometry.h"

enum { PAGEMAP_LEAF_SHIFT = 32 };

#define PAGEMAP_ROOT_ENTRIES ((size_t)1 << (ADDRESS_BITS - PAGEMAP_LEAF_SHIFT))
#define PAGEMAP_LEAF_ENTRIES ((size_t)1 << (PAGEMAP_LEAF_SHIFT - GRANULE_SHIFT))
#define PAGEMAP_LEAF_BYTES   (PAGEMAP_LEAF_ENTRIES * sizeof(pagemap_entry))

typedef _Atomic uintptr_t pagemap_entry;

enum {
    PAGEMAP_TAG_SHIFT = 56,
    PAGEMAP_TAG_BYTE = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 7 : 0,
};

extern _Atomic(pagemap_entry *) pagemap_root[PAGEMAP_ROOT_ENTRIES];

/* The entry of `p`, or NULL. Any address may be asked for: bits above the 48th (a pointer tag on aarch64) are
   ignored. */
static always_inline pagemap_entry *pagemap_find(const void *p) {
    uintptr_t address = (uintptr_t)p;
    uint16_t top = (uint16_t)(address >> PAGEMAP_LEAF_SHIFT);
    pagemap_entry *leaf = atomic_load_explicit(&pagemap_root[top], memory_order_acquire);
    return likely(leaf != NULL) ? &leaf[(uint32_t)address >> GRANULE_SHIFT] : NULL;
}

static always_inline struct extent *pagemap_extent(uintptr_t entry) {
    return (struct extent *)(entry & (((uintptr_t)1 << PAGEMAP_TAG_SHIFT) - 1));
}

/* The descriptor of the extent that holds `p`, or NULL. */
static always_inline struct extent *pagemap_get(const void *p) {
    pagemap_entry *entry = pagemap_find(p);
    return entry != NULL ? pagemap_extent(atomic_load_explicit(entry, memory_order_acquire)) : NULL;
}

/* The tag of the extent that holds `p`, or 0: one byte of the entry. */
static always_inline size_t pagemap_tag(const void *p) {
    pagemap_entry *entry = pagemap_find(p);
    if (unlikely(entry == NULL))
        return 0;
    _Atomic uint8_t *bytes = (_Atomic uint8_t *)entry;
    return atomic_load_explicit(&bytes[PAGEMAP_TAG_BYTE], memory_order_acquire);
}

/* Makes entries for [base, base + bytes) possible. False when out of memory. */
bool pagemap_reserve(const void *base, size_t bytes);

/* Every leaf there is. */
void pagemap_visit(void (*visit)(void *base, size_t bytes, void *context), void *context);

/* Points the `granules` entries from `base` to `extent`, with a tag. Reserved before. */
void pagemap_set(const void *base, size_t granules, struct extent *extent, uint8_t tag);

/* Clears the entry of `p` and returns what it held: of two threads that free the same large
   block only one gets it. */
struct extent *pagemap_take(const void *p);
