// random: replacement at random among so many blocks that hardly any is in the cache.

#include "bench_random.h"
#include "suite.h"
#include "suite_block.h"
#include "suite_threads.h"

enum { SIZE_LEAST = 16 };

static uint64_t live_count = 100000;

static void body(const struct suite_options *options, unsigned index) {
    struct bench_random random = bench_random_seeded(options->seed, index);
    size_t count = suite_share(live_count, options->threads, index);
    uint64_t work = suite_share(options->work, options->threads, index);
    struct suite_block *slots = suite_block_zalloc(count, sizeof slots[0]);
    for (size_t i = 0; i < count; i++)
        slots[i] = suite_block_make(suite_size_uniform(&random, SIZE_LEAST, options->bytes));
    for (uint64_t i = 0; i < work; i++) {
        struct suite_block *slot = &slots[bench_random_below(&random, count)];
        suite_block_drop(slot);
        *slot = suite_block_make(suite_size_uniform(&random, SIZE_LEAST, options->bytes));
    }
    suite_block_drop_all(slots, count);
    free(slots);
}

static void run(const struct suite_options *options) {
    suite_threads_run(options, body);
}

static const struct suite_extra extras[] = {{"live", SUITE_WHOLE, &live_count, SUITE_THREADS_MAX,
                                             1 << 30, "live blocks, all threads together"},
                                            {0}};

const struct suite_shape suite_random = {
    .name = "random",
    .summary = "Random replacement in a large set of blocks from 16 B on",
    .threads = 1,
    .threads_most = SUITE_THREADS_MAX,
    .threads_help = "threads, each on its own",
    .bytes = 512,
    .bytes_least = SIZE_LEAST,
    .bytes_help = "largest block",
    .work = 4000000,
    .work_help = "replacements, all threads together",
    .extras = extras,
    .run = run,
};
