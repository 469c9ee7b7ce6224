#ifndef LATENCY_HISTOGRAM_H
#define LATENCY_HISTOGRAM_H

// How often which duration came. Durations below 64 ns are kept exactly, longer ones to within one part
// in 32. Not for several threads at once.

#include <stdint.h>

enum {
    LATENCY_EXACT = 64,
    LATENCY_STEPS = 32,
    LATENCY_BUCKETS = LATENCY_EXACT + 58 * LATENCY_STEPS
};

struct latency_histogram {
    uint64_t count, worst_ns;
    uint64_t buckets[LATENCY_BUCKETS];
};

void latency_histogram_add(struct latency_histogram *histogram, uint64_t ns);

// The duration that this part of all, from 0 to 1, did not exceed; 0 where there is none.
uint64_t latency_histogram_at(const struct latency_histogram *histogram, double part);

#endif
