// calloc: zeroed blocks of all sizes, replaced at random. Sampled bytes are checked to be zero and
// written, which touches every page: all of the first SAMPLE_STRIDE, then one in so many.

#include "bench_random.h"
#include "suite.h"
#include "suite_block.h"
#include "suite_threads.h"

enum { SIZE_LEAST = 16, SIZE_OCTAVES = 16, SAMPLE_STRIDE = 512 };

static uint64_t live_count = 256;

static void use_byte(struct suite_block *block, size_t at) {
    if (block->at[at] != 0)
        suite_block_fail_changed(block->at, block->bytes);
    block->at[at] = 1;
}

static struct suite_block make(size_t bytes) {
    struct suite_block block = {suite_block_zalloc(1, bytes), bytes};
    size_t dense = bytes < SAMPLE_STRIDE ? bytes : SAMPLE_STRIDE;
    for (size_t at = 0; at < dense; at++)
        use_byte(&block, at);
    for (size_t at = dense; at < bytes; at += SAMPLE_STRIDE)
        use_byte(&block, at);
    if ((unsigned char)block.at[bytes - 1] > 1)
        suite_block_fail_changed(block.at, bytes);
    suite_block_mark(block.at, bytes);
    return block;
}

static void body(const struct suite_options *options, unsigned index) {
    struct bench_random random = bench_random_seeded(options->seed, index);
    struct suite_block *slots = suite_block_zalloc(live_count, sizeof slots[0]);
    uint64_t work = suite_share(options->work, options->threads, index);
    for (uint64_t i = 0; i < work; i++) {
        struct suite_block *slot = &slots[bench_random_below(&random, live_count)];
        suite_block_drop(slot);
        *slot = make(suite_size_octaves(&random, SIZE_LEAST, SIZE_OCTAVES));
    }
    suite_block_drop_all(slots, live_count);
    free(slots);
}

static void run(const struct suite_options *options) {
    suite_threads_run(options, body);
}

static const struct suite_extra extras[] = {
    {"live", SUITE_WHOLE, &live_count, 1, 1 << 20, "live blocks of a thread"}, {0}};

const struct suite_shape suite_calloc = {
    .name = "calloc",
    .summary = "Random replacement of zeroed blocks of 16 B to 1 MiB",
    .threads = 1,
    .threads_most = SUITE_THREADS_MAX,
    .threads_help = "threads, each on its own",
    .work = 60000,
    .work_help = "replacements, all threads together",
    .extras = extras,
    .run = run,
};
