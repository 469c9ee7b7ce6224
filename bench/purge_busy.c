#include "purge_busy.h"

#include "bench_fail.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

static struct {
    pthread_t threads[PURGE_BUSY_MAX];
    unsigned count;
    _Atomic unsigned running;
    _Atomic bool stop;
} busy;

static void *busy_main(void *unused) {
    (void)unused;
    atomic_fetch_add(&busy.running, 1);
    while (!atomic_load_explicit(&busy.stop, memory_order_relaxed)) {}
    return NULL;
}

// Of the CPUs that this process may use, the one with the given number, counted from 0.
static cpu_set_t nth_cpu(const cpu_set_t *allowed, unsigned nth) {
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, allowed) && nth-- == 0) {
            CPU_SET(cpu, &one);
            break;
        }
    return one;
}

void purge_busy_start(unsigned threads) {
    cpu_set_t allowed;
    int error = pthread_getaffinity_np(pthread_self(), sizeof allowed, &allowed);
    if (error != 0)
        bench_fail(BENCH_EXIT_FAILED, "cannot ask for the CPUs: %s", strerror(error));
    if (threads >= (unsigned)CPU_COUNT(&allowed))
        bench_fail(BENCH_EXIT_REFUSED, "%u busy threads need %u CPUs, there are %d", threads,
                   threads + 1, CPU_COUNT(&allowed));
    for (; busy.count < threads; busy.count++) {
        cpu_set_t cpu = nth_cpu(&allowed, busy.count + 1);
        error = pthread_create(&busy.threads[busy.count], NULL, busy_main, NULL);
        if (error == 0)
            error = pthread_setaffinity_np(busy.threads[busy.count], sizeof cpu, &cpu);
        if (error != 0)
            bench_fail(BENCH_EXIT_FAILED, "cannot start busy thread %u: %s", busy.count + 1,
                       strerror(error));
    }
    cpu_set_t cpu = nth_cpu(&allowed, 0);
    error = pthread_setaffinity_np(pthread_self(), sizeof cpu, &cpu);
    if (error != 0)
        bench_fail(BENCH_EXIT_FAILED, "cannot bind to a CPU: %s", strerror(error));
    while (atomic_load(&busy.running) < threads)
        sched_yield();
}

void purge_busy_stop(void) {
    atomic_store(&busy.stop, true);
    while (busy.count != 0)
        pthread_join(busy.threads[--busy.count], NULL);
}
