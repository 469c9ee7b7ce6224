// fallow-suite: patterns of allocation, one a run, each with a fixed amount of work. Every shape
// checks what it wrote before it frees. What a process holds meanwhile is for others to sample:
// there is no thread here that a shape does not need, and with one thread most have none.

#include "suite.h"

#include "bench_clock.h"
#include "bench_fail.h"
#include "bench_json.h"
#include "suite_options.h"
#include "which_malloc.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct suite_shape *const shapes[] = {
    &suite_larson, &suite_xthread, &suite_churn_small, &suite_random, &suite_big,  &suite_realloc,
    &suite_calloc, &suite_strings, &suite_tree,        &suite_cache,  &suite_frag, &suite_threads,
};

enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static void print_help(void) {
    printf("Usage: fallow-suite SHAPE [options]\n"
           "Times one pattern of allocation; SHAPE --help lists its options.\n\n");
    for (int i = 0; i < SHAPES; i++)
        printf("  %-13s%s\n", shapes[i]->name, shapes[i]->summary);
}

static const struct suite_shape *find_shape(const char *name) {
    for (int i = 0; i < SHAPES; i++)
        if (strcmp(shapes[i]->name, name) == 0)
            return shapes[i];
    bench_fail(BENCH_EXIT_USAGE, "'%s' is not a shape; try --help", name);
}

static void print_json(const struct suite_shape *shape, const struct suite_options *options,
                       double seconds, const struct which_malloc *which) {
    printf("{");
    bench_json_string("shape", shape->name);
    printf(", ");
    bench_json_string("mode", shape->modes ? shape->modes[options->mode].name : "");
    printf(", \"threads\": %u, \"bytes\": %zu, \"work\": %" PRIu64 ", \"seconds\": %.6f, ",
           options->threads, options->bytes, options->work, seconds);
    bench_json_malloc(which);
    if (shape->report)
        shape->report(true);
    printf("}\n");
}

static void print_text(const struct suite_shape *shape, const struct suite_options *options,
                       double seconds, const struct which_malloc *which) {
    printf("%.3f seconds\n", seconds);
    if (shape->report)
        shape->report(false);
    printf("malloc  %s (%s)\n", which->name, which->path);
    printf("run     %s", shape->name);
    if (shape->modes)
        printf(" %s", shape->modes[options->mode].name);
    if (options->bytes != 0)
        printf(", %zu bytes", options->bytes);
    printf(", -n %" PRIu64 ", -t %u\n", options->work, options->threads);
}

int main(int argc, char **argv) {
    if (argc < 2)
        bench_fail(BENCH_EXIT_USAGE, "which shape? try --help");
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_help();
        return EXIT_SUCCESS;
    }
    const struct suite_shape *shape = find_shape(argv[1]);
    static struct suite_options options; // threads read it
    options = suite_options_parse(shape, argc - 1, argv + 1);
    static struct which_malloc which;
    which_malloc_find(&which);

    if (shape->prepare)
        shape->prepare(&options);
    uint64_t start_ns = bench_clock_ns();
    shape->run(&options);
    double seconds = (double)(bench_clock_ns() - start_ns) / 1e9;

    if (options.json)
        print_json(shape, &options, seconds, &which);
    else
        print_text(shape, &options, seconds, &which);
    if (fflush(stdout) != 0 || ferror(stdout))
        bench_fail(BENCH_EXIT_FAILED, "cannot write the report");
    return EXIT_SUCCESS;
}
