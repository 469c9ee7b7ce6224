/* Start and end: what the library's constructor and destructor do, and the fork handlers. Calls of
   malloc may come before the constructor (from other constructors, IFUNC resolvers, the dynamic
   linker); they find default options and the shared heap. At a fork all locks are taken in the order
   of lock_ranks.def, so that the child finds every structure whole. */
#include <pthread.h>

#include "arena.h"
#include "cache_drain.h"
#include "checked.h"
#include "chunk.h"
#include "holes.h"
#include "inventory.h"
#include "metadata.h"
#include "options.h"
#include "orphans.h"
#include "os_env.h"
#include "purge_thread.h"
#include "report.h"
#include "space.h"
#include "thread.h"

static void init_lock_all(void) {
    report_lock_for_fork();
    inventory_lock_for_fork();
    thread_lock_for_fork();
    holes_lock_for_fork();
    orphans_lock_for_fork();
    arena_lock_for_fork();
    space_lock_for_fork();
    chunk_lock_for_fork();
    metadata_lock_for_fork();
    chunk_note_fork();
}

/* From the bottom up: what an arena does for the child it does with the space unlocked again. */
static void init_unlock_all(bool child) {
    metadata_unlock_after_fork(child);
    chunk_unlock_after_fork(child);
    space_unlock_after_fork(child);
    arena_unlock_after_fork(child);
    orphans_unlock_after_fork(child);
    holes_unlock_after_fork(child);
    thread_unlock_after_fork(child);
    cache_drain_after_fork(child);
    inventory_unlock_after_fork(child);
    report_unlock_after_fork(child);
}

static void init_fork_parent(void) {
    init_unlock_all(false);
}

static void init_fork_child(void) {
    os_memcheck_mute();
    init_unlock_all(true);
    os_memcheck_unmute();
    purge_thread_after_fork();
}

/* After whatever sets options by other names (preload/jemalloc.c). */
__attribute__((constructor(102))) static void init_library(void) {
    options_parse(os_env("FALLOW_CONF"));
    thread_start();
    pthread_atfork(init_lock_all, init_fork_parent, init_fork_child);
}

__attribute__((destructor(101))) static void init_finish(void) {
    if (options.stats_at_exit)
        report_print();
    checked_finish();
}
