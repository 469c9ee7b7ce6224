// fallow-usemem: zeroed memory that is only read. Each process, all at the same time, has large
// regions from calloc and reads them with a step, gives them back, and does the same again. The
// kernel has a page of zeroes for those who only read: a fresh region need not cost any memory, and
// neither need one that was free in between, if the allocator does not write to memory that is zero
// as it is. With --write the regions are written before they are freed, so that the allocator has
// to choose between writing zeroes and giving the memory back.

#include "bench_clock.h"
#include "bench_fail.h"
#include "bench_json.h"
#include "bench_number.h"
#include "bench_rollup.h"
#include "which_malloc.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROCESSES_MAX = 256, REGIONS_MAX = 1024, PASSES = 2 };

static const char *const pass_names[PASSES] = {"fresh", "again"};

struct usemem_options {
    size_t bytes;
    size_t regions;
    size_t step_bytes;
    unsigned processes;
    bool write;
    bool json;
};

struct pass {
    uint64_t calloc_ns, read_ns;
    int64_t rss_kib; // what Rss grew by, from before calloc to after the reading
};

// What the processes share.
struct board {
    pthread_barrier_t start;
    struct pass passes[PROCESSES_MAX][PASSES];
};

static void print_help(void) {
    printf("Usage: fallow-usemem [options]\n"
           "Has zeroed memory from calloc and reads it, twice; says what that cost and held.\n\n"
           "  -s, --size BYTES      size of a region; k, m, g may follow (256m)\n"
           "  -n, --regions N       regions of each process (1)\n"
           "  -j, --step BYTES      read one byte, then go on by so many (4k)\n"
           "  -p, --processes N     processes, each on its own (1)\n"
           "  -w, --write           write each step too before the regions are freed\n"
           "      --json            print one JSON object\n"
           "      --help            print this and stop\n");
}

static struct usemem_options parse(int argc, char **argv) {
    enum { JSON = 256, HELP };
    static const struct option long_options[] = {
        {"size", required_argument, NULL, 's'}, {"regions", required_argument, NULL, 'n'},
        {"step", required_argument, NULL, 'j'}, {"processes", required_argument, NULL, 'p'},
        {"write", no_argument, NULL, 'w'},      {"json", no_argument, NULL, JSON},
        {"help", no_argument, NULL, HELP},      {0}};
    struct usemem_options options = {
        .bytes = (size_t)256 << 20, .regions = 1, .step_bytes = 4096, .processes = 1};
    int letter;
    while ((letter = getopt_long(argc, argv, "s:n:j:p:w", long_options, NULL)) != -1) {
        switch (letter) {
        case 's':
            options.bytes = bench_number_bytes("-s", optarg, 1, PTRDIFF_MAX);
            break;
        case 'n':
            options.regions = (size_t)bench_number_whole("-n", optarg, 1, REGIONS_MAX);
            break;
        case 'j':
            options.step_bytes = bench_number_bytes("-j", optarg, 1, (size_t)1 << 40);
            break;
        case 'p':
            options.processes = (unsigned)bench_number_whole("-p", optarg, 1, PROCESSES_MAX);
            break;
        case 'w':
            options.write = true;
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

static void read_region(const char *region, const struct usemem_options *options) {
    const volatile char *bytes = region;
    for (size_t at = 0; at < options->bytes; at += options->step_bytes)
        if (bytes[at] != 0)
            bench_fail(BENCH_EXIT_FAILED, "calloc gave memory that is not zero");
}

static void write_region(char *region, const struct usemem_options *options) {
    volatile char *bytes = region;
    for (size_t at = 0; at < options->bytes; at += options->step_bytes)
        bytes[at] = 1;
}

static uint64_t rss_kib(int rollup) {
    struct bench_rollup now;
    if (!bench_rollup_read(rollup, &now))
        bench_fail(BENCH_EXIT_REFUSED, "there is no smaps_rollup to read");
    return now.rss_kib;
}

static struct pass run_pass(const struct usemem_options *options, int rollup) {
    char *regions[REGIONS_MAX];
    struct pass pass = {0};
    uint64_t before_kib = rss_kib(rollup);

    uint64_t start_ns = bench_clock_ns();
    for (size_t i = 0; i < options->regions; i++)
        if (!(regions[i] = calloc(1, options->bytes)))
            bench_fail(BENCH_EXIT_FAILED, "calloc(1, %zu) failed: %s", options->bytes,
                       strerror(errno));
    uint64_t middle_ns = bench_clock_ns();
    for (size_t i = 0; i < options->regions; i++)
        read_region(regions[i], options);
    pass.read_ns = bench_clock_ns() - middle_ns;
    pass.calloc_ns = middle_ns - start_ns;
    pass.rss_kib = (int64_t)rss_kib(rollup) - (int64_t)before_kib;

    for (size_t i = 0; options->write && i < options->regions; i++)
        write_region(regions[i], options);
    for (size_t i = 0; i < options->regions; i++)
        free(regions[i]);
    return pass;
}

static noreturn void child_main(const struct usemem_options *options, struct board *board,
                                unsigned number) {
    int rollup = bench_rollup_open();
    for (int p = 0; p < PASSES; p++) {
        pthread_barrier_wait(&board->start);
        board->passes[number][p] = run_pass(options, rollup);
    }
    _exit(EXIT_SUCCESS);
}

static struct board *board_create(unsigned processes) {
    struct board *board =
        mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_barrierattr_t shared;
    pthread_barrierattr_init(&shared);
    pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    if (board == MAP_FAILED || pthread_barrier_init(&board->start, &shared, processes) != 0)
        bench_fail(BENCH_EXIT_FAILED, "no memory to share with the processes");
    return board;
}

// If one child fails, the others would wait for it for ever: the first failure ends all.
static void run_children(const struct usemem_options *options, struct board *board) {
    pid_t children[PROCESSES_MAX];
    for (unsigned i = 0; i < options->processes; i++) {
        children[i] = fork();
        if (children[i] == 0)
            child_main(options, board, i);
        if (children[i] < 0)
            bench_fail(BENCH_EXIT_FAILED, "fork failed: %s", strerror(errno));
    }
    for (unsigned done = 0; done < options->processes; done++) {
        int status;
        if (wait(&status) < 0)
            bench_fail(BENCH_EXIT_FAILED, "wait: %s", strerror(errno));
        if (status != 0) {
            for (unsigned i = 0; i < options->processes; i++)
                kill(children[i], SIGKILL);
            bench_fail(BENCH_EXIT_FAILED, "a process ended with status %#x", (unsigned)status);
        }
    }
}

struct summary {
    double us, worst_us;       // calloc and reading: the mean of the processes, the slowest
    double calloc_us;          // of that, calloc: the mean
    double rss_kib, worst_kib; // growth: the mean, the largest
};

static struct summary summarize(const struct usemem_options *options, const struct board *board,
                                int pass) {
    struct summary summary = {.worst_kib = -1e18};
    double share = 1.0 / options->processes;
    for (unsigned i = 0; i < options->processes; i++) {
        const struct pass *one = &board->passes[i][pass];
        double us = (double)(one->calloc_ns + one->read_ns) / 1e3;
        double kib = (double)one->rss_kib;
        summary.us += us * share;
        summary.calloc_us += (double)one->calloc_ns / 1e3 * share;
        summary.rss_kib += kib * share;
        summary.worst_us = us > summary.worst_us ? us : summary.worst_us;
        summary.worst_kib = kib > summary.worst_kib ? kib : summary.worst_kib;
    }
    return summary;
}

static void report(const struct usemem_options *options, const struct which_malloc *which,
                   const struct board *board) {
    if (options->json) {
        printf("{");
        bench_json_malloc(which);
        printf(", \"bytes\": %zu, \"regions\": %zu, \"step_bytes\": %zu, \"processes\": %u, "
               "\"write\": %s",
               options->bytes, options->regions, options->step_bytes, options->processes,
               options->write ? "true" : "false");
    } else {
        printf("malloc  %s (%s)\n", which->name, which->path);
        printf("run     %u process%s, %zu x %zu bytes, read by steps of %zu%s\n",
               options->processes, options->processes == 1 ? "" : "es", options->regions,
               options->bytes, options->step_bytes,
               options->write ? ", written before they are freed" : "");
    }
    for (int p = 0; p < PASSES; p++) {
        struct summary summary = summarize(options, board, p);
        if (options->json)
            printf(", \"%s\": {\"us\": %.1f, \"worst_us\": %.1f, \"calloc_us\": %.1f, "
                   "\"rss_kib\": %.0f, \"worst_rss_kib\": %.0f}",
                   pass_names[p], summary.us, summary.worst_us, summary.calloc_us, summary.rss_kib,
                   summary.worst_kib);
        else
            printf("%s   %.0f us a process (calloc %.0f; slowest %.0f); RSS grew by %.0f KiB (%.0f "
                   "at most)\n",
                   pass_names[p], summary.us, summary.calloc_us, summary.worst_us, summary.rss_kib,
                   summary.worst_kib);
    }
    if (options->json)
        printf("}\n");
}

int main(int argc, char **argv) {
    struct usemem_options options = parse(argc, argv);
    static struct which_malloc which;
    which_malloc_find(&which);
    struct board *board = board_create(options.processes);
    run_children(&options, board);
    report(&options, &which, board);
    if (fflush(stdout) != 0 || ferror(stdout))
        bench_fail(BENCH_EXIT_FAILED, "cannot write the report");
    return EXIT_SUCCESS;
}
