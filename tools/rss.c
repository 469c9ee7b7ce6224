/* fallow rss: the resident set of any process, and what of it the kernel may take. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"
#include "tool_cgroup.h"
#include "tool_json.h"
#include "tool_print.h"
#include "tool_process.h"
#include "tool_watch.h"

static const char rss_help[] =
    "Usage: fallow rss [-v] [--json] [--watch] [-i SECONDS] [-n COUNT] PID...\n"
    "\n"
    "The resident set of any process, with Fallow or without: what the kernel counts (Rss), what of it is\n"
    "lazily freed (LazyFree: the kernel takes it when it needs memory), and the difference, honest RSS.\n"
    "\n"
    "  -v, --verbose      each mapping, too\n"
    "  -j, --json         JSON\n"
    "  -w, --watch        a bar for each process, again and again; until the last has ended\n"
    "  -i, --interval S   seconds between looks (1)\n"
    "  -n, --count N      end after so many looks\n";

struct rss_options {
    bool verbose, json, watch;
    struct watch_times times;
};

/* Less than this may be what the kernel has not counted yet. */
static const uint64_t rss_relisted_min = 1 << 20;

/* --- text --- */

static void rss_mapping(const struct process_memory *mapping, void *context) {
    (void)context;
    if (mapping->rss == 0)
        return;
    printf("  %12lx-%-12lx %s %12s %12s %12s  ", (unsigned long)mapping->start,
           (unsigned long)mapping->end, mapping->permissions, print_bytes(mapping->rss),
           print_bytes(mapping->lazy), print_bytes(mapping->huge));
    print_clean(mapping->path);
    putchar('\n');
}

static void rss_cgroup(pid_t pid) {
    struct cgroup_memory group;
    if (!cgroup_read(pid, true, &group) || group.usage == 0)
        return;
    fputs("  its memory cgroup: ", stdout);
    print_clean(group.folder);
    printf(" (version %u, %u process%s)\n", group.version, group.processes,
           group.processes == 1 ? "" : "es");
    print_row("charged", group.usage);
    if (group.limit != 0)
        print_row("limit", group.limit);
    print_row("inactive_file", group.inactive_file);
    if (!group.lazy_is_whole) {
        printf(
            "  not all of its processes may be read: what of inactive_file is in use is not known\n");
        return;
    }
    print_row("LazyFree", group.lazy);
    if (group.relisted < rss_relisted_min)
        return;
    print_row("reused, still listed", group.relisted);
    printf("  %s%s was lazily freed and has been written again, and the cgroup still lists it as\n"
           "  inactive_file. It is in use: \"usage - inactive_file\" is too low by it.%s\n",
           print_on(PRINT_WARNING), print_bytes(group.relisted), print_off());
}

static int rss_text(pid_t pid, const struct rss_options *options) {
    struct process_memory sum;
    char name[PROCESS_NAME_BYTES];
    int status = process_sum(pid, &sum);
    if (status != TOOL_OK)
        return status;
    process_name(pid, name);
    fputs(print_on(PRINT_BOLD), stdout);
    print_clean(name);
    printf("%s (%d)\n", print_off(), (int)pid);
    print_row("kernel RSS", sum.rss);
    print_row("LazyFree in it", sum.lazy);
    print_row("honest RSS", sum.rss - sum.lazy);
    print_row("Anonymous", sum.anonymous);
    print_row("on huge pages", sum.huge);
    if (sum.swap != 0)
        print_row("in swap", sum.swap);
    rss_cgroup(pid);
    if (!options->verbose)
        return TOOL_OK;
    printf("  %-12s %-12s %s %12s %12s %12s  %s\n", "mapping", "", "    ", "Rss", "LazyFree",
           "huge", "path");
    return process_smaps(pid, rss_mapping, NULL);
}

/* --- JSON --- */

static void rss_figures_json(const struct process_memory *memory) {
    json_u64("rss_bytes", memory->rss);
    json_u64("lazyfree_bytes", memory->lazy);
    json_u64("honest_bytes", memory->rss - memory->lazy);
    json_u64("pss_bytes", memory->pss);
    json_u64("anonymous_bytes", memory->anonymous);
    json_u64("huge_bytes", memory->huge);
    json_u64("swap_bytes", memory->swap);
}

static void rss_mapping_json(const struct process_memory *mapping, void *context) {
    char address[32];
    (void)context;
    if (mapping->rss == 0 && mapping->swap == 0)
        return;
    json_object(NULL);
    snprintf(address, sizeof address, "0x%lx", (unsigned long)mapping->start);
    json_text("start", address);
    json_u64("bytes", mapping->end - mapping->start);
    json_text("permissions", mapping->permissions);
    json_text("path", mapping->path);
    rss_figures_json(mapping);
    json_end();
}

static void rss_cgroup_json(pid_t pid) {
    struct cgroup_memory group;
    if (!cgroup_read(pid, true, &group))
        return;
    json_object("cgroup");
    json_text("folder", group.folder);
    json_u64("version", group.version);
    json_u64("usage_bytes", group.usage);
    if (group.limit != 0)
        json_u64("limit_bytes", group.limit);
    json_u64("inactive_file_bytes", group.inactive_file);
    json_u64("processes", group.processes);
    json_u64("lazyfree_bytes", group.lazy);
    json_flag("lazyfree_is_whole", group.lazy_is_whole);
    if (group.lazy_is_whole)
        json_u64("relisted_bytes", group.relisted);
    json_end();
}

static int rss_json(pid_t pid, const struct rss_options *options) {
    struct process_memory sum;
    char name[PROCESS_NAME_BYTES];
    int status = process_sum(pid, &sum);
    if (status != TOOL_OK)
        return status;
    process_name(pid, name);
    json_object(NULL);
    json_u64("pid", (uint64_t)pid);
    json_text("name", name);
    rss_figures_json(&sum);
    rss_cgroup_json(pid);
    if (options->verbose) {
        json_array("mappings");
        status = process_smaps(pid, rss_mapping_json, NULL);
        json_end();
    }
    json_end();
    return status;
}

/* --- watching --- */

struct rss_watched {
    pid_t pid;
    char name[PROCESS_NAME_BYTES];
    bool gone;
};

struct rss_watch {
    struct rss_watched *processes;
    size_t count;
    uint64_t full; /* the largest resident set so far: what a whole bar stands for */
};

static bool rss_watch_line(struct rss_watch *watch, struct rss_watched *process) {
    enum { NAME_COLUMNS = 15, PID_COLUMNS = 8, FIGURE_COLUMNS = 40, BAR_LEAST = 10 };
    struct process_memory sum = {0};
    unsigned columns = print_columns(), bar = BAR_LEAST;
    if (columns > NAME_COLUMNS + PID_COLUMNS + FIGURE_COLUMNS + BAR_LEAST)
        bar = columns - NAME_COLUMNS - PID_COLUMNS - FIGURE_COLUMNS;
    process->gone = process->gone || process_sum_try(process->pid, &sum) != 0;
    printf("%-*.*s %*d ", NAME_COLUMNS, NAME_COLUMNS, process->name, PID_COLUMNS - 1,
           (int)process->pid);
    if (process->gone) {
        fputs("has ended", stdout);
        return false;
    }
    watch->full = sum.rss > watch->full ? sum.rss : watch->full;
    putchar('|');
    print_bar(bar - 2, sum.rss - sum.lazy, sum.lazy, watch->full);
    printf("| %11s + %11s lazy", print_bytes(sum.rss - sum.lazy), print_bytes(sum.lazy));
    return true;
}

static bool rss_watch_look(void *context) {
    struct rss_watch *watch = context;
    bool any = false;
    watch_line_start();
    printf("honest '#', lazy '-'; a whole bar is %s", print_bytes(watch->full));
    watch_line_end();
    for (size_t i = 0; i < watch->count; i++) {
        watch_line_start();
        any |= rss_watch_line(watch, &watch->processes[i]);
        watch_line_end();
    }
    return any;
}

static int rss_watch(char **pids, size_t count, const struct rss_options *options) {
    struct rss_watch watch = {.processes = calloc(count, sizeof *watch.processes), .count = count};
    int status = TOOL_OK;
    if (watch.processes == NULL)
        return tool_error(TOOL_FAILED, "%s", strerror(errno));
    for (size_t i = 0; i < count && status == TOOL_OK; i++) {
        struct process_memory sum;
        (void)tool_pid(pids[i], &watch.processes[i].pid);
        status = process_sum(watch.processes[i].pid, &sum);
        watch.full = sum.rss > watch.full ? sum.rss : watch.full;
        process_name(watch.processes[i].pid, watch.processes[i].name);
    }
    if (status == TOOL_OK)
        watch_run(&options->times, rss_watch_look, &watch);
    free(watch.processes);
    return status;
}

static int rss_each(char **pids, const struct rss_options *options) {
    int worst = TOOL_OK;
    if (options->json)
        json_array(NULL);
    for (; *pids != NULL; pids++) {
        pid_t pid = 0;
        (void)tool_pid(*pids, &pid);
        int status = options->json ? rss_json(pid, options) : rss_text(pid, options);
        worst = worst == TOOL_OK ? status : worst;
    }
    if (options->json)
        json_end();
    return worst;
}

int rss_main(int argc, char **argv) {
    static const struct option longs[] = {
        {"verbose", no_argument, NULL, 'v'},
        {"json", no_argument, NULL, 'j'},
        {"watch", no_argument, NULL, 'w'},
        {"interval", required_argument, NULL, 'i'},
        {"count", required_argument, NULL, 'n'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    struct rss_options options = {.times = {.interval_ms = 1000}};
    int letter;
    opterr = 0;
    while ((letter = getopt_long(argc, argv, "vjwi:n:h", longs, NULL)) != -1) {
        switch (letter) {
        case 'v':
            options.verbose = true;
            break;
        case 'j':
            options.json = true;
            break;
        case 'w':
            options.watch = true;
            break;
        case 'i':
        case 'n':
            if (watch_option("rss", letter, optarg, &options.times) != TOOL_OK)
                return TOOL_USAGE;
            break;
        case 'h':
            fputs(rss_help, stdout);
            return tool_finish(TOOL_OK);
        default:
            return tool_usage_option("rss", argv);
        }
    }
    int status = tool_pids("rss", argc - optind, argv + optind);
    if (status != TOOL_OK)
        return status;
    if (options.watch && options.json)
        return tool_usage("rss", "--watch and --json do not go together");
    if (options.watch)
        return tool_finish(rss_watch(argv + optind, (size_t)(argc - optind), &options));
    return tool_finish(rss_each(argv + optind, &options));
}
