#ifndef BENCH_CLOCK_H
#define BENCH_CLOCK_H

// The benchmarks' clocks, in nanoseconds, and waiting by them.

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

static inline uint64_t bench_clock_read_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static inline uint64_t bench_clock_ns(void) {
    return bench_clock_read_ns(CLOCK_MONOTONIC);
}

static inline uint64_t bench_clock_thread_cpu_ns(void) {
    return bench_clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
}

// Makes a condition variable that waits by bench_clock_ns.
static inline void bench_clock_condition(pthread_cond_t *condition) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

// Waits for a signal, with the mutex held. False when the time has come; spurious wake-ups return
// true.
static inline bool bench_clock_wait_until(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                          uint64_t until_ns) {
    struct timespec until = {(time_t)(until_ns / 1000000000), (long)(until_ns % 1000000000)};
    return pthread_cond_timedwait(condition, mutex, &until) != ETIMEDOUT;
}

#endif
