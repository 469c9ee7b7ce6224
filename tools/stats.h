/* What fallow stats knows of a process, and the three forms in which it says so. */
#pragma once

#include "heap_census.h"
#include "heap_view.h"
#include "tool_cgroup.h"
#include "tool_process.h"

enum { STATS_TEXT_BYTES = 64 };

struct stats_counter {
    char name[STATS_TEXT_BYTES];
    uint64_t value;
};

struct stats_option {
    char name[STATS_TEXT_BYTES], value[STATS_TEXT_BYTES];
};

struct stats {
    pid_t pid;
    char name[PROCESS_NAME_BYTES];
    struct heap_view view;
    struct heap_sums sums;
    struct heap_threads threads;
    struct heap_census why;
    struct process_memory memory;
    struct cgroup_memory cgroup; /* usage 0: none */
    size_t counter_count, option_count;
    struct stats_counter *counters;
    struct stats_option *options;
};

/* A status, with a message if it is not TOOL_OK. Whatever it is, stats_free() is due. */
int stats_read(pid_t pid, struct stats *out);
void stats_free(struct stats *stats);

/* A figure: where it is, and what the forms call it. */
struct stats_figure {
    const char *key, *text;
    size_t offset; /* of a uint64_t of struct stats */
};

/* Ended by one without a key. */
extern const struct stats_figure stats_heap_figures[], stats_resident_figures[],
    stats_why_figures[];

static inline uint64_t stats_value(const struct stats *stats, const struct stats_figure *figure) {
    return *(const uint64_t *)(const void *)((const char *)stats + figure->offset);
}

void stats_print_text(const struct stats *stats);
void stats_print_json(const struct stats *stats);
/* Of all at once: each metric is named once. `open`: OpenMetrics, else the text format of Prometheus. */
void stats_print_metrics(const struct stats *stats, size_t count, bool open);
