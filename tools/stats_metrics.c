/* Two formats that differ in how a counter is called where it is described: by its samples' name, with _total, in the text format
   of Prometheus (0.0.4), without it in OpenMetrics 1.0. Each metric stands once, with its samples of all processes;
   sizes have their unit in the name; "# EOF" is the end, in the former a comment. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "stats.h"

static void metrics_family(const char *name, const char *type, const char *unit, const char *help) {
    printf("# TYPE %s %s\n", name, type);
    if (*unit != '\0')
        printf("# UNIT %s %s\n", name, unit);
    printf("# HELP %s %s\n", name, help);
}

static void metrics_labels(const struct stats *stats, const char *label, const char *value) {
    printf("{pid=\"%d\",process=\"", (int)stats->pid);
    for (const char *p = stats->name; *p != '\0'; p++) {
        if (*p == '"' || *p == '\\')
            printf("\\%c", *p);
        else
            putchar((unsigned char)*p < ' ' || (unsigned char)*p > '~' ? '?' : *p);
    }
    putchar('"');
    if (label != NULL)
        printf(",%s=\"%s\"", label, value);
    putchar('}');
}

static void metrics_sample(const struct stats *stats, const char *name, const char *suffix,
                           const char *label, const char *value, uint64_t sample) {
    fputs(name, stdout);
    fputs(suffix, stdout);
    metrics_labels(stats, label, value);
    printf(" %" PRIu64 "\n", sample);
}

/* A gauge whose samples differ by a label. */
static void metrics_figures(const struct stats *stats, size_t count, const char *name,
                            const char *help, const char *label,
                            const struct stats_figure *figures) {
    metrics_family(name, "gauge", "bytes", help);
    for (size_t i = 0; i < count; i++)
        for (const struct stats_figure *figure = figures; figure->key != NULL; figure++)
            metrics_sample(&stats[i], name, "", label, figure->key, stats_value(&stats[i], figure));
}

/* A gauge of one sample for each process. */
static void metrics_gauge(const struct stats *stats, size_t count, const char *name,
                          const char *unit, const char *help, size_t offset) {
    struct stats_figure figure = {.offset = offset};
    metrics_family(name, "gauge", unit, help);
    for (size_t i = 0; i < count; i++)
        metrics_sample(&stats[i], name, "", NULL, NULL, stats_value(&stats[i], &figure));
}

/* What a counter counts, as docs/stats.md has it; another version's may be unknown here. */
static const char *metrics_help(const char *counter) {
    static const struct {
        const char *name, *help;
    } rows[] = {
#define COUNTER(name, unit, doc) {#name, doc},
#include "counters.def"
#undef COUNTER
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, counter) == 0)
            return rows[i].help;
    return "A counter of another version of Fallow.";
}

/* One that ends in its unit has it said. */
static void metrics_counter(const struct stats *stats, size_t count, const char *counter,
                            bool open) {
    char name[STATS_TEXT_BYTES + 16], family[STATS_TEXT_BYTES + 32];
    const char *unit = strrchr(counter, '_');
    bool is_bytes = open && unit != NULL && strcmp(unit, "_bytes") == 0;
    snprintf(name, sizeof name, "fallow_%s", counter);
    snprintf(family, sizeof family, "%s%s", name, open ? "" : "_total");
    metrics_family(family, "counter", is_bytes ? "bytes" : "", metrics_help(counter));
    for (size_t i = 0; i < count; i++)
        for (size_t c = 0; c < stats[i].counter_count; c++)
            if (strcmp(stats[i].counters[c].name, counter) == 0)
                metrics_sample(&stats[i], name, "_total", NULL, NULL, stats[i].counters[c].value);
}

/* Whether a process before the i-th has this counter: another version may have others. */
static bool metrics_has(const struct stats *stats, size_t i, const char *counter) {
    for (size_t before = 0; before < i; before++)
        for (size_t c = 0; c < stats[before].counter_count; c++)
            if (strcmp(stats[before].counters[c].name, counter) == 0)
                return true;
    return false;
}

void stats_print_metrics(const struct stats *stats, size_t count, bool open) {
    metrics_figures(stats, count, "fallow_heap_bytes",
                    "Address space of the heap by state; mapped is the sum of the others.", "state",
                    stats_heap_figures);
    metrics_figures(stats, count, "fallow_why_resident_bytes",
                    "Resident memory by what is there; the sum is Rss.", "what", stats_why_figures);
    metrics_gauge(stats, count, "fallow_resident_bytes", "bytes",
                  "Rss, lazily freed memory included.", offsetof(struct stats, memory.rss));
    metrics_gauge(stats, count, "fallow_lazyfree_bytes", "bytes",
                  "The part of Rss that the kernel may take (LazyFree).",
                  offsetof(struct stats, memory.lazy));
    metrics_gauge(stats, count, "fallow_lazy_taken_bytes", "bytes",
                  "Lazily freed memory that is not resident any more.",
                  offsetof(struct stats, why.lazy_taken));
    metrics_gauge(stats, count, "fallow_arenas", "", "Arenas.",
                  offsetof(struct stats, sums.arenas));
    for (size_t i = 0; i < count; i++)
        for (size_t c = 0; c < stats[i].counter_count; c++)
            if (!metrics_has(stats, i, stats[i].counters[c].name))
                metrics_counter(stats, count, stats[i].counters[c].name, open);
    puts("# EOF");
}
