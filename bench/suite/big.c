// big: blocks of megabytes, replaced at random, with a byte of each page written. A sampled page
// and both ends are checked before a block is freed.

#include "bench_random.h"
#include "suite.h"
#include "suite_block.h"
#include "suite_threads.h"

enum { SIZE_LEAST = 1 << 20, PAGE = 4096 };

static uint64_t live_count = 16;

// Every power of two times SIZE_LEAST up to the largest is as likely to begin the range that a size
// is picked from.
static size_t pick_bytes(struct bench_random *random, size_t most) {
    unsigned octaves = (unsigned)(__builtin_clzll(SIZE_LEAST) - __builtin_clzll(most - 1)) + 1;
    size_t bytes;
    do
        bytes = suite_size_octaves(random, SIZE_LEAST, octaves);
    while (bytes > most);
    return bytes;
}

static char page_byte(const struct suite_block *block, size_t at) {
    return (char)(suite_block_tag(block->at, block->bytes) + at / PAGE);
}

static void replace(struct suite_block *block, struct bench_random *random, size_t most) {
    if (block->at) {
        size_t at = PAGE / 2 + bench_random_below(random, block->bytes / PAGE) * PAGE;
        if (block->at[at] != page_byte(block, at))
            suite_block_fail_changed(block->at, block->bytes);
        suite_block_drop(block);
    }
    *block = suite_block_make(pick_bytes(random, most));
    for (size_t at = PAGE / 2; at < block->bytes - 1; at += PAGE)
        block->at[at] = page_byte(block, at);
}

static void body(const struct suite_options *options, unsigned index) {
    struct bench_random random = bench_random_seeded(options->seed, index);
    struct suite_block *slots = suite_block_zalloc(live_count, sizeof slots[0]);
    uint64_t work = suite_share(options->work, options->threads, index);
    for (uint64_t i = 0; i < work; i++)
        replace(&slots[bench_random_below(&random, live_count)], &random, options->bytes);
    suite_block_drop_all(slots, live_count);
    free(slots);
}

static void run(const struct suite_options *options) {
    suite_threads_run(options, body);
}

static const struct suite_extra extras[] = {
    {"live", SUITE_WHOLE, &live_count, 1, 1 << 20, "live blocks of a thread"}, {0}};

const struct suite_shape suite_big = {
    .name = "big",
    .summary = "Random replacement of blocks of 1 MiB to 64 MiB whose pages are written",
    .threads = 1,
    .threads_most = SUITE_THREADS_MAX,
    .threads_help = "threads, each on its own",
    .bytes = 64 << 20,
    .bytes_least = 2 << 20,
    .bytes_help = "largest block",
    .work = 150,
    .work_help = "replacements, all threads together",
    .extras = extras,
    .run = run,
};
