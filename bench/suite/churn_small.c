// churn-small: small blocks of any size that come and go. A slot of a thread's array is picked at
// random: an empty one is filled, a full one emptied.

#include "bench_random.h"
#include "suite.h"
#include "suite_block.h"
#include "suite_threads.h"

static uint64_t slot_count = 4000;

static void body(const struct suite_options *options, unsigned index) {
    struct bench_random random = bench_random_seeded(options->seed, index);
    struct suite_block *slots = suite_block_zalloc(slot_count, sizeof slots[0]);
    uint64_t work = suite_share(options->work, options->threads, index);
    for (uint64_t i = 0; i < work; i++) {
        struct suite_block *slot = &slots[bench_random_below(&random, slot_count)];
        if (slot->at)
            suite_block_drop(slot);
        else
            *slot = suite_block_make(suite_size_uniform(&random, 1, options->bytes));
    }
    suite_block_drop_all(slots, slot_count);
    free(slots);
}

static void run(const struct suite_options *options) {
    suite_threads_run(options, body);
}

static const struct suite_extra extras[] = {
    {"slots", SUITE_WHOLE, &slot_count, 1, 1 << 24, "slots of a thread, half of them full"}, {0}};

const struct suite_shape suite_churn_small = {
    .name = "churn-small",
    .summary = "Random mallocs and frees of small blocks of any size",
    .threads = 1,
    .threads_most = SUITE_THREADS_MAX,
    .threads_help = "threads, each on its own",
    .bytes = 400,
    .bytes_least = 1,
    .bytes_help = "largest block",
    .work = 18000000,
    .work_help = "mallocs and frees, all threads together",
    .extras = extras,
    .run = run,
};
