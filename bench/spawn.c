// fallow-spawn: what it costs to start a program with an object preloaded. Starts the program over
// and over: each round has every preload once, in an order drawn anew, so that whatever else the
// machine does falls on all of them alike, and so does what one leaves behind in the caches for the
// next. Prints one line a preload: the quartiles of the time from start to exit, in microseconds.

#include "bench_clock.h"
#include "bench_fail.h"
#include "bench_number.h"
#include "bench_random.h"

#include <errno.h>
#include <getopt.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PRELOADS_MAX = 32 };

struct series {
    const char *preload; // "" is none
    uint64_t *ns;        // [runs]
};

static uint64_t start_once(char *program, const char *preload) {
    char variable[4096];
    snprintf(variable, sizeof variable, "LD_PRELOAD=%s", preload);
    char *environment[] = {*preload ? variable : NULL, NULL};
    char *arguments[] = {program, NULL};

    pid_t child;
    int status;
    uint64_t start_ns = bench_clock_ns();
    int error = posix_spawn(&child, program, NULL, NULL, arguments, environment);
    if (error != 0)
        bench_fail(BENCH_EXIT_FAILED, "cannot start %s: %s", program, strerror(error));
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            bench_fail(BENCH_EXIT_FAILED, "waitpid: %s", strerror(errno));
    uint64_t elapsed_ns = bench_clock_ns() - start_ns;
    if (status != 0)
        bench_fail(BENCH_EXIT_FAILED, "%s with '%s' preloaded ended with status %#x", program,
                   preload, (unsigned)status);
    return elapsed_ns;
}

static void run_round(char *program, struct series *series, int count, uint64_t run) {
    struct bench_random random = bench_random_seeded(run, 0);
    int order[PRELOADS_MAX] = {0};
    for (int i = 0; i < count; i++) {
        int other = (int)bench_random_below(&random, (uint64_t)i + 1);
        order[i] = order[other];
        order[other] = i;
    }
    for (int i = 0; i < count; i++) {
        struct series *one = &series[order[i]];
        one->ns[run] = start_once(program, one->preload);
    }
}

static int compare_ns(const void *a, const void *b) {
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

static void print_help(void) {
    printf(
        "Usage: fallow-spawn [-n RUNS] [-p PROGRAM] PRELOAD...\n"
        "Prints for each preload ('' is none): lower quartile, median and upper quartile of the\n"
        "time that PROGRAM (/bin/true) takes from start to exit, in microseconds.\n");
}

int main(int argc, char **argv) {
    uint64_t runs = 1000;
    static char default_program[] = "/bin/true";
    char *program = default_program;
    int letter;
    while ((letter = getopt(argc, argv, "n:p:h")) != -1) {
        switch (letter) {
        case 'n':
            runs = bench_number_whole("-n", optarg, 1, 1000000);
            break;
        case 'p':
            program = optarg;
            break;
        case 'h':
            print_help();
            return EXIT_SUCCESS;
        default:
            bench_fail(BENCH_EXIT_USAGE, "try -h");
        }
    }
    int count = argc - optind;
    if (count < 1 || count > PRELOADS_MAX)
        bench_fail(BENCH_EXIT_USAGE, "1 to %d preloads are needed; try -h", (int)PRELOADS_MAX);

    struct series series[PRELOADS_MAX];
    for (int i = 0; i < count; i++) {
        series[i] = (struct series){argv[optind + i], malloc(runs * sizeof(uint64_t))};
        if (!series[i].ns)
            bench_fail(BENCH_EXIT_FAILED, "no memory for %d series", count);
    }
    for (uint64_t run = 0; run < runs; run++)
        run_round(program, series, count, run);
    for (int i = 0; i < count; i++) {
        uint64_t *ns = series[i].ns;
        qsort(ns, runs, sizeof *ns, compare_ns);
        uint64_t quarter = runs / 4, middle = runs / 2;
        printf("%.1f %.1f %.1f\n", (double)ns[quarter] / 1e3, (double)ns[middle] / 1e3,
               (double)ns[runs - 1 - quarter] / 1e3);
        free(ns);
    }
    return EXIT_SUCCESS;
}
