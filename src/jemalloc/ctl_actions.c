#include "ctl_actions.h"

#include <errno.h>

#include "alloc.h"
#include "arena.h"
#include "counters.h"
#include "inventory.h"
#include "options.h"
#include "os_clock.h"
#include "os_page.h"
#include "purge.h"
#include "space.h"
#include "thread.h"

int ctl_epoch(const struct ctl_call *call) {
    uint64_t written, epoch;
    struct inventory unused;
    bool wants;
    int error = ctl_written(call, &written, sizeof written, &wants);
    if (error != 0)
        return error;
    epoch = wants ? inventory_refresh() : inventory_last(&unused);
    return ctl_read(call, &epoch, sizeof epoch);
}

/* What is set already may be set. */
static int ctl_fixed_bool(const struct ctl_call *call, bool value) {
    bool written, wants;
    int error = ctl_written(call, &written, sizeof written, &wants);
    if (error != 0)
        return error;
    if (wants && written != value)
        return EPERM;
    return ctl_read(call, &value, sizeof value);
}

int ctl_background_thread(const struct ctl_call *call) {
    return ctl_fixed_bool(call, options.purge_thread != PURGE_THREAD_NEVER);
}

int ctl_tcache_enabled(const struct ctl_call *call) {
    return ctl_fixed_bool(call, true);
}

/* Neither read nor written. */
static int ctl_bare(const struct ctl_call *call) {
    return call->oldp != NULL || call->oldlenp != NULL || call->newp != NULL || call->newlen != 0
               ? EPERM
               : 0;
}

int ctl_tcache_flush(const struct ctl_call *call) {
    int error = ctl_bare(call);
    if (error == 0)
        alloc_flush();
    return error;
}

/* All caches that a thread makes are its own one. */
int ctl_tcache_create(const struct ctl_call *call) {
    unsigned number = 0;
    int error = ctl_read_only(call);
    return error != 0 ? error : ctl_read(call, &number, sizeof number);
}

int ctl_tcache_use(const struct ctl_call *call) {
    unsigned number;
    bool wants;
    if (call->oldp != NULL || call->oldlenp != NULL)
        return EPERM;
    int error = ctl_written(call, &number, sizeof number, &wants);
    if (error != 0)
        return error;
    if (!wants || number != 0)
        return EINVAL;
    alloc_flush();
    return 0;
}

int ctl_arena_purge(const struct ctl_call *call) {
    int error = ctl_bare(call);
    if (error == 0)
        (void)fallow_purge(FALLOW_PURGE_CLEAN);
    return error;
}

int ctl_arena_decay(const struct ctl_call *call) {
    int error = ctl_bare(call);
    if (error != 0)
        return error;
    uint64_t now_ns = os_clock_coarse_ns();
    for (unsigned i = 0; i < arena_count(); i++)
        purge_poll(&arena_at(i)->domain, now_ns);
    purge_poll(&space_domain, now_ns);
    return 0;
}

/* Counted for the process, not for each arena. */
static int ctl_purged(const struct ctl_call *call, uint64_t bytes) {
    if (call->at.arena != CTL_ARENAS_ALL)
        return ENOENT;
    uint64_t pages = bytes / os_page_size();
    int error = ctl_read_only(call);
    return error != 0 ? error : ctl_read(call, &pages, sizeof pages);
}

int ctl_dirty_purged(const struct ctl_call *call) {
    return ctl_purged(call, counters_read(COUNTER_lazy_advised_bytes));
}

int ctl_muzzy_purged(const struct ctl_call *call) {
    return ctl_purged(call, counters_read(COUNTER_clean_advised_bytes));
}

unsigned ctl_arena_count(void) {
    static _Atomic unsigned known;
    unsigned none = 0;
    if (atomic_load(&known) == 0) {
        unsigned limit = arena_limit();
        atomic_compare_exchange_strong(&known, &none,
                                       limit > arena_count() ? limit : arena_count());
    }
    return atomic_load(&known);
}

int ctl_thread_arena(const struct ctl_call *call) {
    const struct heap *heap = thread_self.heap;
    unsigned own = 0, written;
    bool wants;
    for (unsigned i = 0; heap != NULL && i < arena_count(); i++)
        if (arena_at(i) == heap->arena)
            own = i;
    int error = ctl_written(call, &written, sizeof written, &wants);
    if (error != 0)
        return error;
    return wants && written != own ? EPERM : ctl_read(call, &own, sizeof own);
}

int ctl_background_threads(const struct ctl_call *call) {
    size_t written, one = 1;
    bool wants;
    int error = ctl_written(call, &written, sizeof written, &wants);
    if (error != 0)
        return error;
    return wants && written != one ? EPERM : ctl_read(call, &one, sizeof one);
}

uintptr_t ctl_thp(void) {
    return (uintptr_t)(options.thp == THP_AUTO     ? "default"
                       : options.thp == THP_ALWAYS ? "always"
                                                   : "never");
}
