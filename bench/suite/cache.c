// cache: do threads get blocks that share a cache line? Each thread allocates a small block, adds
// to it many times, and frees it, over and over. In passive mode it first frees a block that the
// main thread has allocated beside those of the other threads.

#include "suite.h"
#include "suite_block.h"
#include "suite_threads.h"

#include <stdio.h>

enum { ACTIVE, PASSIVE };
enum { LINE = 64, SPARE_MAX = 64 };

static uint64_t writes = 1000;
static struct suite_block handed[SUITE_THREADS_MAX];
static uintptr_t last_lines[SUITE_THREADS_MAX]; // that each thread wrote
static unsigned thread_count;

// Returns the cache line that the block began in.
static uintptr_t write_block(size_t bytes, uint64_t times) {
    char *at = suite_block_alloc(bytes);
    volatile uint64_t *word = (volatile uint64_t *)at;
    *word = 0;
    for (uint64_t i = 0; i < times; i++)
        *word = *word + 1;
    if (*word != times)
        suite_block_fail_changed(at, bytes);
    free(at);
    return (uintptr_t)at / LINE;
}

static void body(const struct suite_options *options, unsigned index) {
    uintptr_t line = 0;
    suite_block_drop(&handed[index]);
    for (uint64_t left = suite_share(options->work, options->threads, index); left != 0; left--)
        line = write_block(options->bytes, writes);
    last_lines[index] = line; // only now: the array itself has lines that threads share
}

// The first block handed out starts in the first half of a cache line. So if the allocator puts
// blocks of two threads into one line at all, it does so in every run. Returns how many blocks went
// before it.
static size_t hand_out(const struct suite_options *options, struct suite_block *spare) {
    size_t count = 0;
    struct suite_block first = suite_block_make(options->bytes);
    while (count < SPARE_MAX && (uintptr_t)first.at % LINE >= LINE / 2) {
        spare[count++] = first;
        first = suite_block_make(options->bytes);
    }
    handed[0] = first;
    for (unsigned i = 1; i < options->threads; i++)
        handed[i] = suite_block_make(options->bytes);
    return count;
}

static void run(const struct suite_options *options) {
    struct suite_block spare[SPARE_MAX];
    size_t spare_count = options->mode == PASSIVE ? hand_out(options, spare) : 0;
    suite_threads_run(options, body);
    suite_block_drop_all(spare, spare_count);
    thread_count = options->threads;
}

static bool shares(unsigned index) {
    for (unsigned i = 0; i < thread_count; i++)
        if (i != index && last_lines[i] == last_lines[index])
            return true;
    return false;
}

static void report(bool json) {
    unsigned sharers = 0;
    for (unsigned i = 0; i < thread_count; i++)
        sharers += shares(i);
    if (json)
        printf(", \"sharing_threads\": %u", sharers);
    else
        printf("lines   %u thread%s wrote to another's at the end\n", sharers,
               sharers == 1 ? "" : "s");
}

static const struct suite_mode modes[] = {
    [ACTIVE] = {"active", "threads allocate their own blocks", 0},
    [PASSIVE] = {"passive", "each thread first frees a block of the main thread", 0},
    {0}};

static const struct suite_extra extras[] = {
    {"writes", SUITE_WHOLE, &writes, 1, UINT64_MAX, "additions to a block"}, {0}};

const struct suite_shape suite_cache = {
    .name = "cache",
    .summary = "Small blocks of several threads, written many times: false sharing",
    .threads = 2,
    .threads_most = SUITE_THREADS_MAX,
    .threads_help = "threads",
    .bytes = 8,
    .bytes_least = 8,
    .bytes_help = "size of the blocks",
    .work = 1200000,
    .work_help = "blocks, all threads together",
    .modes = modes,
    .extras = extras,
    .run = run,
    .report = report,
};
