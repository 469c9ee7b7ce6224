// fallow-latency: how long one thread's small mallocs and frees take, each timed by itself, first
// while nothing else happens, then while another thread frees a lot of memory in large blocks and for
// a while after it, when an allocator may be giving it back. Means hide the one call in a thousand
// that waited for somebody else's purge; so percentiles are what is printed.

#include "bench_clock.h"
#include "bench_fail.h"
#include "bench_json.h"
#include "bench_number.h"
#include "bench_random.h"
#include "latency_histogram.h"
#include "which_malloc.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 4096, SMALL_MAX = 1024 };

enum phase { PHASE_ALONE, PHASE_MEANWHILE, PHASE_COUNT, PHASE_STOP = PHASE_COUNT };

static const char *const phase_names[PHASE_COUNT] = {"alone", "meanwhile"};

struct latency_options {
    size_t bytes;
    size_t block_bytes;
    double seconds;
    bool json;
};

static struct latency_histogram histograms[PHASE_COUNT];
static _Atomic int phase;

static void print_help(void) {
    printf(
        "Usage: fallow-latency [options]\n"
        "Times each malloc and each free of up to 1 KiB of one thread, alone and while another frees "
        "large blocks.\n\n"
        "  -m, --memory BYTES    what the other thread frees; k, m, g may follow (2g)\n"
        "  -s, --size BYTES      in blocks of this size (1m)\n"
        "  -S, --seconds S       time for so long alone, and so long from the first free on (1)\n"
        "      --json            print one JSON object\n"
        "      --help            print this and stop\n");
}

static struct latency_options parse(int argc, char **argv) {
    enum { JSON = 256, HELP };
    static const struct option long_options[] = {
        {"memory", required_argument, NULL, 'm'},  {"size", required_argument, NULL, 's'},
        {"seconds", required_argument, NULL, 'S'}, {"json", no_argument, NULL, JSON},
        {"help", no_argument, NULL, HELP},         {0}};
    struct latency_options options = {
        .bytes = (size_t)2 << 30, .block_bytes = 1 << 20, .seconds = 1};
    int letter;
    while ((letter = getopt_long(argc, argv, "m:s:S:", long_options, NULL)) != -1) {
        switch (letter) {
        case 'm':
            options.bytes = bench_number_bytes("-m", optarg, 1, PTRDIFF_MAX);
            break;
        case 's':
            options.block_bytes = bench_number_bytes("-s", optarg, 1, PTRDIFF_MAX);
            break;
        case 'S':
            options.seconds = bench_number_real("-S", optarg, 0.001, 1e4);
            break;
        case JSON:
            options.json = true;
            break;
        case HELP:
            print_help();
            exit(EXIT_SUCCESS);
        default:
            bench_fail(BENCH_EXIT_USAGE, "try --help");
        }
    }
    if (optind < argc)
        bench_fail(BENCH_EXIT_USAGE, "'%s' is not an option; try --help", argv[optind]);
    if (options.block_bytes > options.bytes)
        bench_fail(BENCH_EXIT_USAGE, "-s %zu is more than -m %zu", options.block_bytes,
                   options.bytes);
    return options;
}

// Replaces a block of a small heap at random, over and over.
static void *small_main(void *unused) {
    static char *slots[SLOTS];
    struct bench_random random = bench_random_seeded(1, 0);
    (void)unused;
    for (int now; (now = atomic_load_explicit(&phase, memory_order_relaxed)) != PHASE_STOP;) {
        size_t slot = bench_random_below(&random, SLOTS);
        size_t bytes = 1 + bench_random_below(&random, SMALL_MAX);
        uint64_t start_ns = bench_clock_ns();
        free(slots[slot]);
        uint64_t middle_ns = bench_clock_ns();
        slots[slot] = malloc(bytes);
        uint64_t end_ns = bench_clock_ns();
        if (!slots[slot])
            bench_fail(BENCH_EXIT_FAILED, "malloc(%zu) failed: %s", bytes, strerror(errno));
        slots[slot][0] = 1;
        latency_histogram_add(&histograms[now], middle_ns - start_ns);
        latency_histogram_add(&histograms[now], end_ns - middle_ns);
    }
    for (size_t slot = 0; slot < SLOTS; slot++)
        free(slots[slot]);
    return NULL;
}

static void sleep_until(uint64_t until_ns) {
    struct timespec until = {(time_t)(until_ns / 1000000000), (long)(until_ns % 1000000000)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {}
}

// Returns how long the frees took.
static uint64_t run(const struct latency_options *options) {
    size_t count = options->bytes / options->block_bytes;
    char **blocks = malloc(count * sizeof *blocks);
    if (!blocks)
        bench_fail(BENCH_EXIT_FAILED, "no memory for %zu pointers", count);
    for (size_t i = 0; i < count; i++) {
        blocks[i] = malloc(options->block_bytes);
        if (!blocks[i])
            bench_fail(BENCH_EXIT_FAILED, "malloc(%zu) failed: %s", options->block_bytes,
                       strerror(errno));
        memset(blocks[i], 1, options->block_bytes);
    }
    uint64_t phase_ns = (uint64_t)(options->seconds * 1e9);
    pthread_t small;
    int error = pthread_create(&small, NULL, small_main, NULL);
    if (error != 0)
        bench_fail(BENCH_EXIT_FAILED, "cannot start a thread: %s", strerror(error));
    sleep_until(bench_clock_ns() + phase_ns);
    atomic_store(&phase, PHASE_MEANWHILE);
    uint64_t start_ns = bench_clock_ns();
    for (size_t i = 0; i < count; i++)
        free(blocks[i]);
    uint64_t freed_ns = bench_clock_ns() - start_ns;
    sleep_until(start_ns + phase_ns);
    atomic_store(&phase, PHASE_STOP);
    pthread_join(small, NULL);
    free(blocks);
    return freed_ns;
}

int main(int argc, char **argv) {
    static const double parts[] = {0.5, 0.99, 0.999, 0.9999};
    static const char *const part_names[] = {"p50", "p99", "p99.9", "p99.99"};
    enum { PARTS = sizeof parts / sizeof parts[0] };
    struct latency_options options = parse(argc, argv);
    static struct which_malloc which;
    which_malloc_find(&which);
    uint64_t freed_ns = run(&options);

    if (options.json) {
        printf("{");
        bench_json_malloc(&which);
        printf(", \"bytes\": %zu, \"block_bytes\": %zu, \"seconds\": %.3f, \"freed_us\": %.1f",
               options.bytes, options.block_bytes, options.seconds, (double)freed_ns / 1e3);
        for (int i = 0; i < PHASE_COUNT; i++) {
            printf(", \"%s\": {\"calls\": %" PRIu64, phase_names[i], histograms[i].count);
            for (int part = 0; part < PARTS; part++)
                printf(", \"%s_ns\": %" PRIu64, part_names[part],
                       latency_histogram_at(&histograms[i], parts[part]));
            printf(", \"worst_ns\": %" PRIu64 "}", histograms[i].worst_ns);
        }
        printf("}\n");
    } else {
        for (int i = 0; i < PHASE_COUNT; i++) {
            printf("%-10s%" PRIu64 " calls:", phase_names[i], histograms[i].count);
            for (int part = 0; part < PARTS; part++)
                printf(" %s %" PRIu64 " ns,", part_names[part],
                       latency_histogram_at(&histograms[i], parts[part]));
            printf(" worst %" PRIu64 " ns\n", histograms[i].worst_ns);
        }
        printf("freed     %zu bytes in blocks of %zu, in %.0f us\n", options.bytes,
               options.block_bytes, (double)freed_ns / 1e3);
        printf("malloc    %s (%s)\n", which.name, which.path);
    }
    if (fflush(stdout) != 0 || ferror(stdout))
        bench_fail(BENCH_EXIT_FAILED, "cannot write the report");
    return EXIT_SUCCESS;
}
