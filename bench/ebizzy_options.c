// The command line of fallow-ebizzy. One table declares every option; getopt's arrays and the help
// come from it. Letters are those that ebizzy users know. Options that contradict each other are
// refused, not guessed about.

#include "ebizzy_options.h"

#include "bench_fail.h"
#include "bench_number.h"
#include "rss_sampler.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    RECORD_BYTES = 8,
    THREADS_MAX = 4096,
    PHASE_MAX_MS = 3600 * 1000,
};

// Values of options without a letter, past any letter.
enum long_only { RNG = 256, SEED, HOLD, PHASES, SAMPLE_MS, JSON, HELP };

struct option_row {
    int value;    // the letter, or an enum long_only
    int argument; // no_argument, required_argument or optional_argument
    const char *name;
    const char *argument_name;
    const char *help;
};

static const struct option_row rows[] = {
    {'t', required_argument, "threads", "N", "threads (twice the online CPUs)"},
    {'n', required_argument, "chunks", "N", "chunks in the set (10)"},
    {'s', required_argument, "chunk-bytes", "BYTES", "bytes a chunk, in 8-byte records (512k)"},
    {'S', required_argument, "seconds", "S", "length of the timed window, fractions allowed (10)"},
    {'r', required_argument, "records", "N", "records a thread, instead of a time"},
    {'m', no_argument, "mmap", NULL, "chunks and copies by mmap and munmap, not malloc"},
    {'M', no_argument, "no-mmap-threshold", NULL,
     "mallopt(M_MMAP_MAX, 0): glibc's malloc shall not use mmap"},
    {'T', no_argument, "touch", NULL, "touch one byte a page of the copy: no copying, no search"},
    {'l', no_argument, "loop-copy", NULL, "copy by a loop, not by memcpy"},
    {'R', no_argument, "random-size", NULL, "copies of random size, up to the chunk's"},
    {'z', no_argument, "linear", NULL, "linear search, not binary"},
    {'p', no_argument, "protect", NULL, "make even chunks read-only by mprotect"},
    {'P', no_argument, "holes", NULL, "leave a page-sized freed hole behind every chunk"},
    {'v', no_argument, "verbose", NULL, "say more: each thread's records, each memory sample"},
    {RNG, required_argument, "rng", "walk|stuck",
     "walk: random chunk and key (default)\n"
     "stuck: always chunk 0 and its first record, cache-hot, as the\n"
     "historical program's generator had it; for published figures"},
    {SEED, required_argument, "seed", "N", "seed of the random choices (1)"},
    {HOLD, required_argument, "hold", "N",
     "each thread keeps N copies alive and frees them in shuffled order (0)"},
    {PHASES, optional_argument, "phases", "LOAD,IDLE",
     "alternate load and idleness, milliseconds (1000,1000)"},
    {SAMPLE_MS, required_argument, "sample-ms", "MS",
     "sample resident memory so often in the window (500, the least);\n"
     "0: only before and after it"},
    {JSON, no_argument, "json", NULL, "print one JSON object: all settings and results"},
    {HELP, no_argument, "help", NULL, "print this and stop"},
};

enum { ROWS = sizeof rows / sizeof rows[0] };

static void print_help(void) {
    printf("Usage: fallow-ebizzy [options]\n"
           "Each thread picks a chunk, allocates a copy, searches it for a key and frees it: one\n"
           "record. Runs on the malloc that the process has (LD_PRELOAD decides), and says which\n"
           "that is.\n\n");
    for (const struct option_row *row = rows; row < rows + ROWS; row++) {
        char left[64];
        int length = row->value < RNG
                         ? snprintf(left, sizeof left, "  -%c, --%s", row->value, row->name)
                         : snprintf(left, sizeof left, "      --%s", row->name);
        if (row->argument != no_argument)
            snprintf(left + length, sizeof left - (size_t)length,
                     row->argument == optional_argument ? "[=%s]" : " %s", row->argument_name);
        printf("%-30s", left);
        for (const char *text = row->help; *text; text++) {
            putchar(*text);
            if (*text == '\n')
                printf("%30s", "");
        }
        putchar('\n');
    }
}

const char *ebizzy_options_rng_name(enum ebizzy_rng rng) {
    return rng == EBIZZY_RNG_STUCK ? "stuck" : "walk";
}

static enum ebizzy_rng rng_by_name(const char *name) {
    if (strcmp(name, "walk") == 0)
        return EBIZZY_RNG_WALK;
    if (strcmp(name, "stuck") == 0)
        return EBIZZY_RNG_STUCK;
    bench_fail(BENCH_EXIT_USAGE, "--rng: '%s' is neither walk nor stuck", name);
}

static void set_phases(struct ebizzy_options *options, const char *text) {
    options->phases = true;
    if (!text)
        return;
    char load[32];
    const char *comma = strchr(text, ',');
    if (!comma || (size_t)(comma - text) >= sizeof load)
        bench_fail(BENCH_EXIT_USAGE, "--phases: '%s' is not LOAD,IDLE in milliseconds", text);
    snprintf(load, sizeof load, "%.*s", (int)(comma - text), text);
    options->load_ms = (unsigned)bench_number_whole("--phases, load", load, 1, PHASE_MAX_MS);
    options->idle_ms = (unsigned)bench_number_whole("--phases, idle", comma + 1, 1, PHASE_MAX_MS);
}

static unsigned sample_period(const char *text) {
    unsigned period_ms = (unsigned)bench_number_whole("--sample-ms", text, 0, PHASE_MAX_MS);
    if (period_ms != 0 && period_ms < RSS_SAMPLER_PERIOD_MIN_MS)
        bench_fail(
            BENCH_EXIT_USAGE,
            "--sample-ms: %u is too often, sampling would disturb the run: 0, or %d and more",
            period_ms, RSS_SAMPLER_PERIOD_MIN_MS);
    return period_ms;
}

static void apply(struct ebizzy_options *options, int value, const char *text) {
    switch (value) {
    case 't':
        options->threads = (unsigned)bench_number_whole("-t", text, 1, THREADS_MAX);
        break;
    case 'n':
        options->chunks = bench_number_whole("-n", text, 1, UINT32_MAX);
        break;
    case 's':
        options->chunk_bytes = bench_number_bytes("-s", text, RECORD_BYTES, PTRDIFF_MAX);
        break;
    case 'S':
        options->seconds = bench_number_real("-S", text, 0.01, 1e6);
        break;
    case 'r':
        options->records = bench_number_whole("-r", text, 1, UINT64_MAX);
        break;
    case 'm':
        options->use_mmap = true;
        break;
    case 'M':
        options->no_mmap_threshold = true;
        break;
    case 'T':
        options->touch_only = true;
        break;
    case 'l':
        options->loop_copy = true;
        break;
    case 'R':
        options->random_size = true;
        break;
    case 'z':
        options->linear_search = true;
        break;
    case 'p':
        options->protect_even = true;
        break;
    case 'P':
        options->holes = true;
        break;
    case 'v':
        options->verbose = true;
        break;
    case RNG:
        options->rng = rng_by_name(text);
        break;
    case SEED:
        options->seed = bench_number_whole("--seed", text, 0, UINT64_MAX);
        break;
    case HOLD:
        options->hold = bench_number_whole("--hold", text, 0, UINT32_MAX);
        break;
    case PHASES:
        set_phases(options, text);
        break;
    case SAMPLE_MS:
        options->sample_ms = sample_period(text);
        break;
    case JSON:
        options->json = true;
        break;
    case HELP:
        print_help();
        exit(EXIT_SUCCESS);
    default:
        bench_fail(BENCH_EXIT_USAGE, "try --help");
    }
}

static void refuse_contradictions(const struct ebizzy_options *options, bool seconds_given) {
    if (options->records != 0 && seconds_given)
        bench_fail(BENCH_EXIT_USAGE, "-r and -S: a run ends by records or by time, not by both");
    if (options->use_mmap && options->no_mmap_threshold)
        bench_fail(BENCH_EXIT_USAGE, "-m and -M: -M concerns malloc, which -m does not use");
    if (options->use_mmap && options->holes)
        bench_fail(BENCH_EXIT_USAGE, "-m and -P: -P concerns malloc, which -m does not use");
    if (options->touch_only && (options->loop_copy || options->linear_search))
        bench_fail(BENCH_EXIT_USAGE,
                   "-T neither copies nor searches, so -l and -z have no meaning with it");
    if (options->verbose && options->json)
        bench_fail(BENCH_EXIT_USAGE, "-v and --json: the JSON object says everything already");
}

struct ebizzy_options ebizzy_options_parse(int argc, char **argv) {
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    struct ebizzy_options options = {
        .threads = cpus > 0 ? 2 * (unsigned)cpus : 2,
        .chunks = 10,
        .chunk_bytes = (size_t)512 * 1024,
        .seconds = 10,
        .rng = EBIZZY_RNG_WALK,
        .seed = 1,
        .load_ms = 1000,
        .idle_ms = 1000,
        .sample_ms = RSS_SAMPLER_PERIOD_MIN_MS,
    };
    struct option long_options[ROWS + 1] = {{0}};
    char letters[ROWS + ROWS + 1]; // a letter and perhaps a colon each
    char *letter = letters;
    for (int i = 0; i < ROWS; i++) {
        long_options[i] = (struct option){rows[i].name, rows[i].argument, NULL, rows[i].value};
        if (rows[i].value >= RNG)
            continue;
        *letter++ = (char)rows[i].value;
        if (rows[i].argument == required_argument)
            *letter++ = ':';
    }
    *letter = '\0';

    bool seconds_given = false;
    int value;
    while ((value = getopt_long(argc, argv, letters, long_options, NULL)) != -1) {
        apply(&options, value, optarg);
        seconds_given |= value == 'S';
    }
    if (optind < argc)
        bench_fail(BENCH_EXIT_USAGE, "'%s' is not an option; try --help", argv[optind]);
    refuse_contradictions(&options, seconds_given);
    return options;
}
