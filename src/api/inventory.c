#include "inventory.h"

#include "arena.h"
#include "compiler.h"
#include "os_clock.h"
#include "os_lock.h"
#include "stats.h"
#include "thread.h"

enum {
    INVENTORY_REST = 20
}; /* a long walk is followed by so many times its duration without one */
static const uint64_t inventory_long_ns = 5000000;

static struct os_lock inventory_lock = OS_LOCK_INIT(inventory);
static struct {
    struct inventory all;
    struct tally arena;
    unsigned arena_number;
    bool has_arena;
    uint64_t epoch; /* 0: there is none yet */
    uint64_t rest_until_ns;
} snapshot; /* under the lock */

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

static void inventory_refresh_locked(void) {
    uint64_t start_ns = os_clock_fine_ns();
    if (snapshot.epoch != 0 && start_ns < snapshot.rest_until_ns)
        return;
    inventory_take(&snapshot.all);
    snapshot.epoch++;
    snapshot.has_arena = false;
    uint64_t end_ns = os_clock_fine_ns(), took_ns = end_ns - start_ns;
    snapshot.rest_until_ns = took_ns > inventory_long_ns ? end_ns + took_ns * INVENTORY_REST : 0;
}

uint64_t inventory_refresh(void) {
    os_lock_acquire(&inventory_lock);
    inventory_refresh_locked();
    uint64_t epoch = snapshot.epoch;
    os_lock_release(&inventory_lock);
    return epoch;
}

uint64_t inventory_last(struct inventory *out) {
    os_lock_acquire(&inventory_lock);
    if (snapshot.epoch == 0)
        inventory_refresh_locked();
    uint64_t epoch = snapshot.epoch;
    *out = snapshot.all;
    os_lock_release(&inventory_lock);
    return epoch;
}

void inventory_last_arena(unsigned number, struct tally *out) {
    os_lock_acquire(&inventory_lock);
    if (!snapshot.has_arena || snapshot.arena_number != number) {
        tally_take(&snapshot.arena, &arena_at(number)->domain);
        snapshot.arena_number = number;
        snapshot.has_arena = true;
    }
    *out = snapshot.arena;
    os_lock_release(&inventory_lock);
}

void inventory_lock_for_fork(void) {
    os_lock_acquire(&inventory_lock);
}

void inventory_unlock_after_fork(bool child) {
    if (child)
        os_lock_reset(&inventory_lock);
    else
        os_lock_release(&inventory_lock);
}
