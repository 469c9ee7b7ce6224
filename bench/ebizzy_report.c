// What a run has to say, for people and as one JSON object. All memory is in KiB, as in smaps. With
// phases, the rate is per second of load.

#include "ebizzy_report.h"

#include "bench_json.h"
#include "rss_sampler.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>

static const char *const moment_names[] = {
    [RSS_MOMENT_START] = "start",
    [RSS_MOMENT_LOAD] = "load",
    [RSS_MOMENT_IDLE] = "idle",
    [RSS_MOMENT_END] = "end",
};

static uint64_t kernel_peak_kib(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_maxrss;
}

static double rate(const struct ebizzy_result *result) {
    return (double)result->records / result->load_s;
}

static void text_settings(const struct ebizzy_options *options) {
    static const struct {
        size_t offset;
        const char *name;
    } switches[] = {
        {offsetof(struct ebizzy_options, use_mmap), "-m"},
        {offsetof(struct ebizzy_options, no_mmap_threshold), "-M"},
        {offsetof(struct ebizzy_options, touch_only), "-T"},
        {offsetof(struct ebizzy_options, loop_copy), "-l"},
        {offsetof(struct ebizzy_options, random_size), "-R"},
        {offsetof(struct ebizzy_options, linear_search), "-z"},
        {offsetof(struct ebizzy_options, protect_even), "-p"},
        {offsetof(struct ebizzy_options, holes), "-P"},
    };
    printf("run     %u thread%s, %zu chunks of %zu bytes, rng %s, seed %" PRIu64, options->threads,
           options->threads == 1 ? "" : "s", options->chunks, options->chunk_bytes,
           ebizzy_options_rng_name(options->rng), options->seed);
    if (options->hold)
        printf(", hold %zu", options->hold);
    if (options->phases)
        printf(", phases of %u ms load (the rate is theirs) and %u ms idleness", options->load_ms,
               options->idle_ms);
    for (size_t i = 0; i < sizeof switches / sizeof switches[0]; i++)
        if (*(const bool *)((const char *)options + switches[i].offset))
            printf(", %s", switches[i].name);
    putchar('\n');
}

static void text_summary(enum rss_moment moment) {
    struct rss_summary summary = rss_sampler_summary(moment);
    if (summary.samples == 0)
        return;
    printf("  %-6s %8" PRIu64 " %8.0f   %8" PRIu64 " %8.0f   %8" PRIu64 " %8.0f   %7zu\n",
           moment_names[moment], summary.honest.peak_kib, summary.honest.mean_kib,
           summary.rss.peak_kib, summary.rss.mean_kib, summary.lazy.peak_kib, summary.lazy.mean_kib,
           summary.samples);
}

static void text_memory(void) {
    const struct rss_sample *samples;
    if (rss_sampler_samples(&samples) == 0) {
        printf("memory  no smaps_rollup here; peak RSS by the kernel's account %" PRIu64 " KiB\n",
               kernel_peak_kib());
        return;
    }
    printf("memory   honest RSS          RSS                 LazyFree            samples\n"
           "  KiB        peak     mean       peak     mean       peak     mean\n");
    for (size_t m = 0; m < sizeof moment_names / sizeof moment_names[0]; m++)
        text_summary((enum rss_moment)m);
}

static void text_details(const struct ebizzy_options *options, const struct ebizzy_result *result) {
    printf("records %" PRIu64 "; by thread:", result->records);
    for (unsigned i = 0; i < options->threads; i++)
        printf(" %" PRIu64, result->thread_records[i]);
    printf("\nsamples cost %.1f ms of CPU time in the window; each (ms, moment, Rss KiB, LazyFree "
           "KiB):\n",
           (double)rss_sampler_cost_ns() / 1e6);
    const struct rss_sample *samples;
    size_t count = rss_sampler_samples(&samples);
    for (size_t i = 0; i < count; i++)
        printf("  %8.0f %-5s %8" PRIu64 " %8" PRIu64 "\n", (double)samples[i].at_ns / 1e6,
               moment_names[samples[i].moment], samples[i].rss_kib, samples[i].lazy_kib);
}

void ebizzy_report_text(const struct ebizzy_options *options, const struct which_malloc *which,
                        const struct ebizzy_result *result) {
    printf("%.0f records/s\n", rate(result));
    printf("real %6.2f s\nuser %6.2f s\nsys  %6.2f s\n", result->real_s, result->user_s,
           result->system_s);
    if (options->use_mmap)
        printf("malloc  not used: mmap and munmap\n");
    else
        printf("malloc  %s (%s)\n", which->name, which->path);
    text_settings(options);
    text_memory();
    if (options->verbose)
        text_details(options, result);
}

static void json_bool(const char *name, bool value) {
    printf("    \"%s\": %s,\n", name, value ? "true" : "false");
}

static void json_settings(const struct ebizzy_options *options) {
    printf("  \"settings\": {\n"
           "    \"threads\": %u,\n    \"chunks\": %zu,\n    \"chunk_bytes\": %zu,\n",
           options->threads, options->chunks, options->chunk_bytes);
    if (options->records)
        printf("    \"records_per_thread\": %" PRIu64 ",\n", options->records);
    else
        printf("    \"seconds\": %g,\n", options->seconds);
    json_bool("mmap", options->use_mmap);
    json_bool("no_mmap_threshold", options->no_mmap_threshold);
    json_bool("touch", options->touch_only);
    json_bool("loop_copy", options->loop_copy);
    json_bool("random_size", options->random_size);
    json_bool("linear", options->linear_search);
    json_bool("protect", options->protect_even);
    json_bool("holes", options->holes);
    json_bool("phases", options->phases);
    if (options->phases)
        printf("    \"load_ms\": %u,\n    \"idle_ms\": %u,\n", options->load_ms, options->idle_ms);
    printf("    \"rng\": \"%s\",\n    \"seed\": %" PRIu64
           ",\n    \"hold\": %zu,\n    \"sample_ms\": %u\n  },\n",
           ebizzy_options_rng_name(options->rng), options->seed, options->hold, options->sample_ms);
}

static void json_summary(enum rss_moment moment) {
    struct rss_summary summary = rss_sampler_summary(moment);
    printf("    \"%s\": {\"samples\": %zu", moment_names[moment], summary.samples);
    if (summary.samples)
        printf(", \"rss_peak_kib\": %" PRIu64
               ", \"rss_mean_kib\": %.0f, \"lazy_peak_kib\": %" PRIu64
               ", \"lazy_mean_kib\": %.0f, \"honest_peak_kib\": %" PRIu64
               ", \"honest_mean_kib\": %.0f",
               summary.rss.peak_kib, summary.rss.mean_kib, summary.lazy.peak_kib,
               summary.lazy.mean_kib, summary.honest.peak_kib, summary.honest.mean_kib);
    printf("},\n");
}

static void json_memory(void) {
    printf("  \"memory\": {\n");
    for (size_t m = 0; m < sizeof moment_names / sizeof moment_names[0]; m++)
        json_summary((enum rss_moment)m);
    printf("    \"kernel_peak_kib\": %" PRIu64
           ",\n    \"sampling_cpu_ms\": %.3f,\n    \"series\": [",
           kernel_peak_kib(), (double)rss_sampler_cost_ns() / 1e6);
    const struct rss_sample *samples;
    size_t count = rss_sampler_samples(&samples);
    for (size_t i = 0; i < count; i++)
        printf("%s\n      {\"at_ms\": %.1f, \"moment\": \"%s\", \"rss_kib\": %" PRIu64
               ", \"lazy_kib\": %" PRIu64 "}",
               i ? "," : "", (double)samples[i].at_ns / 1e6, moment_names[samples[i].moment],
               samples[i].rss_kib, samples[i].lazy_kib);
    printf("%s]\n  }\n", count ? "\n    " : "");
}

void ebizzy_report_json(const struct ebizzy_options *options, const struct which_malloc *which,
                        const struct ebizzy_result *result) {
    printf("{\n  \"records_per_second\": %.2f,\n  \"records\": %" PRIu64 ",\n", rate(result),
           result->records);
    printf("  \"real_s\": %.6f,\n  \"load_s\": %.6f,\n  \"user_s\": %.6f,\n  \"sys_s\": %.6f,\n",
           result->real_s, result->load_s, result->user_s, result->system_s);
    printf("  ");
    bench_json_malloc(which);
    printf(",\n  \"thread_records\": [");
    for (unsigned i = 0; i < options->threads; i++)
        printf("%s%" PRIu64, i ? ", " : "", result->thread_records[i]);
    printf("],\n");
    json_settings(options);
    json_memory();
    printf("}\n");
}
