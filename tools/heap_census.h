/* Why the resident set of another process is as large as it is: what fallow_rss_why() finds from inside. */
#pragma once

#include "heap_view.h"

struct heap_census {
    /* bytes, resident: their sum is `kernel` but for what changed meanwhile */
    uint64_t live, rounding, slab_free, dirty, lazy, inflation, metadata, others;
    uint64_t kernel;     /* Rss, by the same smaps as `others` */
    uint64_t lazy_taken; /* not resident: lazy memory that was taken, or never touched */
};

/* A status, with a message if it is not TOOL_OK. */
int heap_census_take(const struct heap_view *view, struct heap_census *out);

uint64_t heap_census_sum(const struct heap_census *census);
