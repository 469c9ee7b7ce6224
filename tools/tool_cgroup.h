/* The memory cgroup of a process, version 1 or 2, as its own files describe it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { CGROUP_FOLDER_BYTES = 4096 };

struct cgroup_memory {
    char folder[CGROUP_FOLDER_BYTES];
    unsigned version;
    uint64_t usage; /* charged: all its processes, and files */
    uint64_t limit; /* the least of its own and those above it; 0: none */
    uint64_t high;  /* version 2: where the kernel begins to slow it down; 0: nowhere */
    uint64_t inactive_file, file; /* the list; and the page cache without shared memory */
    uint64_t lazy;                /* LazyFree of its processes, as far as they may be read */
    unsigned processes;
    bool lazy_is_whole; /* all of them were read */
    /* Anonymous memory that was lazily freed and has been written again since, but is counted in inactive_file
       still: as little as it can be by the figures above; 0 where they do not tell. */
    uint64_t relisted;
};

/* False if the process is in none that can be read. `with_lazy`: reads all its processes' smaps_rollup, too. */
bool cgroup_read(pid_t pid, bool with_lazy, struct cgroup_memory *out);
