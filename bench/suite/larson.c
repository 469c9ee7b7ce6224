// larson: a server whose threads do not live long. Each lane has an array of blocks, one of which
// is replaced at random, over and over. Every so often the lane's thread starts another, leaves the
// array to it and ends; so what is freed was often allocated by a thread that is gone. The
// successor waits for that end first.

#include "bench_random.h"
#include "suite.h"
#include "suite_block.h"
#include "suite_threads.h"

#include <semaphore.h>

enum { SIZE_LEAST = 16, SIZE_OCTAVES = 6 };

static uint64_t slot_count = 1000;
static uint64_t generation = 20000;

struct lane {
    _Alignas(128) struct suite_block *slots;
    struct bench_random random;
    uint64_t left;
    pthread_t previous; // the last thread that worked here
    bool inherited;     // by a successor, who joins it
};

static struct lane lanes[SUITE_THREADS_MAX];
static sem_t finished;

static void *lane_main(void *argument) {
    struct lane *lane = argument;
    struct suite_block *slots = lane->slots;
    struct bench_random random = lane->random;
    if (lane->inherited)
        pthread_join(lane->previous, NULL);

    uint64_t turns = lane->left < generation ? lane->left : generation;
    for (uint64_t i = 0; i < turns; i++) {
        struct suite_block *slot = &slots[bench_random_below(&random, slot_count)];
        suite_block_drop(slot);
        *slot = suite_block_make(suite_size_octaves(&random, SIZE_LEAST, SIZE_OCTAVES));
    }

    lane->left -= turns;
    lane->random = random;
    lane->previous = pthread_self();
    lane->inherited = lane->left != 0;
    if (lane->inherited)
        suite_thread_start(lane_main, lane);
    else
        sem_post(&finished);
    return NULL;
}

static void run(const struct suite_options *options) {
    sem_init(&finished, 0, 0);
    for (unsigned i = 0; i < options->threads; i++) {
        lanes[i].slots = suite_block_zalloc(slot_count, sizeof lanes[i].slots[0]);
        lanes[i].random = bench_random_seeded(options->seed, i);
        lanes[i].left = suite_share(options->work, options->threads, i);
        suite_thread_start(lane_main, &lanes[i]);
    }
    for (unsigned i = 0; i < options->threads; i++)
        while (sem_wait(&finished) != 0) {} // interrupted
    for (unsigned i = 0; i < options->threads; i++) {
        pthread_join(lanes[i].previous, NULL);
        suite_block_drop_all(lanes[i].slots, slot_count);
        free(lanes[i].slots);
    }
    sem_destroy(&finished);
}

static const struct suite_extra extras[] = {
    {"slots", SUITE_WHOLE, &slot_count, 1, 1 << 24, "blocks of a thread"},
    {"generation", SUITE_WHOLE, &generation, 1, UINT64_MAX, "replacements in a thread's life"},
    {0}};

const struct suite_shape suite_larson = {
    .name = "larson",
    .summary = "Random replacement of 16 B to 1 KiB by threads that succeed one another",
    .threads = 2,
    .threads_most = SUITE_THREADS_MAX,
    .threads_help = "threads at a time",
    .work = 20000000,
    .work_help = "replacements, all threads together",
    .extras = extras,
    .run = run,
};
