#include "suite_threads.h"

#include "bench_fail.h"

#include <string.h>

struct worker {
    const struct suite_options *options;
    void (*body)(const struct suite_options *options, unsigned index);
    pthread_barrier_t *start;
    pthread_t thread;
    unsigned index;
};

pthread_t suite_thread_start(void *(*function)(void *), void *argument) {
    pthread_t thread;
    int error = pthread_create(&thread, NULL, function, argument);
    if (error != 0)
        bench_fail(BENCH_EXIT_FAILED, "cannot start a thread: %s", strerror(error));
    return thread;
}

static void *worker_main(void *argument) {
    struct worker *worker = argument;
    pthread_barrier_wait(worker->start);
    worker->body(worker->options, worker->index);
    return NULL;
}

void suite_threads_run(const struct suite_options *options,
                       void (*body)(const struct suite_options *options, unsigned index)) {
    static struct worker workers[SUITE_THREADS_MAX];
    if (options->threads == 1) {
        body(options, 0);
        return;
    }
    pthread_barrier_t start;
    pthread_barrier_init(&start, NULL, options->threads);
    for (unsigned i = 0; i < options->threads; i++) {
        workers[i] = (struct worker){.options = options, .body = body, .start = &start, .index = i};
        workers[i].thread = suite_thread_start(worker_main, &workers[i]);
    }
    for (unsigned i = 0; i < options->threads; i++)
        pthread_join(workers[i].thread, NULL);
    pthread_barrier_destroy(&start);
}
