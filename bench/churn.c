// fallow-churn: one block of one size is allocated, a byte of each of its pages is written, and it
// is freed, over and over. What a program that works on large buffers waits for, and the place to
// look for a size from which on each loop begins with page faults.

#include "bench_clock.h"
#include "bench_fail.h"
#include "bench_json.h"
#include "bench_number.h"
#include "which_malloc.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { LOOPS_KEPT = 1 << 16 };

struct churn_options {
    size_t bytes;
    double seconds;
    uint64_t loops; // at least
    bool json;
};

struct churn_result {
    uint64_t loops;
    uint64_t first_ns, first_faults;      // the loop before those that count
    uint64_t middle_ns, worst_ns, all_ns; // of those that count
    uint64_t faults;                      // of all of them
};

static void print_help(void) {
    printf("Usage: fallow-churn [options]\n"
           "Times a malloc, a byte written to each page, and a free, over and over.\n\n"
           "  -s, --size BYTES      size of the block; k, m, g may follow (1m)\n"
           "  -S, --seconds S       go on for so long (0.2)\n"
           "  -n, --loops N         but for N loops at the least (3)\n"
           "      --json            print one JSON object\n"
           "      --help            print this and stop\n");
}

static struct churn_options parse(int argc, char **argv) {
    enum { JSON = 256, HELP };
    static const struct option long_options[] = {
        {"size", required_argument, NULL, 's'},  {"seconds", required_argument, NULL, 'S'},
        {"loops", required_argument, NULL, 'n'}, {"json", no_argument, NULL, JSON},
        {"help", no_argument, NULL, HELP},       {0}};
    struct churn_options options = {.bytes = 1 << 20, .seconds = 0.2, .loops = 3};
    int letter;
    while ((letter = getopt_long(argc, argv, "s:S:n:", long_options, NULL)) != -1) {
        switch (letter) {
        case 's':
            options.bytes = bench_number_bytes("-s", optarg, 1, PTRDIFF_MAX);
            break;
        case 'S':
            options.seconds = bench_number_real("-S", optarg, 0, 1e6);
            break;
        case 'n':
            options.loops = bench_number_whole("-n", optarg, 1, UINT64_MAX);
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
    return options;
}

static uint64_t faults_now(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_minflt;
}

// Returns how long it took.
static uint64_t loop_once(size_t bytes, size_t page_bytes) {
    uint64_t start_ns = bench_clock_ns();
    char *block = malloc(bytes);
    if (!block)
        bench_fail(BENCH_EXIT_FAILED, "malloc(%zu) failed: %s", bytes, strerror(errno));
    for (size_t at = 0; at < bytes; at += page_bytes)
        ((volatile char *)block)[at] = 1;
    free(block);
    return bench_clock_ns() - start_ns;
}

static int compare_ns(const void *a, const void *b) {
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

static struct churn_result run(const struct churn_options *options) {
    static uint64_t kept_ns[LOOPS_KEPT]; // the first of them; the median is of these
    struct churn_result result = {0};
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    memset(kept_ns, 0xff, sizeof kept_ns); // its pages shall not fault later

    uint64_t faults = faults_now();
    result.first_ns = loop_once(options->bytes, page_bytes);
    result.first_faults = faults_now() - faults;

    faults = faults_now();
    uint64_t stop_ns = bench_clock_ns() + (uint64_t)(options->seconds * 1e9);
    while (result.loops < options->loops || bench_clock_ns() < stop_ns) {
        uint64_t loop_ns = loop_once(options->bytes, page_bytes);
        if (result.loops < LOOPS_KEPT)
            kept_ns[result.loops] = loop_ns;
        result.loops++;
        result.all_ns += loop_ns;
        if (loop_ns > result.worst_ns)
            result.worst_ns = loop_ns;
    }
    result.faults = faults_now() - faults;

    size_t kept = result.loops < LOOPS_KEPT ? result.loops : LOOPS_KEPT;
    qsort(kept_ns, kept, sizeof kept_ns[0], compare_ns);
    result.middle_ns = kept_ns[kept / 2];
    return result;
}

int main(int argc, char **argv) {
    struct churn_options options = parse(argc, argv);
    static struct which_malloc which;
    which_malloc_find(&which);
    struct churn_result result = run(&options);

    double mean_us = (double)result.all_ns / (double)result.loops / 1e3;
    double faults = (double)result.faults / (double)result.loops;
    if (options.json) {
        printf("{");
        bench_json_malloc(&which);
        printf(", \"bytes\": %zu, \"loops\": %" PRIu64 ", \"us_per_loop\": %.3f, "
               "\"median_us\": %.3f, \"worst_us\": %.3f, \"faults_per_loop\": %.3f, "
               "\"first_us\": %.3f, \"first_faults\": %" PRIu64 "}\n",
               options.bytes, result.loops, mean_us, (double)result.middle_ns / 1e3,
               (double)result.worst_ns / 1e3, faults, (double)result.first_ns / 1e3,
               result.first_faults);
    } else {
        printf("%.2f us a loop, median %.2f, worst %.2f; %.2f faults a loop\n", mean_us,
               (double)result.middle_ns / 1e3, (double)result.worst_ns / 1e3, faults);
        printf("first   %.2f us, %" PRIu64 " faults\n", (double)result.first_ns / 1e3,
               result.first_faults);
        printf("malloc  %s (%s)\n", which.name, which.path);
        printf("run     %zu bytes, %" PRIu64 " loops\n", options.bytes, result.loops);
    }
    if (fflush(stdout) != 0 || ferror(stdout))
        bench_fail(BENCH_EXIT_FAILED, "cannot write the report");
    return EXIT_SUCCESS;
}
