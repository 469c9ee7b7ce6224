#include "stats_print.h"

#include <stddef.h>
#include <string.h>

#include "ctl_actions.h"
#include "ctl_stats.h"
#include "fmt.h"
#include "report.h"

static void stats_pair(struct fmt *f, const char *name, uint64_t value, const char *end) {
    fmt_char(f, '"');
    fmt_str(f, name);
    fmt_str(f, "\":");
    fmt_u64(f, value);
    fmt_str(f, end);
}

/* With the names that mallctl has. */
static void stats_json(struct fmt *f) {
    struct ctl_stats of;
    (void)inventory_refresh();
    ctl_stats_read(&of, CTL_ARENAS_ALL);
    const struct fallow_stats *heap = &of.all.stats;
    fmt_str(f, "{\"jemalloc\":{\"version\":\"fallow\",\"arenas\":{");
    stats_pair(f, "narenas", ctl_arena_count(), "},\"stats\":{");
    stats_pair(f, "allocated", inventory_live_bytes(&of.all), ",");
    stats_pair(f, "active", heap->active_bytes, ",");
    stats_pair(f, "metadata", heap->metadata_bytes, ",");
    stats_pair(f, "resident", heap->mapped_bytes - heap->clean_bytes - heap->lazy_bytes, ",");
    stats_pair(f, "mapped", heap->mapped_bytes - heap->clean_bytes, ",");
    stats_pair(f, "retained", heap->clean_bytes, "},\"fallow\":{");
    stats_pair(f, "dirty", of.dirty_bytes, ",");
    stats_pair(f, "lazy", of.lazy_bytes, ",");
    stats_pair(f, "cached", of.all.cached_bytes, ",");
    stats_pair(f, "slab_free", of.all.slab_free_bytes, "}}}\n");
}

void stats_print(void (*write)(void *opaque, const char *text), void *opaque, const char *opts) {
    char text[REPORT_BYTES];
    struct fmt f = fmt_start(text, sizeof text);
    if (opts != NULL && strchr(opts, 'J') != NULL)
        stats_json(&f);
    else
        report_text(&f);
    write(opaque, text);
}
