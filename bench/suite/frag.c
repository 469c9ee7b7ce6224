// frag: what becomes of memory when a program changes its habits. Each phase has sizes of its own
// and allocates half as much again as may be live, against random frees; so little of the earlier
// phases survives it, scattered. Every third phase starts by dropping to a third. A block starts
// with its size, so that the list of blocks stays small beside them.

#include "bench_clock.h"
#include "bench_fail.h"
#include "bench_random.h"
#include "suite.h"
#include "suite_block.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LIVE_MAX = 1 << 24, PAGE = 4096, DROP_EVERY = 3 };

struct sizes {
    size_t least;
    unsigned octaves;
};

static const struct sizes phase_sizes[] = {{32, 5}, {256, 4}, {16, 12}, {2048, 7}, {64, 2}};

enum { PHASE_SIZES = sizeof phase_sizes / sizeof phase_sizes[0] };

struct block {
    size_t bytes;
    uint64_t tag;
};

static struct block *live[LIVE_MAX];
static size_t live_count;
static size_t live_bytes;
static size_t end_bytes; // live_bytes before everything is freed
static uint64_t operations;

static const char *curve_path;
static uint64_t curve_every = 1000;
static FILE *curve;

static void curve_open(const struct suite_options *options) {
    static char buffer[1 << 16];
    (void)options;
    if (!curve_path)
        return;
    curve = fopen(curve_path, "we");
    if (!curve)
        bench_fail(BENCH_EXIT_USAGE, "cannot write %s: %s", curve_path, strerror(errno));
    setvbuf(curve, buffer, _IOFBF, sizeof buffer);
    fprintf(curve, "seconds,live_bytes\n");
}

static void curve_point(void) {
    if (curve)
        fprintf(curve, "%.6f,%zu\n", (double)bench_clock_ns() / 1e9, live_bytes);
}

static void curve_close(void) {
    if (curve && (ferror(curve) | fclose(curve)) != 0)
        bench_fail(BENCH_EXIT_FAILED, "cannot write %s", curve_path);
}

static void make(size_t bytes) {
    struct block *block = suite_block_alloc(bytes);
    *block = (struct block){bytes, suite_block_tag((char *)block, bytes)};
    for (size_t at = PAGE; at < bytes; at += PAGE)
        ((char *)block)[at] = 1;
    live[live_count++] = block;
    live_bytes += bytes;
}

static void drop(size_t index) {
    struct block *block = live[index];
    if (block->tag != suite_block_tag((char *)block, block->bytes))
        suite_block_fail_changed(block, block->bytes);
    live[index] = live[--live_count];
    live_bytes -= block->bytes;
    *(volatile uint64_t *)&block->tag = 0; // a second owner would find it wrong
    free(block);
}

static void drop_to(struct bench_random *random, size_t bytes) {
    while (live_count != 0 && live_bytes > bytes)
        drop((size_t)bench_random_below(random, live_count));
}

static void phase(struct bench_random *random, const struct sizes *sizes, size_t target) {
    for (size_t made = 0; made < target + target / 2;) {
        size_t bytes = suite_size_octaves(random, sizes->least, sizes->octaves);
        drop_to(random, bytes < target ? target - bytes : 0);
        if (live_count == LIVE_MAX)
            drop((size_t)bench_random_below(random, live_count));
        make(bytes);
        made += bytes;
        if (operations++ % curve_every == 0)
            curve_point();
    }
}

static void run(const struct suite_options *options) {
    struct bench_random random = bench_random_seeded(options->seed, 0);
    for (uint64_t i = 0; i < options->work; i++) {
        if (i % DROP_EVERY == DROP_EVERY - 1) {
            drop_to(&random, options->bytes / 3);
            curve_point();
        }
        phase(&random, &phase_sizes[i % PHASE_SIZES], options->bytes);
    }
    curve_point();
    end_bytes = live_bytes;
    while (live_count != 0)
        drop(live_count - 1);
    curve_close();
}

static void report(bool json) {
    if (json)
        printf(", \"live_bytes\": %zu, \"operations\": %" PRIu64, end_bytes, operations);
    else
        printf("live    %zu bytes at the end, after %" PRIu64 " mallocs\n", end_bytes, operations);
}

static const struct suite_extra extras[] = {
    {"curve", SUITE_TEXT, &curve_path, 0, 0, "write seconds (CLOCK_MONOTONIC) and live_bytes here"},
    {"every", SUITE_WHOLE, &curve_every, 1, UINT64_MAX, "mallocs from one line to the next"},
    {0}};

const struct suite_shape suite_frag = {
    .name = "frag",
    .summary = "Phases of different sizes, with about as much live in each",
    .threads = 1,
    .threads_most = 1,
    .bytes = 64 << 20,
    .bytes_least = 1 << 20,
    .bytes_help = "what is live at most",
    .work = 5,
    .work_help = "phases",
    .extras = extras,
    .prepare = curve_open,
    .run = run,
    .report = report,
};
