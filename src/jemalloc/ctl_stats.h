/* The statistics that mallctl answers from: of one arena, or of all. */
#pragma once

#include "inventory.h"

struct ctl_stats {
    struct inventory all;
    /* of the arena, or of all; huge blocks count for the first one */
    struct tally tally;
    size_t small_bytes;
    size_t active_bytes, dirty_bytes, lazy_bytes, clean_bytes;
};

/* `arena`: CTL_ARENAS_ALL, or a number; zeroes for one that is not made yet. */
void ctl_stats_read(struct ctl_stats *out, size_t arena);
