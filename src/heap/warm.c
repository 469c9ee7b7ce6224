/* The list of warm blocks. It is short, so it is searched and closed up by hand. */
#include "warm.h"

#include "chunk.h"
#include "os_assert.h"

void warm_init(struct warm *warm) {
    os_lock_init(&warm->lock, RANK_warm);
    warm->count = 0;
    warm->epoch_end_ns = 0;
    atomic_store_explicit(&warm->granules, 0, memory_order_relaxed);
}

static void warm_count_locked(struct warm *warm, size_t change) {
    size_t granules = atomic_load_explicit(&warm->granules, memory_order_relaxed);
    atomic_store_explicit(&warm->granules, granules + change, memory_order_relaxed);
}

static struct extent *warm_remove_locked(struct warm *warm, unsigned i) {
    struct extent *block = warm->blocks[i];
    warm->count--;
    for (; i < warm->count; i++)
        warm->blocks[i] = warm->blocks[i + 1];
    warm_count_locked(warm, -(size_t)block->granules);
    extent_set_flags(block, 0);
    return block;
}

struct extent *warm_take(struct warm *warm, size_t granules, size_t align) {
    struct extent *block = NULL;
    if (atomic_load_explicit(&warm->granules, memory_order_relaxed) < granules)
        return NULL;
    os_lock_acquire(&warm->lock);
    for (unsigned i = warm->count; i-- > 0;) {
        struct extent *candidate = warm->blocks[i];
        if (candidate->granules == granules &&
            is_aligned_address(chunk_extent_base(candidate), align)) {
            block = warm_remove_locked(warm, i);
            break;
        }
    }
    os_lock_release(&warm->lock);
    return block;
}

void warm_put(struct warm *warm, struct extent *block, struct warm_evicted *out) {
    size_t most = granules_of_bytes(WARM_BYTES_MAX);
    out->count = 0;
    if (block->granules > most) {
        out->blocks[out->count++] = block;
        return;
    }
    os_lock_acquire(&warm->lock);
    while (warm->count == WARM_BLOCKS_MAX ||
           atomic_load_explicit(&warm->granules, memory_order_relaxed) + block->granules > most)
        out->blocks[out->count++] = warm_remove_locked(warm, 0);
    block->idle_epochs = 0;
    extent_set_flags(block, EXTENT_WARM);
    warm->blocks[warm->count++] = block;
    warm_count_locked(warm, block->granules);
    os_lock_release(&warm->lock);
}

void warm_evict_all(struct warm *warm, struct warm_evicted *out) {
    out->count = 0;
    os_lock_acquire(&warm->lock);
    while (warm->count > 0)
        out->blocks[out->count++] = warm_remove_locked(warm, warm->count - 1);
    os_lock_release(&warm->lock);
}

void warm_evict_idle(struct warm *warm, uint64_t now_ns, uint64_t epoch_ns,
                     struct warm_evicted *out) {
    out->count = 0;
    if (atomic_load_explicit(&warm->granules, memory_order_relaxed) == 0 ||
        !os_lock_try(&warm->lock))
        return;
    if (now_ns >= warm->epoch_end_ns) {
        warm->epoch_end_ns = now_ns + epoch_ns;
        for (unsigned i = warm->count; i-- > 0;)
            if (++warm->blocks[i]->idle_epochs >= WARM_IDLE_EPOCHS)
                out->blocks[out->count++] = warm_remove_locked(warm, i);
    }
    os_lock_release(&warm->lock);
}
