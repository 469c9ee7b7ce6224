/* The heap of another process, by its outline (src/conf/outline.h). */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "classes.h"
#include "outline.h"
#include "tool_process.h"

struct heap_view {
    pid_t pid;
    char path[PROCESS_PATH_BYTES]; /* of the file in which the outline was found */
    struct outline outline;
    struct outline_arenas arenas;
    struct outline_space space;
    struct outline_metadata metadata;
    struct outline_heaps heaps;
    struct outline_counters counters;
    struct outline_options options;
};

/* A status, with a message if it is not TOOL_OK. */
int heap_view_open(pid_t pid, struct heap_view *out);

/* What a failed read of its memory means: a message, and the status. errno says why. */
int heap_view_error(const struct heap_view *view);

/* The sums, mapped = active + dirty + lazy + busy + clean + metadata, as fallow_stats() gives them inside. */
struct heap_sums {
    uint64_t mapped, active, dirty, lazy, busy, clean, metadata;
    uint64_t arenas;
    uint64_t reads;  /* until one was of a single moment, */
    bool one_moment; /* or none was, and the terms are from moments close to each other */
};

bool heap_sums_read(const struct heap_view *view, struct heap_sums *out);

/* Over the heaps of all threads. */
struct heap_threads {
    uint64_t heaps;               /* those of threads that have ended included */
    uint64_t warm_bytes;          /* large blocks kept for reuse */
    uint64_t cached[CLASS_COUNT]; /* objects in caches, by class */
};

bool heap_threads_read(const struct heap_view *view, struct heap_threads *out);
