/* Statistics and purging on request. `mapped` is counted where address space is mapped and unmapped,
   the other terms where granules change hands: that they agree says that nothing got lost, and is
   checked in debug builds. */
#include "stats.h"

#include <errno.h>

#include "alloc.h"
#include "arena.h"
#include "cache_drain.h"
#include "census.h"
#include "counters.h"
#include "holes.h"
#include "metadata.h"
#include "os_assert.h"
#include "os_cgroup.h"
#include "os_clock.h"
#include "os_memcheck.h"
#include "os_smaps.h"
#include "purge.h"
#include "space.h"
#include "thread.h"

#define PUBLIC __attribute__((__visibility__("default")))

static void stats_add(struct fallow_stats *stats, struct domain *domain) {
    size_t all = domain->chunks * CHUNK_GRANULES;
    domain_check_locked(domain);
    stats->active_bytes += bytes_of_granules(domain->used);
    stats->dirty_bytes += bytes_of_granules(domain->dirty);
    stats->lazy_bytes += bytes_of_granules(domain->lazy);
    stats->busy_bytes += bytes_of_granules(domain->busy);
    stats->clean_bytes +=
        bytes_of_granules(all - domain->used - domain->dirty - domain->lazy - domain->busy);
}

void stats_read(struct fallow_stats *out) {
    struct fallow_stats stats = {0};
    struct heap *heap = thread_enter(); /* it may be the first call of all */
    if (heap != NULL)
        thread_leave(heap);
    thread_lock_list();
    arena_lock_for_fork();
    space_lock_for_fork();
    stats.arenas = arena_count();
    for (unsigned i = 0; i < arena_count(); i++)
        stats_add(&stats, &arena_at(i)->domain);
    stats_add(&stats, &space_domain);
    stats.active_bytes += atomic_load(&space_held_chunks) << CHUNK_SHIFT;
    stats.metadata_bytes = metadata_mapped_bytes();
    stats.mapped_bytes = (atomic_load(&space_mapped_chunks) << CHUNK_SHIFT) + stats.metadata_bytes;
    size_t warm_bytes = thread_warm_bytes_locked();
    stats.active_bytes -= warm_bytes;
    stats.dirty_bytes += warm_bytes;
    space_unlock_after_fork(false);
    arena_unlock_after_fork(false);
    thread_unlock_list();
    fallow_assert(stats.mapped_bytes == stats.active_bytes + stats.dirty_bytes + stats.lazy_bytes +
                                            stats.busy_bytes + stats.clean_bytes +
                                            stats.metadata_bytes);
    *out = stats;
}

PUBLIC void fallow_stats(struct fallow_stats *out) {
    stats_read(out);
}

PUBLIC bool fallow_rss(struct fallow_rss *out) {
    struct os_smaps smaps;
    if (!os_smaps_read(&smaps)) {
        errno = ENOENT;
        return false;
    }
    out->kernel_bytes = smaps.rss_bytes;
    out->lazy_bytes = smaps.lazyfree_bytes;
    out->honest_bytes = smaps.rss_bytes - smaps.lazyfree_bytes;
    (void)census_lazy_taken(&out->lazy_taken_bytes);
    out->cgroup_bytes = os_cgroup_memory_bytes();
    return true;
}

/* Pages without objects in slabs that are in use. */
static size_t stats_sweep(bool clean) {
    PURGE_BATCH_ON_STACK(batch);
    return holes_sweep_all(&batch, thread_self.heap, os_clock_coarse_ns(), clean);
}

PUBLIC size_t fallow_purge(enum fallow_purge_level level) {
    alloc_flush();
    cache_drain_all();
    thread_flush_warm();
    size_t bytes = purge_all(level == FALLOW_PURGE_CLEAN);
    os_memcheck_mute();
    bytes += stats_sweep(level == FALLOW_PURGE_CLEAN);
    os_memcheck_unmute();
    return bytes;
}
