/* A tally: what blocks there are, from the descriptors alone. For reports: walks every chunk (walk.h). */
#pragma once

#include <stddef.h>

#include "classes.h"

struct domain;

struct tally {
    struct tally_class {
        size_t slabs;
        size_t full_slabs;
        size_t objects; /* they have room for so many */
        size_t used;    /* of them: not free in the slab; live, or in a thread's cache */
    } classes[CLASS_COUNT];
    size_t large_blocks, large_bytes; /* of at most a chunk; usable bytes */
    size_t huge_blocks, huge_bytes;   /* larger ones */
    size_t free_runs; /* of free granules, each as long as it can be within its chunk */
};

/* Those of a domain; of all, for NULL. Huge blocks, which no arena has, are counted for NULL only. */
void tally_take(struct tally *out, const struct domain *domain);
