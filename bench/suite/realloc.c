// realloc: growth. Some vectors grow by half from 16 bytes to megabytes; between two steps of
// theirs, many strings grow by a few bytes. What grows past its limit is checked, freed and begun
// anew. Bytes of a vector are written and checked one a page, those of a string all.

#include "bench_random.h"
#include "suite.h"
#include "suite_block.h"
#include "suite_threads.h"

enum { PAGE = 4096, VECTOR_LEAST = 16, STRING_MOST = 1024, STRING_STEP = 16 };

static uint64_t vector_count = 8;
static uint64_t string_count = 1000;
static uint64_t vector_every = 4000;

static char pattern(const struct suite_block *block, size_t at) {
    return (char)((uintptr_t)block / sizeof *block + at * 31 + at / PAGE);
}

static void check_byte(const struct suite_block *block, size_t at) {
    if (block->at[at] != pattern(block, at))
        suite_block_fail_changed(block->at, block->bytes);
}

static void fill(struct suite_block *block, size_t from, size_t stride) {
    for (size_t at = (from + stride - 1) / stride * stride; at < block->bytes; at += stride)
        block->at[at] = pattern(block, at);
}

static void finish(struct suite_block *block, size_t stride) {
    for (size_t at = 0; at < block->bytes; at += stride)
        check_byte(block, at);
    free(block->at);
    *block = (struct suite_block){0};
}

static void grow(struct suite_block *block, size_t bytes, size_t stride) {
    size_t old_bytes = block->bytes;
    char *at = realloc(block->at, bytes);
    if (!at)
        suite_block_fail_memory(bytes);
    *block = (struct suite_block){at, bytes};
    if (old_bytes != 0) {
        check_byte(block, 0);
        check_byte(block, (old_bytes - 1) / stride * stride);
    }
    fill(block, old_bytes, stride);
}

static void step_vector(struct suite_block *vector, size_t most) {
    size_t bytes = vector->bytes == 0 ? VECTOR_LEAST : vector->bytes + vector->bytes / 2;
    if (bytes > most)
        finish(vector, PAGE);
    else
        grow(vector, bytes, PAGE);
}

static void step_string(struct suite_block *string, struct bench_random *random) {
    size_t bytes = string->bytes + suite_size_uniform(random, 1, STRING_STEP);
    if (bytes > STRING_MOST)
        finish(string, 1);
    else
        grow(string, bytes, 1);
}

static void body(const struct suite_options *options, unsigned index) {
    struct bench_random random = bench_random_seeded(options->seed, index);
    struct suite_block *vectors = suite_block_zalloc(vector_count, sizeof vectors[0]);
    struct suite_block *strings = suite_block_zalloc(string_count, sizeof strings[0]);
    uint64_t work = suite_share(options->work, options->threads, index);
    for (uint64_t i = 0; i < work; i++) {
        if (i % vector_every == 0)
            step_vector(&vectors[i / vector_every % vector_count], options->bytes);
        else
            step_string(&strings[bench_random_below(&random, string_count)], &random);
    }
    for (size_t i = 0; i < vector_count; i++)
        finish(&vectors[i], PAGE);
    for (size_t i = 0; i < string_count; i++)
        finish(&strings[i], 1);
    free(strings);
    free(vectors);
}

static void run(const struct suite_options *options) {
    suite_threads_run(options, body);
}

static const struct suite_extra extras[] = {
    {"vectors", SUITE_WHOLE, &vector_count, 1, 1 << 20, "vectors of a thread"},
    {"strings", SUITE_WHOLE, &string_count, 1, 1 << 24, "strings of a thread"},
    {"every", SUITE_WHOLE, &vector_every, 1, UINT64_MAX, "one step in so many is a vector's"},
    {0}};

const struct suite_shape suite_realloc = {
    .name = "realloc",
    .summary = "Vectors that grow by half up to 16 MiB, and strings that grow by a few bytes",
    .threads = 1,
    .threads_most = SUITE_THREADS_MAX,
    .threads_help = "threads, each on its own",
    .bytes = 16 << 20,
    .bytes_least = VECTOR_LEAST,
    .bytes_help = "largest vector",
    .work = 4500000,
    .work_help = "steps, all threads together",
    .extras = extras,
    .run = run,
};
