/* A bump allocator over blocks of 256 KiB. Invariant: metadata_next <= metadata_end, both in the
   newest block; the rest of an older block is lost, at most one request's worth. The lock covers
   the two pointers; mapping a block happens under it too, which is no purge and no unmap. */
#include "metadata.h"

#include <stdatomic.h>

#include "compiler.h"
#include "os_map.h"
#include "os_memcheck.h"
#include "os_page.h"
#include "outline.h"

enum { METADATA_BLOCK_BYTES = 256 * 1024 };

static struct os_lock metadata_lock = OS_LOCK_INIT(metadata);
static char *metadata_next;
static char *metadata_end;
static _Atomic size_t metadata_mapped;

/* At the beginning of each range, which may grow while it is the newest. */
struct metadata_range {
    struct metadata_range *next;
    _Atomic size_t bytes; /* written under lock */
};

static _Atomic(struct metadata_range *) metadata_ranges; /* grows under lock */

const struct outline_metadata metadata_outline = {
    .ranges = &metadata_ranges,
    .mapped_bytes = &metadata_mapped,
    .next = offsetof(struct metadata_range, next),
    .bytes = offsetof(struct metadata_range, bytes),
};

/* [fresh, fresh + bytes) is mapped: a range of its own, or the newest one's end. */
static void metadata_add_locked(char *fresh, size_t bytes) {
    struct metadata_range *newest = atomic_load_explicit(&metadata_ranges, memory_order_relaxed);
    if (newest != NULL && fresh == metadata_end) {
        atomic_fetch_add_explicit(&newest->bytes, bytes, memory_order_relaxed);
        return;
    }
    struct metadata_range *range = (struct metadata_range *)(void *)fresh;
    range->next = newest;
    atomic_store_explicit(&range->bytes, bytes, memory_order_relaxed);
    atomic_store_explicit(&metadata_ranges, range, memory_order_release);
    metadata_next = fresh + align_up(sizeof *range, CACHE_LINE);
}

void *metadata_alloc(size_t bytes) {
    void *result = NULL;
    bytes = align_up(bytes, CACHE_LINE);
    os_lock_acquire(&metadata_lock);
    if ((size_t)(metadata_end - metadata_next) < bytes) {
        size_t needed = bytes + align_up(sizeof(struct metadata_range), CACHE_LINE);
        size_t block = max_size(align_up(needed, os_page_size()), METADATA_BLOCK_BYTES);
        char *fresh = os_map(block, metadata_end);
        if (fresh == NULL && (block = align_up(needed, os_page_size())) < METADATA_BLOCK_BYTES)
            fresh = os_map(block, NULL);
        if (fresh != NULL) {
            metadata_account(block);
            os_memcheck_unroot(fresh, block);
            metadata_add_locked(fresh, block);
            metadata_end = fresh + block;
        }
    }
    if ((size_t)(metadata_end - metadata_next) >= bytes) {
        result = metadata_next;
        metadata_next += bytes;
    }
    os_lock_release(&metadata_lock);
    return result;
}

void metadata_visit(void (*visit)(void *base, size_t bytes, void *context), void *context) {
    struct metadata_range *range = atomic_load_explicit(&metadata_ranges, memory_order_acquire);
    for (; range != NULL; range = range->next)
        visit(range, atomic_load_explicit(&range->bytes, memory_order_relaxed), context);
}

bool metadata_find(const char *at, const char **end) {
    struct metadata_range *range = atomic_load_explicit(&metadata_ranges, memory_order_acquire);
    for (; range != NULL; range = range->next) {
        const char *base = (const char *)range;
        const char *stop = base + atomic_load_explicit(&range->bytes, memory_order_relaxed);
        if (at < base) {
            *end = base < *end ? base : *end;
        } else if (at < stop) {
            *end = stop < *end ? stop : *end;
            return true;
        }
    }
    return false;
}

void metadata_account(size_t bytes) {
    atomic_fetch_add_explicit(&metadata_mapped, bytes, memory_order_relaxed);
}

size_t metadata_mapped_bytes(void) {
    return atomic_load_explicit(&metadata_mapped, memory_order_relaxed);
}

void metadata_lock_for_fork(void) {
    os_lock_acquire(&metadata_lock);
}

void metadata_unlock_after_fork(bool child) {
    if (child)
        os_lock_reset(&metadata_lock);
    else
        os_lock_release(&metadata_lock);
}
