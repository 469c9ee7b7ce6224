/* The rows of ctl_rows.def that do something, or are more than one number. */
#pragma once

#include "ctl_call.h"

int ctl_epoch(const struct ctl_call *call);
int ctl_background_thread(const struct ctl_call *call);
int ctl_background_threads(const struct ctl_call *call);
int ctl_tcache_enabled(const struct ctl_call *call);
int ctl_tcache_flush(const struct ctl_call *call);
int ctl_tcache_create(const struct ctl_call *call);
int ctl_tcache_use(const struct ctl_call *call);
int ctl_arena_purge(const struct ctl_call *call);
int ctl_arena_decay(const struct ctl_call *call);
int ctl_dirty_purged(const struct ctl_call *call);
int ctl_muzzy_purged(const struct ctl_call *call);

/* The constant that clients take for the number of arenas: as many as there may be when it is first asked for. */
unsigned ctl_arena_count(void);

/* The arena that the calling thread takes memory from; 0 if it has none of its own. */
int ctl_thread_arena(const struct ctl_call *call);

/* opt.thp, a const char *. */
uintptr_t ctl_thp(void);
