/* The page map's cold half: leaves are mapped on demand and published with a compare-and-swap;
   a loser unmaps its own. Entries of live memory are written by the thread that creates or frees
   the extent, before or after anybody else can hold a pointer into it. No locks. */
#include "pagemap.h"

#include "metadata.h"
#include "os_advise.h"
#include "os_map.h"
#include "os_memcheck.h"
#include "os_thread.h"

cache_aligned _Atomic(pagemap_entry *) pagemap_root[PAGEMAP_ROOT_ENTRIES];

static bool pagemap_add_leaf(size_t top) {
    size_t bytes = PAGEMAP_LEAF_BYTES;
    pagemap_entry *leaf = os_map(bytes, NULL);
    pagemap_entry *expected = NULL;
    if (leaf == NULL)
        return false;
    /* A few entries of it are used: one huge page would be 2 MiB for the first. */
    (void)!os_advise(leaf, bytes, OS_ADVISE_NOHUGEPAGE);
    os_memcheck_unroot(leaf, bytes);
    if (!atomic_compare_exchange_strong_explicit(&pagemap_root[top], &expected, leaf,
                                                 memory_order_release, memory_order_relaxed)) {
        os_unmap(leaf, bytes);
        return true;
    }
    metadata_account(bytes);
    return true;
}

bool pagemap_reserve(const void *base, size_t bytes) {
    uintptr_t first = (uintptr_t)base >> PAGEMAP_LEAF_SHIFT;
    uintptr_t last = ((uintptr_t)base + bytes - 1) >> PAGEMAP_LEAF_SHIFT;
    if (last >= PAGEMAP_ROOT_ENTRIES)
        return false;
    for (uintptr_t top = first; top <= last; top++)
        if (atomic_load_explicit(&pagemap_root[top], memory_order_acquire) == NULL &&
            !pagemap_add_leaf(top))
            return false;
    return true;
}

static pagemap_entry *pagemap_entry_of(const void *p) {
    uintptr_t address = (uintptr_t)p;
    pagemap_entry *leaf =
        atomic_load_explicit(&pagemap_root[address >> PAGEMAP_LEAF_SHIFT], memory_order_acquire);
    return &leaf[(uint32_t)address >> GRANULE_SHIFT];
}

void pagemap_set(const void *base, size_t granules, struct extent *extent, uint8_t tag) {
    /* A run of granules may cross from one leaf into the next only with a huge extent, of which
       one entry is set; all others lie in one chunk, so in one leaf. */
    pagemap_entry *entry = pagemap_entry_of(base);
    for (size_t i = 0; i < granules; i++)
        atomic_store_explicit(&entry[i], (uintptr_t)extent | (uintptr_t)tag << PAGEMAP_TAG_SHIFT,
                              memory_order_release);
}

struct extent *pagemap_take(const void *p) {
    pagemap_entry *entry = pagemap_entry_of(p);
    if (!os_thread_is_alone())
        return pagemap_extent(atomic_exchange_explicit(entry, 0, memory_order_acq_rel));
    struct extent *extent = pagemap_extent(atomic_load_explicit(entry, memory_order_relaxed));
    atomic_store_explicit(entry, 0, memory_order_relaxed);
    return extent;
}

void pagemap_visit(void (*visit)(void *base, size_t bytes, void *context), void *context) {
    for (size_t top = 0; top < PAGEMAP_ROOT_ENTRIES; top++) {
        pagemap_entry *leaf = atomic_load_explicit(&pagemap_root[top], memory_order_acquire);
        if (leaf != NULL)
            visit(leaf, PAGEMAP_LEAF_BYTES, context);
    }
}
