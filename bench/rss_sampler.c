// Watches the process's own resident memory while it runs: Rss and LazyFree of
// /proc/self/smaps_rollup, the only accurate account that the kernel gives (Linux 4.14 for the
// file, 4.12 for the LazyFree line). It must not disturb what it watches, so it allocates nothing
// (static storage, plain read) and is slow on purpose: see RSS_SAMPLER_PERIOD_MIN_MS. One lock
// guards everything; it is held while a sample is taken, so samples are in order of time.

#include "rss_sampler.h"

#include "bench_clock.h"
#include "bench_fail.h"
#include "bench_rollup.h"

#include <pthread.h>
#include <string.h>

enum { SAMPLES_KEPT = 8192, MOMENTS = RSS_MOMENT_END + 1 };

struct sum {
    uint64_t peak_kib;
    uint64_t total_kib;
};

struct moment_sums {
    size_t samples;
    struct sum rss, lazy, honest;
};

static struct {
    int fd; // smaps_rollup, -1: none
    pthread_t thread;
    bool has_thread;
    unsigned period_ms;

    pthread_mutex_t lock;
    pthread_cond_t wake; // the thread sleeps on it
    bool stopping;
    bool paused;
    uint64_t window_ns; // the clock when the window opened, 0: not yet
    uint64_t cost_ns;
    struct moment_sums sums[MOMENTS];
    size_t kept;
    struct rss_sample samples[SAMPLES_KEPT];
} sampler = {.fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER};

bool rss_sampler_open(void) {
    bench_clock_condition(&sampler.wake);
    sampler.fd = bench_rollup_open();
    return sampler.fd >= 0;
}

static void sum_add(struct sum *sum, uint64_t kib) {
    sum->total_kib += kib;
    if (kib > sum->peak_kib)
        sum->peak_kib = kib;
}

static void take_locked(enum rss_moment moment) {
    uint64_t cpu_before_ns = bench_clock_thread_cpu_ns();
    struct bench_rollup rollup;
    if (!bench_rollup_read(sampler.fd, &rollup))
        return;

    struct rss_sample sample = {
        .at_ns = sampler.window_ns ? (int64_t)(bench_clock_ns() - sampler.window_ns) : 0,
        .rss_kib = rollup.rss_kib,
        .lazy_kib = rollup.lazy_kib,
        .moment = moment,
    };
    if (sampler.kept < SAMPLES_KEPT)
        sampler.samples[sampler.kept++] = sample;

    struct moment_sums *sums = &sampler.sums[moment];
    sums->samples++;
    sum_add(&sums->rss, sample.rss_kib);
    sum_add(&sums->lazy, sample.lazy_kib);
    sum_add(&sums->honest, sample.rss_kib - sample.lazy_kib);
    if (moment == RSS_MOMENT_LOAD || moment == RSS_MOMENT_IDLE)
        sampler.cost_ns += bench_clock_thread_cpu_ns() - cpu_before_ns;
}

static void *sampler_main(void *unused) {
    (void)unused;
    pthread_mutex_lock(&sampler.lock);
    uint64_t next_ns = bench_clock_ns();
    while (!sampler.stopping) {
        next_ns += (uint64_t)sampler.period_ms * 1000000;
        while (!sampler.stopping && bench_clock_wait_until(&sampler.wake, &sampler.lock, next_ns)) {
        }
        if (!sampler.stopping && !sampler.paused)
            take_locked(RSS_MOMENT_LOAD);
    }
    pthread_mutex_unlock(&sampler.lock);
    return NULL;
}

void rss_sampler_start(unsigned period_ms) {
    sampler.period_ms = period_ms;
    if (period_ms == 0 || sampler.fd < 0)
        return;
    int error = pthread_create(&sampler.thread, NULL, sampler_main, NULL);
    if (error != 0)
        bench_fail(BENCH_EXIT_FAILED, "cannot start the sampling thread: %s", strerror(error));
    sampler.has_thread = true;
}

void rss_sampler_stop(void) {
    pthread_mutex_lock(&sampler.lock);
    sampler.stopping = true;
    pthread_cond_signal(&sampler.wake);
    pthread_mutex_unlock(&sampler.lock);
    if (sampler.has_thread)
        pthread_join(sampler.thread, NULL);
}

void rss_sampler_take(enum rss_moment moment) {
    pthread_mutex_lock(&sampler.lock);
    take_locked(moment);
    pthread_mutex_unlock(&sampler.lock);
}

void rss_sampler_window_opens(void) {
    pthread_mutex_lock(&sampler.lock);
    sampler.window_ns = bench_clock_ns();
    pthread_mutex_unlock(&sampler.lock);
}

void rss_sampler_pause(bool paused) {
    pthread_mutex_lock(&sampler.lock);
    sampler.paused = paused;
    pthread_mutex_unlock(&sampler.lock);
}

static struct rss_figures figures(const struct sum *sum, size_t samples) {
    struct rss_figures figures = {
        .peak_kib = sum->peak_kib,
        .mean_kib = samples ? (double)sum->total_kib / (double)samples : 0,
    };
    return figures;
}

struct rss_summary rss_sampler_summary(enum rss_moment moment) {
    const struct moment_sums *sums = &sampler.sums[moment];
    struct rss_summary summary = {
        .samples = sums->samples,
        .rss = figures(&sums->rss, sums->samples),
        .lazy = figures(&sums->lazy, sums->samples),
        .honest = figures(&sums->honest, sums->samples),
    };
    return summary;
}

size_t rss_sampler_samples(const struct rss_sample **samples) {
    *samples = sampler.samples;
    return sampler.kept;
}

uint64_t rss_sampler_cost_ns(void) {
    return sampler.cost_ns;
}
