#ifndef PURGE_MEASURE_H
#define PURGE_MEASURE_H

#include "purge_advise.h"
#include "purge_interrupts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What one purge of all extents cost, and what came of it. Times are of all extents together.
struct purge_result {
    double warm_write_us; // one byte a page, all pages present
    double purge_us;
    double rewrite_us; // one byte a page, after the purge
    uint64_t calls;
    uint64_t rewrite_faults;
    uint64_t tlb_interrupts, call_interrupts; // of the whole machine, during the purge
    uint64_t huge_kib;                        // AnonHugePages before the purge
    uint64_t fallen_kib, lazy_kib;            // what Rss fell by, LazyFree, after it
};

// A mapping for the extents, on a boundary of 2 MiB; huge: the kernel is asked for huge pages, else
// told not to give any. Ends the program if there is no memory.
struct purge_extents purge_measure_map(size_t count, size_t extent_bytes, size_t stride_bytes,
                                       bool huge);

// Fills the whole mapping, what lies between the extents included, with fresh pages, then purges.
struct purge_result purge_measure(const struct purge_extents *extents, enum purge_calls calls,
                                  int advice);

#endif
