#include "ctl_stats.h"

#include "arena.h"
#include "ctl_call.h"

static void ctl_stats_of_all(struct ctl_stats *out) {
    out->tally = out->all.tally;
    out->active_bytes = out->all.stats.active_bytes;
    out->dirty_bytes = out->all.stats.dirty_bytes + out->all.stats.busy_bytes;
    out->lazy_bytes = out->all.stats.lazy_bytes;
    out->clean_bytes = out->all.stats.clean_bytes;
}

static void ctl_stats_of_arena(struct ctl_stats *out, unsigned number) {
    if (number >= arena_count()) { /* not made yet */
        out->tally = (struct tally){0};
        out->active_bytes = out->dirty_bytes = out->lazy_bytes = out->clean_bytes = 0;
        return;
    }
    inventory_last_arena(number, &out->tally);
    if (number == 0) {
        out->tally.huge_blocks = out->all.tally.huge_blocks;
        out->tally.huge_bytes = out->all.tally.huge_bytes;
    }
    struct domain *domain = &arena_at(number)->domain;
    os_lock_acquire(&domain->lock);
    out->active_bytes = bytes_of_granules(domain->used);
    out->dirty_bytes = bytes_of_granules(domain->dirty + domain->busy);
    out->lazy_bytes = bytes_of_granules(domain->lazy);
    out->clean_bytes =
        (domain->chunks << CHUNK_SHIFT) - out->active_bytes - out->dirty_bytes - out->lazy_bytes;
    os_lock_release(&domain->lock);
}

void ctl_stats_read(struct ctl_stats *out, size_t arena) {
    (void)inventory_last(&out->all);
    if (arena == CTL_ARENAS_ALL)
        ctl_stats_of_all(out);
    else
        ctl_stats_of_arena(out, (unsigned)arena);
    out->small_bytes = 0;
    for (unsigned c = 0; c < CLASS_COUNT; c++)
        out->small_bytes += out->tally.classes[c].used * class_bytes(c);
}
