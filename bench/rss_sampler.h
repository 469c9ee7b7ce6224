#ifndef RSS_SAMPLER_H
#define RSS_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rss_moment {
    RSS_MOMENT_START, // the set-up is done, the timed window not yet open
    RSS_MOMENT_LOAD,  // under load, by the clock
    RSS_MOMENT_IDLE,  // between loads: just before the next one
    RSS_MOMENT_END,   // the window is closed, what threads hold is still held
};

struct rss_sample {
    int64_t at_ns; // since the window opened; 0 before
    uint64_t rss_kib;
    uint64_t lazy_kib; // LazyFree: part of rss_kib that the kernel may take
    enum rss_moment moment;
};

struct rss_figures {
    uint64_t peak_kib;
    double mean_kib;
};

struct rss_summary {
    size_t samples;            // how many these figures are made of
    struct rss_figures rss;    // what the kernel counts
    struct rss_figures lazy;   // LazyFree
    struct rss_figures honest; // Rss - LazyFree, sample by sample
};

// The least distance of two samples by the clock: a sample walks the page tables under mmap_lock,
// at about 13 ms a GiB.
enum { RSS_SAMPLER_PERIOD_MIN_MS = 500 };

// Opens smaps_rollup. False where the kernel has none (before 4.14): then there are no samples.
bool rss_sampler_open(void);

// Starts the thread that samples each period_ms from now until rss_sampler_stop. Period 0: no such
// thread.
void rss_sampler_start(unsigned period_ms);
void rss_sampler_stop(void);

// Takes one sample in the calling thread. START, IDLE and END are taken so.
void rss_sampler_take(enum rss_moment moment);

// From now on at_ns counts from here, and the thread's samples are LOAD; while paused it takes
// none.
void rss_sampler_window_opens(void);
void rss_sampler_pause(bool paused);

// Peaks over all samples of the given moment, means likewise. No samples: all zero.
struct rss_summary rss_sampler_summary(enum rss_moment moment);

// The samples kept so far, in order of time. Those past the capacity are in the summaries only.
size_t rss_sampler_samples(const struct rss_sample **samples);

// CPU time that sampling cost inside the window.
uint64_t rss_sampler_cost_ns(void);

#endif
