// The load: worker threads that make records (see ebizzy_record.h) while the caller's thread opens
// the timed window, alternates its phases and closes it. `state` is the only thing that workers
// read between two records; it changes under `lock`, with a broadcast of `changed`, so that threads
// which wait see it too. A window closes when the last worker has finished its last record: every
// record counted lies inside it.

#include "ebizzy_load.h"

#include "bench_clock.h"
#include "bench_fail.h"
#include "ebizzy_memory.h"
#include "ebizzy_record.h"
#include "rss_sampler.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>

enum state {
    STATE_WAIT, // before the window, and in an idle phase
    STATE_LOAD,
    STATE_STOP,    // the window closes: no further record
    STATE_RELEASE, // it is closed and measured: let go of what is held
};

static struct {
    const struct ebizzy_options *options; // constant during the run
    const struct ebizzy_chunks *chunks;

    _Atomic enum state state; // relaxed: it orders nothing, the lock does where order matters
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned ready;    // workers that wait for the window; under lock
    unsigned finished; // workers that have made their last record; under lock
} load = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct worker {
    _Alignas(128) pthread_t thread;
    struct ebizzy_record_maker maker; // its own until `finished` counts it
    uint64_t records;
};

static enum state state_now(void) {
    return atomic_load_explicit(&load.state, memory_order_relaxed);
}

static void state_set_locked(enum state state) {
    atomic_store_explicit(&load.state, state, memory_order_relaxed);
    pthread_cond_broadcast(&load.changed);
}

static void wait_while(enum state state) {
    pthread_mutex_lock(&load.lock);
    while (state_now() == state)
        pthread_cond_wait(&load.changed, &load.lock);
    pthread_mutex_unlock(&load.lock);
}

static void count_one(unsigned *counter) {
    pthread_mutex_lock(&load.lock);
    (*counter)++;
    pthread_cond_broadcast(&load.changed);
    pthread_mutex_unlock(&load.lock);
}

static void make_records(struct worker *worker) {
    uint64_t goal = load.options->records ? load.options->records : UINT64_MAX;
    while (worker->records < goal) {
        enum state state = state_now();
        if (state == STATE_LOAD) {
            ebizzy_record_make(&worker->maker);
            worker->records++;
        } else if (state == STATE_WAIT) {
            wait_while(STATE_WAIT);
        } else {
            return;
        }
    }
}

static void *worker_main(void *argument) {
    struct worker *worker = argument;
    count_one(&load.ready);
    wait_while(STATE_WAIT);
    make_records(worker);
    count_one(&load.finished);

    pthread_mutex_lock(&load.lock);
    while (state_now() != STATE_RELEASE)
        pthread_cond_wait(&load.changed, &load.lock);
    pthread_mutex_unlock(&load.lock);
    ebizzy_record_maker_end(&worker->maker);
    return NULL;
}

static void start_workers(struct worker *workers) {
    for (unsigned i = 0; i < load.options->threads; i++) {
        ebizzy_record_maker_begin(&workers[i].maker, load.options, load.chunks, i);
        int error = pthread_create(&workers[i].thread, NULL, worker_main, &workers[i]);
        if (error != 0)
            bench_fail(BENCH_EXIT_FAILED, "cannot start thread %u: %s", i + 1, strerror(error));
    }
    pthread_mutex_lock(&load.lock);
    while (load.ready < load.options->threads)
        pthread_cond_wait(&load.changed, &load.lock);
    pthread_mutex_unlock(&load.lock);
}

// Sleeps until the time or until every worker has finished; true if they have.
static bool finished_by_locked(uint64_t until_ns) {
    while (load.finished < load.options->threads)
        if (!bench_clock_wait_until(&load.changed, &load.lock, until_ns))
            return load.finished == load.options->threads;
    return true;
}

// One idle phase, seen from the outside. Returns how long it was.
static uint64_t idle_until(uint64_t until_ns) {
    uint64_t start_ns = bench_clock_ns();
    rss_sampler_pause(true);
    pthread_mutex_lock(&load.lock);
    state_set_locked(STATE_WAIT);
    while (bench_clock_wait_until(&load.changed, &load.lock, until_ns)) {}
    pthread_mutex_unlock(&load.lock);
    rss_sampler_take(RSS_MOMENT_IDLE);
    rss_sampler_pause(false);
    return bench_clock_ns() - start_ns;
}

static uint64_t earlier(uint64_t a_ns, uint64_t b_ns) {
    return a_ns < b_ns ? a_ns : b_ns;
}

// From the start signal until no worker makes records any more. Returns the time spent in idle
// phases.
static uint64_t drive_window(uint64_t start_ns) {
    const struct ebizzy_options *options = load.options;
    uint64_t stop_ns =
        options->records ? UINT64_MAX / 2 : start_ns + (uint64_t)(options->seconds * 1e9);
    uint64_t turn_ns = start_ns;
    uint64_t idle_ns = 0;
    bool finished;
    do {
        pthread_mutex_lock(&load.lock);
        state_set_locked(STATE_LOAD);
        turn_ns = options->phases ? turn_ns + options->load_ms * UINT64_C(1000000) : stop_ns;
        finished = finished_by_locked(earlier(turn_ns, stop_ns));
        pthread_mutex_unlock(&load.lock);
        if (!finished && turn_ns < stop_ns) {
            turn_ns += options->idle_ms * UINT64_C(1000000);
            idle_ns += idle_until(earlier(turn_ns, stop_ns));
        }
    } while (!finished && turn_ns < stop_ns);

    rss_sampler_pause(true);
    pthread_mutex_lock(&load.lock);
    state_set_locked(STATE_STOP);
    while (load.finished < options->threads)
        pthread_cond_wait(&load.changed, &load.lock);
    pthread_mutex_unlock(&load.lock);
    return idle_ns;
}

static double seconds_between(struct timeval before, struct timeval after) {
    return (double)(after.tv_sec - before.tv_sec) + (double)(after.tv_usec - before.tv_usec) / 1e6;
}

static void add_up(struct ebizzy_result *result, const struct worker *workers) {
    uint64_t *records = ebizzy_memory_table(load.options->threads * sizeof *records);
    result->fewest_records = UINT64_MAX;
    for (unsigned i = 0; i < load.options->threads; i++) {
        records[i] = workers[i].records;
        result->records += records[i];
        if (records[i] < result->fewest_records)
            result->fewest_records = records[i];
        if (records[i] > result->most_records)
            result->most_records = records[i];
    }
    result->thread_records = records;
}

struct ebizzy_result ebizzy_load_run(const struct ebizzy_options *options,
                                     const struct ebizzy_chunks *chunks) {
    load.options = options;
    load.chunks = chunks;
    bench_clock_condition(&load.changed);
    struct worker *workers = ebizzy_memory_table(options->threads * sizeof *workers);
    start_workers(workers);
    rss_sampler_take(RSS_MOMENT_START);
    rss_sampler_start(options->sample_ms);

    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    rss_sampler_window_opens();
    uint64_t start_ns = bench_clock_ns();
    uint64_t idle_ns = drive_window(start_ns);
    uint64_t window_ns = bench_clock_ns() - start_ns;
    getrusage(RUSAGE_SELF, &after);

    rss_sampler_stop();
    rss_sampler_take(RSS_MOMENT_END);
    pthread_mutex_lock(&load.lock);
    state_set_locked(STATE_RELEASE);
    pthread_mutex_unlock(&load.lock);
    for (unsigned i = 0; i < options->threads; i++)
        pthread_join(workers[i].thread, NULL);

    struct ebizzy_result result = {
        .real_s = (double)window_ns / 1e9,
        .load_s = (double)(window_ns - idle_ns) / 1e9,
        .user_s = seconds_between(before.ru_utime, after.ru_utime),
        .system_s = seconds_between(before.ru_stime, after.ru_stime),
    };
    add_up(&result, workers);
    return result;
}
