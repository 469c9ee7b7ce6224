/* Gathers struct stats. The sums are of one moment; the census is taken right after them, and counters are read last. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "remote.h"
#include "stats.h"
#include "tool.h"

enum { STATS_TABLE_MAX = 4096 };

#define FIGURE(key, text, field) \
    { key, text, offsetof(struct stats, field) }

const struct stats_figure stats_heap_figures[] = {
    FIGURE("mapped", "mapped", sums.mapped),
    FIGURE("active", "active", sums.active),
    FIGURE("dirty", "dirty", sums.dirty),
    FIGURE("lazy", "lazy", sums.lazy),
    FIGURE("busy", "busy", sums.busy),
    FIGURE("clean", "clean", sums.clean),
    FIGURE("metadata", "metadata", sums.metadata),
    {0},
};

const struct stats_figure stats_resident_figures[] = {
    FIGURE("rss", "kernel RSS", memory.rss),
    FIGURE("lazyfree", "LazyFree in it", memory.lazy),
    FIGURE("anonymous", "Anonymous", memory.anonymous),
    FIGURE("huge", "on huge pages", memory.huge),
    {0},
};

const struct stats_figure stats_why_figures[] = {
    FIGURE("live", "live", why.live),
    FIGURE("rounding", "rounding", why.rounding),
    FIGURE("slab_free", "free in slabs", why.slab_free),
    FIGURE("dirty", "dirty, resident", why.dirty),
    FIGURE("lazy", "lazy, resident", why.lazy),
    FIGURE("inflation", "on huge pages", why.inflation),
    FIGURE("metadata", "metadata, resident", why.metadata),
    FIGURE("others", "not Fallow's", why.others),
    {0},
};

static bool stats_read_counters(struct stats *stats) {
    const struct outline_counters *at = &stats->view.counters;
    char *names = calloc(1, (size_t)at->names_bytes + 1);
    uint64_t *values = calloc(at->count, sizeof *values);
    stats->counters = calloc(at->count, sizeof *stats->counters);
    bool ok =
        names != NULL && values != NULL && stats->counters != NULL &&
        remote_read(stats->pid, remote_address(at->names), names, at->names_bytes) &&
        remote_read(stats->pid, remote_address(at->first), values, at->count * sizeof *values);
    const char *name = names;
    for (uint32_t i = 0; ok && i < at->count && *name != '\0'; i++) {
        snprintf(stats->counters[i].name, STATS_TEXT_BYTES, "%s", name);
        stats->counters[i].value = values[i];
        stats->counter_count = i + 1;
        name += strlen(name) + 1;
    }
    free(names);
    free(values);
    return ok;
}

/* The value of an option as FALLOW_CONF takes it. */
static bool stats_read_value(const struct stats *stats, uint32_t kind, uint64_t at, uint64_t texts,
                             char *text) {
    const struct outline_options *options = &stats->view.options;
    uint64_t word = 0, pointer;
    if (!remote_read(stats->pid, at, &word,
                     kind == options->kind_int    ? sizeof word
                     : kind == options->kind_enum ? sizeof(uint32_t)
                                                  : 1))
        return false;
    if (kind == options->kind_enum)
        return remote_u64(stats->pid, texts + word * sizeof pointer, &pointer) &&
               remote_text(stats->pid, pointer, text, STATS_TEXT_BYTES);
    if (kind == options->kind_bool)
        snprintf(text, STATS_TEXT_BYTES, "%s", word != 0 ? "true" : "false");
    else
        snprintf(text, STATS_TEXT_BYTES, "%" PRId64, (int64_t)word);
    return true;
}

static bool stats_read_options(struct stats *stats) {
    const struct outline_options *at = &stats->view.options;
    stats->options = calloc(at->count, sizeof *stats->options);
    if (stats->options == NULL)
        return false;
    for (uint32_t i = 0; i < at->count; i++) {
        uint64_t row = remote_address(at->rows) + (uint64_t)i * at->bytes, name, offset, texts;
        uint32_t kind;
        struct stats_option *option = &stats->options[i];
        if (!remote_u64(stats->pid, row + at->name, &name) ||
            !remote_u32(stats->pid, row + at->kind, &kind) ||
            !remote_u64(stats->pid, row + at->offset, &offset) ||
            !remote_u64(stats->pid, row + at->texts, &texts) ||
            !remote_text(stats->pid, name, option->name, STATS_TEXT_BYTES) ||
            !stats_read_value(stats, kind, remote_address(at->values) + offset, texts,
                              option->value))
            return false;
        stats->option_count = i + 1;
    }
    return true;
}

int stats_read(pid_t pid, struct stats *out) {
    *out = (struct stats){.pid = pid};
    int status = heap_view_open(pid, &out->view);
    if (status != TOOL_OK)
        return status;
    process_name(pid, out->name);
    errno = 0;
    if (out->view.counters.count > STATS_TABLE_MAX ||
        out->view.counters.names_bytes > STATS_TABLE_MAX * STATS_TEXT_BYTES ||
        out->view.options.count > STATS_TABLE_MAX)
        errno = EPROTO;
    if (errno != 0 || !heap_sums_read(&out->view, &out->sums) ||
        !heap_threads_read(&out->view, &out->threads))
        return heap_view_error(&out->view);
    status = heap_census_take(&out->view, &out->why);
    if (status == TOOL_OK)
        status = process_sum(pid, &out->memory);
    if (status != TOOL_OK)
        return status;
    (void)cgroup_read(pid, false, &out->cgroup);
    if (!stats_read_counters(out) || !stats_read_options(out))
        return heap_view_error(&out->view);
    return TOOL_OK;
}

void stats_free(struct stats *stats) {
    free(stats->counters);
    free(stats->options);
    stats->counters = NULL;
    stats->options = NULL;
}
