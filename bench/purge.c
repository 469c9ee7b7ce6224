// fallow-purge: what it costs to give memory back to the kernel, and to write it again, by the ways
// there are: lazily or at once, one system call an extent or one for many, on small and on huge
// pages, alone or beside threads that compute. No allocator takes part: these are the primitives
// that an allocator has to choose from. The ways take turns, round by round.

#include "bench_clock.h"
#include "bench_fail.h"
#include "bench_number.h"
#include "purge_busy.h"
#include "purge_measure.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { QUIET_MS = 50, ROUNDS_MAX = 1000, COUNT_MAX = 1 << 24 };

// "both" of two things: a set of bits.
enum choice { FIRST = 1, SECOND = 2, BOTH = FIRST | SECOND };

struct purge_options {
    size_t extent_bytes;
    size_t stride_bytes; // 0: twice extent_bytes
    size_t count;
    bool huge;
    enum choice advice; // FIRST MADV_FREE, SECOND MADV_DONTNEED
    enum choice calls;  // FIRST one each, SECOND vectored
    unsigned busy;
    unsigned rounds;
    bool json;
};

static void print_help(void) {
    printf(
        "Usage: fallow-purge [options]\n"
        "Purges scattered extents of a mapping and writes them again; says what that cost.\n\n"
        "  -e, --extent BYTES    size of an extent; k, m, g may follow (64k)\n"
        "  -d, --stride BYTES    from one extent to the next (twice the extent)\n"
        "  -n, --count N         extents (1024)\n"
        "  -p, --pages KIND      small or huge (small)\n"
        "  -a, --advice KIND     free, dontneed or both (both)\n"
        "  -c, --calls KIND      one (madvise an extent), vectored (process_madvise) or both (both)\n"
        "  -b, --busy N          other threads that compute meanwhile (0)\n"
        "  -r, --rounds N        rounds in which all of the chosen ways take turns (1)\n"
        "      --json            print one JSON object\n"
        "      --help            print this and stop\n\n"
        "Interrupts are those of the whole machine. Status 3: the kernel does not do it.\n");
}

static enum choice choose(const char *option, const char *text, const char *first,
                          const char *second, bool both) {
    if (strcmp(text, first) == 0)
        return FIRST;
    if (strcmp(text, second) == 0)
        return SECOND;
    if (both && strcmp(text, "both") == 0)
        return BOTH;
    bench_fail(BENCH_EXIT_USAGE, "%s: '%s' is not %s%s%s%s", option, text, first,
               both ? ", " : " or ", second, both ? " or both" : "");
}

static struct purge_options parse(int argc, char **argv) {
    enum { JSON = 256, HELP };
    static const struct option long_options[] = {{"extent", required_argument, NULL, 'e'},
                                                 {"stride", required_argument, NULL, 'd'},
                                                 {"count", required_argument, NULL, 'n'},
                                                 {"pages", required_argument, NULL, 'p'},
                                                 {"advice", required_argument, NULL, 'a'},
                                                 {"calls", required_argument, NULL, 'c'},
                                                 {"busy", required_argument, NULL, 'b'},
                                                 {"rounds", required_argument, NULL, 'r'},
                                                 {"json", no_argument, NULL, JSON},
                                                 {"help", no_argument, NULL, HELP},
                                                 {0}};
    struct purge_options options = {
        .extent_bytes = 65536, .count = 1024, .advice = BOTH, .calls = BOTH, .rounds = 1};
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    int letter;
    while ((letter = getopt_long(argc, argv, "e:d:n:p:a:c:b:r:", long_options, NULL)) != -1) {
        switch (letter) {
        case 'e':
            options.extent_bytes = bench_number_bytes("-e", optarg, page_bytes, (size_t)1 << 40);
            break;
        case 'd':
            options.stride_bytes = bench_number_bytes("-d", optarg, page_bytes, (size_t)1 << 40);
            break;
        case 'n':
            options.count = (size_t)bench_number_whole("-n", optarg, 1, COUNT_MAX);
            break;
        case 'p':
            options.huge = choose("-p", optarg, "small", "huge", false) == SECOND;
            break;
        case 'a':
            options.advice = choose("-a", optarg, "free", "dontneed", true);
            break;
        case 'c':
            options.calls = choose("-c", optarg, "one", "vectored", true);
            break;
        case 'b':
            options.busy = (unsigned)bench_number_whole("-b", optarg, 0, PURGE_BUSY_MAX);
            break;
        case 'r':
            options.rounds = (unsigned)bench_number_whole("-r", optarg, 1, ROUNDS_MAX);
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
    if (options.stride_bytes == 0)
        options.stride_bytes = 2 * options.extent_bytes;
    if (options.stride_bytes < options.extent_bytes || options.extent_bytes % page_bytes != 0 ||
        options.stride_bytes % page_bytes != 0)
        bench_fail(BENCH_EXIT_USAGE, "-e and -d: whole pages, and -d at least -e");
    if (options.stride_bytes > ((size_t)1 << 46) / options.count)
        bench_fail(BENCH_EXIT_USAGE, "-n and -d: more than the address space holds");
    return options;
}

// Interrupts a second of the whole machine while this process purges nothing.
static double background_per_s(void) {
    struct purge_interrupts before = purge_interrupts_now();
    uint64_t start_ns = bench_clock_ns();
    usleep(QUIET_MS * 1000);
    struct purge_interrupts after = purge_interrupts_now();
    double seconds = (double)(bench_clock_ns() - start_ns) / 1e9;
    return (double)(after.tlb - before.tlb + after.call - before.call) / seconds;
}

static void print_settings(const struct purge_options *options, double background) {
    struct purge_interrupts rows = purge_interrupts_now();
    if (options->json) {
        printf("{\n  \"extent_bytes\": %zu,\n  \"stride_bytes\": %zu,\n  \"count\": %zu,\n"
               "  \"pages\": \"%s\",\n  \"busy\": %u,\n  \"has_tlb_row\": %s,\n"
               "  \"has_call_row\": %s,\n  \"background_interrupts_per_s\": %.0f,\n  \"runs\": [",
               options->extent_bytes, options->stride_bytes, options->count,
               options->huge ? "huge" : "small", options->busy, rows.has_tlb ? "true" : "false",
               rows.has_call ? "true" : "false", background);
        return;
    }
    printf("%zu extents of %zu bytes, one each %zu, %s pages, %u other busy thread%s\n",
           options->count, options->extent_bytes, options->stride_bytes,
           options->huge ? "huge" : "small", options->busy, options->busy == 1 ? "" : "s");
    printf("interrupts of the whole machine%s; %.0f/s when nothing is purged here\n",
           rows.has_tlb || rows.has_call ? "" : ": not counted on this machine", background);
    printf("round  advice    calls     purge us  rewrite us  (warm)    calls  TLB     CAL     "
           "faults   Rss fell  LazyFree KiB\n");
}

static void print_result(const struct purge_options *options, unsigned round, int advice,
                         enum purge_calls calls, const struct purge_result *result) {
    static bool comma;
    const char *advice_name = advice == MADV_FREE ? "free" : "dontneed";
    const char *calls_name = calls == PURGE_CALLS_ONE ? "one" : "vectored";
    if (!options->json) {
        printf("%5u  %-8s  %-8s  %8.0f  %10.0f  %6.0f  %7" PRIu64 "  %-6" PRIu64 "  %-6" PRIu64
               "  %6" PRIu64 "  %9" PRIu64 "  %8" PRIu64 "\n",
               round, advice_name, calls_name, result->purge_us, result->rewrite_us,
               result->warm_write_us, result->calls, result->tlb_interrupts,
               result->call_interrupts, result->rewrite_faults, result->fallen_kib,
               result->lazy_kib);
        return;
    }
    printf("%s\n    {\"round\": %u, \"advice\": \"%s\", \"calls\": \"%s\", \"purge_us\": %.1f, "
           "\"rewrite_us\": %.1f, \"warm_write_us\": %.1f, \"system_calls\": %" PRIu64
           ", \"tlb_interrupts\": %" PRIu64 ", \"call_interrupts\": %" PRIu64
           ", \"rewrite_faults\": %" PRIu64 ", \"huge_kib\": %" PRIu64 ", \"fallen_kib\": %" PRIu64
           ", \"lazy_kib\": %" PRIu64 "}",
           comma ? "," : "", round, advice_name, calls_name, result->purge_us, result->rewrite_us,
           result->warm_write_us, result->calls, result->tlb_interrupts, result->call_interrupts,
           result->rewrite_faults, result->huge_kib, result->fallen_kib, result->lazy_kib);
    comma = true;
}

static void run_round(const struct purge_options *options, const struct purge_extents *extents,
                      unsigned round) {
    static const int advices[] = {MADV_FREE, MADV_DONTNEED};
    static const enum purge_calls calls[] = {PURGE_CALLS_ONE, PURGE_CALLS_VECTORED};
    for (unsigned a = 0; a < 2; a++)
        for (unsigned c = 0; c < 2; c++) {
            if (!(options->advice & 1u << a) || !(options->calls & 1u << c))
                continue;
            struct purge_result result = purge_measure(extents, calls[c], advices[a]);
            print_result(options, round, advices[a], calls[c], &result);
        }
}

// What the kernel refuses is found out first, not in the middle of the figures.
static void refuse_unsupported(const struct purge_options *options,
                               const struct purge_extents *extents) {
    static const int advices[] = {MADV_FREE, MADV_DONTNEED};
    for (unsigned a = 0; a < 2; a++) {
        int error = 0;
        if (options->calls & SECOND && options->advice & 1u << a)
            error = purge_advise_probe(extents, advices[a]);
        if (error != 0)
            bench_fail(BENCH_EXIT_REFUSED, "this kernel refuses process_madvise(%s) on oneself: %s",
                       a == 0 ? "MADV_FREE" : "MADV_DONTNEED", strerror(error));
    }
}

int main(int argc, char **argv) {
    struct purge_options options = parse(argc, argv);
    struct purge_extents extents =
        purge_measure_map(options.count, options.extent_bytes, options.stride_bytes, options.huge);
    refuse_unsupported(&options, &extents);
    purge_busy_start(options.busy);
    print_settings(&options, background_per_s());
    for (unsigned round = 1; round <= options.rounds; round++)
        run_round(&options, &extents, round);
    purge_busy_stop();
    if (options.json)
        printf("\n  ]\n}\n");
    if (fflush(stdout) != 0 || ferror(stdout))
        bench_fail(BENCH_EXIT_FAILED, "cannot write the report");
    return EXIT_SUCCESS;
}
