// fallow-pairs: what one malloc and one free cost. The loop does nothing else but write one byte,
// so that its instructions, counted by bench/instructions, are the allocator's. A batch allocates B
// blocks, then frees them in the order of their birth. One thread runs in the main thread of a
// process that never had another.

#include "bench_clock.h"
#include "bench_fail.h"
#include "bench_json.h"
#include "bench_number.h"
#include "which_malloc.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH_MAX = 4096, THREADS_MAX = 1024 };

struct pairs_options {
    size_t bytes;
    uint64_t loops;
    size_t batch;
    unsigned threads;
    bool json;
};

struct pairs_worker {
    _Alignas(128) const struct pairs_options *options;
    pthread_barrier_t *start;
    pthread_t thread;
    uint64_t elapsed_ns;
};

static void singles(size_t bytes, uint64_t loops) {
    do {
        char *block = malloc(bytes);
        *(volatile char *)block = 1;
        free(block);
    } while (--loops != 0);
}

static void batches(size_t bytes, uint64_t loops, size_t batch) {
    char *blocks[BATCH_MAX];
    do {
        for (size_t i = 0; i < batch; i++) {
            blocks[i] = malloc(bytes);
            *(volatile char *)blocks[i] = 1;
        }
        for (size_t i = 0; i < batch; i++)
            free(blocks[i]);
    } while (--loops != 0);
}

static void *worker_main(void *argument) {
    struct pairs_worker *worker = argument;
    const struct pairs_options *options = worker->options;
    if (worker->start)
        pthread_barrier_wait(worker->start);
    uint64_t start_ns = bench_clock_ns();
    if (options->batch == 1)
        singles(options->bytes, options->loops);
    else
        batches(options->bytes, options->loops, options->batch);
    worker->elapsed_ns = bench_clock_ns() - start_ns;
    return NULL;
}

static void print_help(void) {
    printf("Usage: fallow-pairs [options]\n"
           "Prints what a malloc, a written byte and a free cost together.\n\n"
           "  -s BYTES   block size; k, m, g may follow (16)\n"
           "  -n N       loops a thread (1000000)\n"
           "  -b N       blocks a loop: allocate N, then free N (1)\n"
           "  -t N       threads, each on its own (1)\n"
           "  --json     print one JSON object\n"
           "  -h         print this and stop\n");
}

static struct pairs_options parse(int argc, char **argv) {
    enum { JSON = 256 };
    static const struct option long_options[] = {{"json", no_argument, NULL, JSON}, {0}};
    struct pairs_options options = {.bytes = 16, .loops = 1000000, .batch = 1, .threads = 1};
    int letter;
    while ((letter = getopt_long(argc, argv, "s:n:b:t:h", long_options, NULL)) != -1) {
        switch (letter) {
        case 's':
            options.bytes = bench_number_bytes("-s", optarg, 1, PTRDIFF_MAX);
            break;
        case 'n':
            options.loops = bench_number_whole("-n", optarg, 1, UINT64_MAX);
            break;
        case 'b':
            options.batch = (size_t)bench_number_whole("-b", optarg, 1, BATCH_MAX);
            break;
        case 't':
            options.threads = (unsigned)bench_number_whole("-t", optarg, 1, THREADS_MAX);
            break;
        case JSON:
            options.json = true;
            break;
        case 'h':
            print_help();
            exit(EXIT_SUCCESS);
        default:
            bench_fail(BENCH_EXIT_USAGE, "try -h");
        }
    }
    if (optind < argc)
        bench_fail(BENCH_EXIT_USAGE, "'%s' is not an option; try -h", argv[optind]);
    return options;
}

// The loops do not look at what malloc returns, so it is made sure beforehand that there is memory
// for a batch.
static void try_once(const struct pairs_options *options) {
    void *blocks[BATCH_MAX];
    for (size_t i = 0; i < options->batch; i++)
        if (!(blocks[i] = malloc(options->bytes)))
            bench_fail(BENCH_EXIT_FAILED, "malloc(%zu) failed: %s", options->bytes,
                       strerror(errno));
    for (size_t i = 0; i < options->batch; i++)
        free(blocks[i]);
}

static void run_threads(struct pairs_worker *workers, unsigned threads) {
    pthread_barrier_t start;
    pthread_barrier_init(&start, NULL, threads);
    for (unsigned i = 0; i < threads; i++) {
        workers[i].start = &start;
        int error = pthread_create(&workers[i].thread, NULL, worker_main, &workers[i]);
        if (error != 0)
            bench_fail(BENCH_EXIT_FAILED, "cannot start thread %u: %s", i + 1, strerror(error));
    }
    for (unsigned i = 0; i < threads; i++)
        pthread_join(workers[i].thread, NULL);
    pthread_barrier_destroy(&start);
}

int main(int argc, char **argv) {
    static struct pairs_options options; // threads read it
    options = parse(argc, argv);
    static struct which_malloc which;
    which_malloc_find(&which);
    try_once(&options);

    static struct pairs_worker workers[THREADS_MAX];
    for (unsigned i = 0; i < options.threads; i++)
        workers[i].options = &options;
    uint64_t start_ns = bench_clock_ns();
    if (options.threads == 1)
        worker_main(&workers[0]);
    else
        run_threads(workers, options.threads);
    double seconds = (double)(bench_clock_ns() - start_ns) / 1e9;

    double total_ns = 0;
    for (unsigned i = 0; i < options.threads; i++)
        total_ns += (double)workers[i].elapsed_ns;
    double pairs = (double)options.loops * (double)options.batch * options.threads;
    if (options.json) {
        printf("{\"seconds\": %.6f, \"ns_per_pair\": %.4f, ", seconds, total_ns / pairs);
        bench_json_malloc(&which);
        printf("}\n");
    } else {
        printf("%.2f ns per pair\n", total_ns / pairs);
        printf("malloc  %s (%s)\n", which.name, which.path);
        printf("run     %zu bytes, batches of %zu, %" PRIu64 " loops, %u thread%s\n", options.bytes,
               options.batch, options.loops, options.threads, options.threads == 1 ? "" : "s");
    }
    return EXIT_SUCCESS;
}
