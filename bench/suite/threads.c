// threads: many threads that do not live long. Each allocates some blocks, frees most of them, and
// leaves the others to the main thread, which joins it, frees them and starts another.

#include "bench_random.h"
#include "suite.h"
#include "suite_block.h"
#include "suite_threads.h"

enum { SIZE_LEAST = 16, SIZE_OCTAVES = 8, LEFT_ONE_IN = 16 };

static uint64_t block_count = 300;

struct job {
    _Alignas(128) struct bench_random random;
    struct suite_block *blocks;
    pthread_t thread;
};

static void *job_main(void *argument) {
    struct job *job = argument;
    struct bench_random random = job->random;
    for (size_t i = 0; i < block_count; i++)
        job->blocks[i] = suite_block_make(suite_size_octaves(&random, SIZE_LEAST, SIZE_OCTAVES));
    for (size_t i = 0; i < block_count; i++)
        if (i % LEFT_ONE_IN != 0)
            suite_block_drop(&job->blocks[i]);
    return NULL;
}

static void finish(struct job *job) {
    pthread_join(job->thread, NULL);
    suite_block_drop_all(job->blocks, block_count);
}

static void run(const struct suite_options *options) {
    static struct job jobs[SUITE_THREADS_MAX];
    unsigned threads =
        options->work < options->threads ? (unsigned)options->work : options->threads;
    for (unsigned i = 0; i < threads; i++)
        jobs[i].blocks = suite_block_zalloc(block_count, sizeof jobs[i].blocks[0]);
    unsigned next = 0;
    for (uint64_t i = 0; i < options->work; i++) {
        struct job *job = &jobs[next];
        next = next + 1 == threads ? 0 : next + 1;
        if (i >= threads)
            finish(job);
        job->random = bench_random_seeded(options->seed, i);
        job->thread = suite_thread_start(job_main, job);
    }
    for (unsigned i = 0; i < threads; i++) {
        finish(&jobs[i]);
        free(jobs[i].blocks);
    }
}

static const struct suite_extra extras[] = {
    {"blocks", SUITE_WHOLE, &block_count, 1, 1 << 24, "blocks of a thread"}, {0}};

const struct suite_shape suite_threads = {
    .name = "threads",
    .summary = "Short-lived threads that leave some of their blocks to the main thread",
    .threads = 2,
    .threads_most = SUITE_THREADS_MAX,
    .threads_help = "threads at a time, beside the main thread",
    .work = 6000,
    .work_help = "threads in all",
    .extras = extras,
    .run = run,
};
