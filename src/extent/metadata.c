/* A bump allocator over blocks of 256 KiB. Invariant: metadata_next <= metadata_end, both in the
   newest block; the rest of an older block is lost, at most one request's worth. The lock covers
   the two pointers; mapping a block happens under it too, which is no purge and no unmap. */
#include "metadata.h"

#include <stdatomic.h>

#include "compiler.h"
#include "os_map.h"

enum { METADATA_BLOCK_BYTES = 256 * 1024 };

static struct os_lock metadata_lock = OS_LOCK_INIT(metadata);
static char *metadata_next;
static char *metadata_end;
static _Atomic size_t metadata_mapped;

void *metadata_alloc(size_t bytes) {
    void *result = NULL;
    bytes = align_up(bytes, CACHE_LINE);
    os_lock_acquire(&metadata_lock);
    if ((size_t)(metadata_end - metadata_next) < bytes) {
        size_t block = bytes > METADATA_BLOCK_BYTES ? bytes : METADATA_BLOCK_BYTES;
        char *fresh = os_map(block, metadata_end);
        if (fresh == NULL && (block = align_up(bytes, 4096)) < METADATA_BLOCK_BYTES)
            fresh = os_map(block, NULL);
        if (fresh != NULL) {
            metadata_account(block);
            if (fresh != metadata_end)
                metadata_next = fresh;
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
