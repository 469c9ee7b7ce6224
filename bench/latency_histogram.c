#include "latency_histogram.h"

// 64 and more: the leading bit's place, and the five bits behind it.
static unsigned bucket_of(uint64_t ns) {
    if (ns < LATENCY_EXACT)
        return (unsigned)ns;
    unsigned top = 63 - (unsigned)__builtin_clzll(ns);
    return LATENCY_EXACT + (top - 6) * LATENCY_STEPS + (unsigned)(ns >> (top - 5)) - LATENCY_STEPS;
}

// The longest duration in a bucket.
static uint64_t bucket_end_ns(unsigned bucket) {
    if (bucket < LATENCY_EXACT)
        return bucket;
    unsigned step = (bucket - LATENCY_EXACT) % LATENCY_STEPS;
    unsigned top = (bucket - LATENCY_EXACT) / LATENCY_STEPS + 6;
    return ((uint64_t)(LATENCY_STEPS + step + 1) << (top - 5)) - 1;
}

void latency_histogram_add(struct latency_histogram *histogram, uint64_t ns) {
    histogram->buckets[bucket_of(ns)]++;
    histogram->count++;
    if (ns > histogram->worst_ns)
        histogram->worst_ns = ns;
}

uint64_t latency_histogram_at(const struct latency_histogram *histogram, double part) {
    uint64_t seen = 0, wanted = (uint64_t)((double)histogram->count * part);
    for (unsigned bucket = 0; bucket < LATENCY_BUCKETS; bucket++) {
        seen += histogram->buckets[bucket];
        if (seen > wanted || (seen == histogram->count && seen > 0)) {
            uint64_t end_ns = bucket_end_ns(bucket);
            return end_ns < histogram->worst_ns ? end_ns : histogram->worst_ns;
        }
    }
    return 0;
}
