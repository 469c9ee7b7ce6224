/* fallow stats: the heap of a running process, from outside. */
#include "stats.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"
#include "tool_json.h"
#include "tool_print.h"
#include "tool_watch.h"

static const char stats_help[] =
    "Usage: fallow stats [--json | --prometheus | --openmetrics | --watch [-i SECONDS] [-n COUNT]] PID...\n"
    "\n"
    "The heap of a process that has Fallow preloaded or linked, statically and stripped as well: read from\n"
    "outside while it runs; it neither helps nor notices. Its states, its resident set, why that is as large\n"
    "as it is, options and counters.\n"
    "\n"
    "  -j, --json         JSON\n"
    "  -p, --prometheus   metrics in the text format of Prometheus\n"
    "  -o, --openmetrics  metrics in the OpenMetrics format\n"
    "  -w, --watch        the heap by state as bars, again and again; until the last has ended\n"
    "  -i, --interval S   seconds between looks (1)\n"
    "  -n, --count N      end after so many looks\n";

struct stats_options_line {
    bool json, prometheus, openmetrics, watch;
    struct watch_times times;
};

/* --- watching --- */

struct stats_watch {
    struct stats_watched {
        struct heap_view view;
        char name[PROCESS_NAME_BYTES];
        bool gone;
    } * processes;
    size_t count;
};

static void stats_watch_bars(const struct heap_sums *sums, const struct process_memory *memory) {
    enum { NAME_COLUMNS = 14, FIGURE_COLUMNS = 14, BAR_LEAST = 10 };
    const struct {
        const char *name;
        uint64_t bytes;
        bool is_lazy;
    } rows[] = {{"active", sums->active, false},
                {"dirty", sums->dirty, false},
                {"lazy", sums->lazy, true},
                {"busy", sums->busy, false},
                {"clean", sums->clean, true},
                {"metadata", sums->metadata, false},
                {"honest RSS", memory->rss - memory->lazy, false},
                {"LazyFree", memory->lazy, true}};
    unsigned columns = print_columns();
    unsigned bar = columns > NAME_COLUMNS + FIGURE_COLUMNS + BAR_LEAST
                       ? columns - NAME_COLUMNS - FIGURE_COLUMNS
                       : BAR_LEAST;
    uint64_t full = sums->mapped > memory->rss ? sums->mapped : memory->rss;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        watch_line_start();
        printf("  %-11s|", rows[i].name);
        print_bar(bar - 1, rows[i].is_lazy ? 0 : rows[i].bytes, rows[i].is_lazy ? rows[i].bytes : 0,
                  full);
        printf("| %11s", print_bytes(rows[i].bytes));
        watch_line_end();
    }
}

static bool stats_watch_look(void *context) {
    struct stats_watch *watch = context;
    bool any = false;
    for (size_t i = 0; i < watch->count; i++) {
        struct stats_watched *process = &watch->processes[i];
        struct heap_sums sums = {0};
        struct process_memory memory = {0};
        process->gone = process->gone || !heap_sums_read(&process->view, &sums) ||
                        process_sum_try(process->view.pid, &memory) != 0;
        watch_line_start();
        print_clean(process->name);
        if (process->gone)
            printf(" (%d) has ended", (int)process->view.pid);
        else
            printf(" (%d), mapped %s, kernel RSS %s", (int)process->view.pid,
                   print_bytes(sums.mapped), print_bytes(memory.rss));
        watch_line_end();
        stats_watch_bars(&sums, &memory);
        any |= !process->gone;
    }
    return any;
}

static int stats_watch(char **pids, size_t count, const struct stats_options_line *options) {
    struct stats_watch watch = {calloc(count, sizeof *watch.processes), count};
    int status = TOOL_OK;
    if (watch.processes == NULL)
        return tool_error(TOOL_FAILED, "%s", strerror(errno));
    for (size_t i = 0; i < count && status == TOOL_OK; i++) {
        pid_t pid = 0;
        (void)tool_pid(pids[i], &pid);
        status = heap_view_open(pid, &watch.processes[i].view);
        process_name(pid, watch.processes[i].name);
    }
    if (status == TOOL_OK)
        watch_run(&options->times, stats_watch_look, &watch);
    free(watch.processes);
    return status;
}

/* --- once --- */

/* All that can be read is printed, and the first status that is not TOOL_OK returned. */
static int stats_each(char **pids, size_t count, const struct stats_options_line *options) {
    struct stats *all = calloc(count, sizeof *all);
    size_t read = 0;
    int worst = TOOL_OK;
    bool metrics = options->prometheus || options->openmetrics;
    if (all == NULL)
        return tool_error(TOOL_FAILED, "%s", strerror(errno));
    for (size_t i = 0; i < count; i++) {
        pid_t pid = 0;
        (void)tool_pid(pids[i], &pid);
        int status = stats_read(pid, &all[read]);
        if (status == TOOL_OK)
            read++;
        else
            stats_free(&all[read]);
        worst = worst == TOOL_OK ? status : worst;
    }
    if (options->json)
        json_array(NULL);
    for (size_t i = 0; i < read && !metrics; i++) {
        if (options->json)
            stats_print_json(&all[i]);
        else
            stats_print_text(&all[i]);
    }
    if (options->json)
        json_end();
    if (metrics && read > 0)
        stats_print_metrics(all, read, options->openmetrics);
    for (size_t i = 0; i < read; i++)
        stats_free(&all[i]);
    free(all);
    return worst;
}

int stats_main(int argc, char **argv) {
    static const struct option longs[] = {
        {"json", no_argument, NULL, 'j'},           {"prometheus", no_argument, NULL, 'p'},
        {"openmetrics", no_argument, NULL, 'o'},    {"watch", no_argument, NULL, 'w'},
        {"interval", required_argument, NULL, 'i'}, {"count", required_argument, NULL, 'n'},
        {"help", no_argument, NULL, 'h'},           {NULL, 0, NULL, 0},
    };
    struct stats_options_line options = {.times = {.interval_ms = 1000}};
    int letter;
    opterr = 0;
    while ((letter = getopt_long(argc, argv, "jpowi:n:h", longs, NULL)) != -1) {
        switch (letter) {
        case 'j':
            options.json = true;
            break;
        case 'p':
            options.prometheus = true;
            break;
        case 'o':
            options.openmetrics = true;
            break;
        case 'w':
            options.watch = true;
            break;
        case 'i':
        case 'n':
            if (watch_option("stats", letter, optarg, &options.times) != TOOL_OK)
                return TOOL_USAGE;
            break;
        case 'h':
            fputs(stats_help, stdout);
            return tool_finish(TOOL_OK);
        default:
            return tool_usage_option("stats", argv);
        }
    }
    int status = tool_pids("stats", argc - optind, argv + optind);
    if (status != TOOL_OK)
        return status;
    if (options.json + options.prometheus + options.openmetrics + options.watch > 1)
        return tool_usage("stats",
                          "--json, --prometheus, --openmetrics and --watch do not go together");
    size_t count = (size_t)(argc - optind);
    if (options.watch)
        return tool_finish(stats_watch(argv + optind, count, &options));
    return tool_finish(stats_each(argv + optind, count, &options));
}
