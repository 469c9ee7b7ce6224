// xthread: blocks that one thread allocates and another frees. They travel in batches, through
// rings that hold a limited number of these; so what is live is limited, too.

#include "suite.h"
#include "suite_block.h"
#include "suite_threads.h"
#include "xthread_ring.h"

enum { BATCH_MAX = 4096, DEPTH_MAX = 4096, PAIRS_MAX = SUITE_THREADS_MAX / 2, SCALE_BYTES = 64 };
enum { ONE_WAY, TWO_WAY, FAN_IN, FAN_OUT };

static uint64_t batch_blocks = 64;
static uint64_t depth = 16;

// What one thread does: allocate work blocks for out, free what comes in, or both by turns.
struct role {
    const struct suite_options *options;
    struct xthread_ring *out, *in; // or NULL
    uint64_t work;
    pthread_t thread;
};

static struct xthread_ring rings[SUITE_THREADS_MAX];
static struct role roles[SUITE_THREADS_MAX + 1];

// Returns how many blocks of the work are left.
static uint64_t push_batch(const struct role *role, uint64_t left) {
    char *blocks[BATCH_MAX];
    size_t count = left < batch_blocks ? left : batch_blocks;
    for (size_t i = 0; i < count; i++)
        blocks[i] = suite_block_make(role->options->bytes).at;
    xthread_ring_push(role->out, blocks, count);
    return left - count;
}

// False at the end.
static bool pop_batch(const struct role *role) {
    char *blocks[BATCH_MAX];
    size_t count = xthread_ring_pop(role->in, blocks);
    for (size_t i = 0; i < count; i++) {
        struct suite_block block = {blocks[i], role->options->bytes};
        suite_block_drop(&block);
    }
    return count != 0;
}

// A thread that does both pops one batch for each that it pushes, but is half a ring ahead; so it
// need not wait at every turn, and never do both sides wait for room.
static void *role_main(void *argument) {
    const struct role *role = argument;
    uint64_t left = role->work;
    for (uint64_t turn = 0; left != 0; turn++) {
        left = push_batch(role, left);
        if (role->in && turn >= depth / 2)
            pop_batch(role);
    }
    if (role->out)
        xthread_ring_close(role->out);
    while (role->in && pop_batch(role)) {}
    return NULL;
}

// Returns how many threads it takes.
static unsigned cast_pairs(const struct suite_options *options, bool both) {
    for (size_t i = 0; i < options->threads; i++) {
        struct xthread_ring *there = &rings[2 * i], *back = &rings[2 * i + 1];
        uint64_t work = suite_share(options->work, options->threads, (unsigned)i);
        xthread_ring_open(there, depth, batch_blocks, 1);
        if (both)
            xthread_ring_open(back, depth, batch_blocks, 1);
        roles[2 * i] = (struct role){
            .out = there, .in = both ? back : NULL, .work = both ? suite_share(work, 2, 0) : work};
        roles[2 * i + 1] = (struct role){
            .out = both ? back : NULL, .in = there, .work = both ? suite_share(work, 2, 1) : 0};
    }
    return 2 * options->threads;
}

// One thread with many opposite, and one ring for all of them.
static unsigned cast_fan(const struct suite_options *options, bool in) {
    xthread_ring_open(&rings[0], depth, batch_blocks, in ? options->threads : 1);
    for (unsigned i = 0; i < options->threads; i++) {
        if (in)
            roles[i + 1] = (struct role){.out = &rings[0],
                                         .work = suite_share(options->work, options->threads, i)};
        else
            roles[i + 1] = (struct role){.in = &rings[0]};
    }
    if (in)
        roles[0] = (struct role){.in = &rings[0]};
    else
        roles[0] = (struct role){.out = &rings[0], .work = options->work};
    return options->threads + 1;
}

static void run(const struct suite_options *options) {
    unsigned count = options->mode == ONE_WAY || options->mode == TWO_WAY
                         ? cast_pairs(options, options->mode == TWO_WAY)
                         : cast_fan(options, options->mode == FAN_IN);
    for (unsigned i = 0; i < count; i++) {
        roles[i].options = options;
        roles[i].thread = suite_thread_start(role_main, &roles[i]);
    }
    for (unsigned i = 0; i < count; i++)
        pthread_join(roles[i].thread, NULL);
    for (unsigned i = 0; i < SUITE_THREADS_MAX; i++)
        if (rings[i].depth != 0)
            xthread_ring_destroy(&rings[i]);
}

// Half as many for each fourfold size above SCALE_BYTES.
static uint64_t scale_work(uint64_t work, size_t bytes) {
    for (; bytes / 4 >= SCALE_BYTES && work > 1; bytes /= 4)
        work /= 2;
    return work;
}

static const struct suite_mode modes[] = {
    [ONE_WAY] = {"one-way", "each producer has a consumer", 1},
    [TWO_WAY] = {"two-way", "pairs of threads send each other blocks", 1},
    [FAN_IN] = {"fan-in", "many producers, one consumer", 4},
    [FAN_OUT] = {"fan-out", "one producer, many consumers", 4},
    {0}};

static const struct suite_extra extras[] = {
    {"batch", SUITE_WHOLE, &batch_blocks, 1, BATCH_MAX, "blocks of a batch"},
    {"depth", SUITE_WHOLE, &depth, 1, DEPTH_MAX, "batches that wait in a ring at most"},
    {0}};

const struct suite_shape suite_xthread = {
    .name = "xthread",
    .summary = "Blocks that another thread frees",
    .threads = 1,
    .threads_most = PAIRS_MAX,
    .threads_help = "pairs, or the many threads of a fan",
    .bytes = 64,
    .bytes_least = 1,
    .bytes_help = "size of the blocks",
    .work = 6000000,
    .work_help = "blocks, all threads together; without -n fewer if larger",
    .scale_work = scale_work,
    .modes = modes,
    .extras = extras,
    .run = run,
};
