#ifndef WHICH_MALLOC_H
#define WHICH_MALLOC_H

#include <limits.h>

struct which_malloc {
    char name[64];       // "glibc 2.36", "jemalloc", ...: for people
    char path[PATH_MAX]; // the object that malloc's code lies in: for checks
};

// Finds whose malloc this process calls, by the mapping that malloc's code lies in. That is the
// truth whether it was preloaded, linked or linked statically. Allocates nothing.
void which_malloc_find(struct which_malloc *which);

#endif
