/* Text, as the report inside the process has it, and JSON. */
#include <inttypes.h>
#include <stdio.h>

#include "stats.h"
#include "tool_json.h"
#include "tool_print.h"

static int64_t stats_residual(const struct stats *stats) {
    return (int64_t)stats->why.kernel - (int64_t)heap_census_sum(&stats->why);
}

static void print_heading(const char *text) {
    printf("%s%s%s\n", print_on(PRINT_BOLD), text, print_off());
}

static void print_figures(const struct stats *stats, const struct stats_figure *figure) {
    for (; figure->key != NULL; figure++)
        print_row(figure->text, stats_value(stats, figure));
}

static void print_why(const struct stats *stats) {
    int64_t residual = stats_residual(stats);
    print_heading("why is RSS high (resident bytes, each found by itself)");
    print_figures(stats, stats_why_figures);
    print_row("sum of these", heap_census_sum(&stats->why));
    print_row("the kernel's figure", stats->why.kernel);
    print_row(residual < 0 ? "too much by" : "not explained",
              (uint64_t)(residual < 0 ? -residual : residual));
    print_row("lazy, already taken", stats->why.lazy_taken);
}

void stats_print_text(const struct stats *stats) {
    printf("%sfallow stats of %d (", print_on(PRINT_BOLD), (int)stats->pid);
    print_clean(stats->name);
    printf(")%s, Fallow %.*s in ", print_off(), OUTLINE_NAME_BYTES, stats->view.outline.library);
    print_clean(stats->view.path);
    putchar('\n');
    print_heading("options");
    for (size_t i = 0; i < stats->option_count; i++) {
        fputs("  ", stdout);
        print_clean(stats->options[i].name);
        putchar(':');
        print_clean(stats->options[i].value);
        putchar('\n');
    }
    print_heading("heap (mapped = active + dirty + lazy + busy + clean + metadata)");
    print_figures(stats, stats_heap_figures);
    printf("  arenas %" PRIu64 ", thread heaps %" PRIu64 ", %s\n", stats->sums.arenas,
           stats->threads.heaps,
           stats->sums.one_moment ? "all at one moment"
                                  : "from moments close to each other: it never stood still");
    print_heading("resident set of the process");
    print_figures(stats, stats_resident_figures);
    print_row("honest RSS", stats->memory.rss - stats->memory.lazy);
    if (stats->cgroup.usage != 0)
        print_row("charged to its cgroup", stats->cgroup.usage);
    print_why(stats);
    print_heading("counters");
    for (size_t i = 0; i < stats->counter_count; i++) {
        fputs("  ", stdout);
        print_clean(stats->counters[i].name);
        printf(": %" PRIu64 "\n", stats->counters[i].value);
    }
}

/* --- JSON --- */

static void json_figures(const struct stats *stats, const struct stats_figure *figure) {
    for (; figure->key != NULL; figure++) {
        char name[STATS_TEXT_BYTES];
        snprintf(name, sizeof name, "%s_bytes", figure->key);
        json_u64(name, stats_value(stats, figure));
    }
}

void stats_print_json(const struct stats *stats) {
    json_object(NULL);
    json_u64("pid", (uint64_t)stats->pid);
    json_text("name", stats->name);
    json_text("library", stats->view.path);
    json_text("library_version", stats->view.outline.library);
    json_object("options");
    for (size_t i = 0; i < stats->option_count; i++)
        json_text(stats->options[i].name, stats->options[i].value);
    json_end();
    json_object("heap");
    json_figures(stats, stats_heap_figures);
    json_u64("arenas", stats->sums.arenas);
    json_u64("thread_heaps", stats->threads.heaps);
    json_flag("one_moment", stats->sums.one_moment);
    json_u64("reads", stats->sums.reads);
    json_end();
    json_object("resident");
    json_figures(stats, stats_resident_figures);
    json_u64("honest_bytes", stats->memory.rss - stats->memory.lazy);
    if (stats->cgroup.usage != 0)
        json_u64("cgroup_bytes", stats->cgroup.usage);
    json_end();
    json_object("why");
    json_figures(stats, stats_why_figures);
    json_u64("sum_bytes", heap_census_sum(&stats->why));
    json_u64("kernel_bytes", stats->why.kernel);
    json_i64("residual_bytes", stats_residual(stats));
    json_u64("lazy_taken_bytes", stats->why.lazy_taken);
    json_end();
    json_object("counters");
    for (size_t i = 0; i < stats->counter_count; i++)
        json_u64(stats->counters[i].name, stats->counters[i].value);
    json_end();
    json_end();
}
