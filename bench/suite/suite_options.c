#include "suite_options.h"

#include "bench_fail.h"
#include "bench_number.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXTRAS_MAX = 4, SEED = 256, MODE, JSON, HELP, EXTRA };

static const struct suite_extra no_extras[] = {{0}};

static const struct suite_extra *extras_of(const struct suite_shape *shape) {
    return shape->extras ? shape->extras : no_extras;
}

static void print_bytes(const char *help, size_t bytes) {
    const char *suffix = "";
    if (bytes >= 1 << 20 && bytes % (1 << 20) == 0)
        bytes >>= 20, suffix = "m";
    else if (bytes >= 1 << 10 && bytes % (1 << 10) == 0)
        bytes >>= 10, suffix = "k";
    printf("  -s, --size BYTES      %s; k, m, g may follow (%zu%s)\n", help, bytes, suffix);
}

static void print_extra(const struct suite_extra *extra) {
    char option[64];
    snprintf(option, sizeof option, "%s %s", extra->name, extra->kind == SUITE_TEXT ? "TEXT" : "N");
    printf("      --%-16s%s", option, extra->help);
    if (extra->kind == SUITE_WHOLE)
        printf(" (%" PRIu64 ")", *(const uint64_t *)extra->value);
    putchar('\n');
}

static void print_help(const struct suite_shape *shape) {
    printf("Usage: fallow-suite %s [options]\n%s.\n\n", shape->name, shape->summary);
    if (shape->threads_most > 1)
        printf("  -t, --threads N       %s (%u)\n", shape->threads_help, shape->threads);
    if (shape->bytes != 0)
        print_bytes(shape->bytes_help, shape->bytes);
    printf("  -n, --work N          %s (%" PRIu64 ")\n", shape->work_help, shape->work);
    for (const struct suite_extra *extra = extras_of(shape); extra->name; extra++)
        print_extra(extra);
    if (shape->modes)
        printf("      --mode MODE       one of the modes below (%s)\n", shape->modes[0].name);
    printf("      --seed N          of the random numbers (1)\n"
           "      --json            print one JSON object\n"
           "      --help            print this and stop\n");
    if (!shape->modes)
        return;
    putchar('\n');
    for (const struct suite_mode *mode = shape->modes; mode->name; mode++) {
        printf("  %-22s%s", mode->name, mode->help);
        if (mode->threads != 0)
            printf(" (-t %u)", mode->threads);
        putchar('\n');
    }
}

static unsigned parse_mode(const struct suite_shape *shape, const char *text) {
    unsigned i = 0;
    if (!shape->modes)
        bench_fail(BENCH_EXIT_USAGE, "%s has no modes", shape->name);
    while (shape->modes[i].name && strcmp(shape->modes[i].name, text) != 0)
        i++;
    if (!shape->modes[i].name)
        bench_fail(BENCH_EXIT_USAGE, "'%s' is not a mode of %s; try --help", text, shape->name);
    return i;
}

static void parse_extra(const struct suite_extra *extra, const char *text) {
    if (extra->kind == SUITE_TEXT)
        *(const char **)extra->value = text;
    else
        *(uint64_t *)extra->value =
            bench_number_whole(extra->name, text, extra->least, extra->most);
}

// The options that all shapes have, then the shape's own, which return EXTRA + index.
static void list_options(const struct suite_shape *shape, struct option *list) {
    static const struct option common[] = {
        {"threads", required_argument, NULL, 't'}, {"size", required_argument, NULL, 's'},
        {"work", required_argument, NULL, 'n'},    {"seed", required_argument, NULL, SEED},
        {"mode", required_argument, NULL, MODE},   {"json", no_argument, NULL, JSON},
        {"help", no_argument, NULL, HELP}};
    memcpy(list, common, sizeof common);
    list += sizeof common / sizeof common[0];
    const struct suite_extra *extras = extras_of(shape);
    for (int i = 0; extras[i].name; i++)
        *list++ = (struct option){extras[i].name, required_argument, NULL, EXTRA + i};
    *list = (struct option){0};
}

struct suite_options suite_options_parse(const struct suite_shape *shape, int count,
                                         char **arguments) {
    struct option list[7 + EXTRAS_MAX + 1];
    struct suite_options options = {.bytes = shape->bytes, .seed = 1};
    list_options(shape, list);
    int letter;
    while ((letter = getopt_long(count, arguments, "t:s:n:", list, NULL)) != -1) {
        switch (letter) {
        case 't':
            options.threads = (unsigned)bench_number_whole("-t", optarg, 1, shape->threads_most);
            break;
        case 's':
            if (shape->bytes == 0)
                bench_fail(BENCH_EXIT_USAGE, "%s has no option -s", shape->name);
            options.bytes = bench_number_bytes("-s", optarg, shape->bytes_least, PTRDIFF_MAX);
            break;
        case 'n':
            options.work = bench_number_whole("-n", optarg, 1, UINT64_MAX);
            break;
        case SEED:
            options.seed = bench_number_whole("--seed", optarg, 0, UINT64_MAX);
            break;
        case MODE:
            options.mode = parse_mode(shape, optarg);
            break;
        case JSON:
            options.json = true;
            break;
        case HELP:
            print_help(shape);
            exit(EXIT_SUCCESS);
        case '?':
            bench_fail(BENCH_EXIT_USAGE, "try %s --help", shape->name);
        default:
            parse_extra(&extras_of(shape)[letter - EXTRA], optarg);
        }
    }
    if (optind < count)
        bench_fail(BENCH_EXIT_USAGE, "'%s' is not an option; try --help", arguments[optind]);
    if (options.work == 0)
        options.work =
            shape->scale_work ? shape->scale_work(shape->work, options.bytes) : shape->work;
    if (options.threads == 0 && shape->modes)
        options.threads = shape->modes[options.mode].threads;
    if (options.threads == 0)
        options.threads = shape->threads;
    return options;
}
