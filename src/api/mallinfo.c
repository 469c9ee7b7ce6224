#include "mallinfo.h"

#include <errno.h>
#include <limits.h>

#include "arena.h"
#include "fmt.h"
#include "inventory.h"
#include "options.h"
#include "os_thread.h"

enum { MALLINFO_MXFAST_MAX = 20 * (int)sizeof(size_t) }; /* what the C library takes for M_MXFAST */

struct mallinfo2 mallinfo_read(void) {
    struct inventory all;
    inventory_take(&all);
    size_t mapped = all.stats.mapped_bytes - all.stats.metadata_bytes;
    size_t huge = min_size(all.tally.huge_bytes, mapped);
    size_t in_use = min_size(all.small_bytes + all.tally.large_bytes, mapped - huge);
    return (struct mallinfo2){
        .arena = mapped - huge,
        .ordblks = all.tally.free_runs,
        .smblks = all.cached_blocks,
        .hblks = all.tally.huge_blocks,
        .hblkhd = huge,
        .fsmblks = all.cached_bytes,
        .uordblks = in_use,
        .fordblks = mapped - huge - in_use,
        .keepcost = all.stats.dirty_bytes + all.stats.lazy_bytes,
    };
}

static int mallinfo_int(size_t value) {
    return value < INT_MAX ? (int)value : INT_MAX;
}

struct mallinfo mallinfo_read_int(void) {
    struct mallinfo2 info = mallinfo_read();
    return (struct mallinfo){
        .arena = mallinfo_int(info.arena),
        .ordblks = mallinfo_int(info.ordblks),
        .smblks = mallinfo_int(info.smblks),
        .hblks = mallinfo_int(info.hblks),
        .hblkhd = mallinfo_int(info.hblkhd),
        .fsmblks = mallinfo_int(info.fsmblks),
        .uordblks = mallinfo_int(info.uordblks),
        .fordblks = mallinfo_int(info.fordblks),
        .keepcost = mallinfo_int(info.keepcost),
    };
}

int mallinfo_set_option(int parameter, int value) {
    switch (parameter) {
    case M_ARENA_MAX: /* options are written before there are threads */
        if (value < 0 || !os_thread_is_single())
            return 0;
        options.narenas = value;
        return 1;
    case M_MXFAST:
        return value >= 0 && value <= MALLINFO_MXFAST_MAX;
    case M_PERTURB: /* blocks are not filled: but that may be asked for */
        return value == 0;
    case M_TRIM_THRESHOLD:
    case M_TOP_PAD:
    case M_MMAP_THRESHOLD:
    case M_MMAP_MAX:
    case M_CHECK_ACTION:
    case M_ARENA_TEST:
        return 1;
    default:
        return 0;
    }
}

/* Text of which the parts are put together, and then written; remembers a failure. */
struct mallinfo_out {
    FILE *stream;
    bool failed;
};

static void mallinfo_put(struct mallinfo_out *out, const struct fmt *f) {
    out->failed |= fputs(f->buf, out->stream) == EOF;
}

static void mallinfo_attribute(struct fmt *f, const char *name, uint64_t value) {
    fmt_char(f, ' ');
    fmt_str(f, name);
    fmt_str(f, "=\"");
    fmt_u64(f, value);
    fmt_char(f, '"');
}

/* <name type="..." count="..." size="..."/>; without the count where there is none. */
static void mallinfo_total(struct mallinfo_out *out, const char *name, const char *type,
                           const size_t *count, size_t bytes) {
    char text[160];
    struct fmt f = fmt_start(text, sizeof text);
    fmt_char(&f, '<');
    fmt_str(&f, name);
    fmt_str(&f, " type=\"");
    fmt_str(&f, type);
    fmt_char(&f, '"');
    if (count != NULL)
        mallinfo_attribute(&f, "count", *count);
    mallinfo_attribute(&f, "size", bytes);
    fmt_str(&f, "/>\n");
    mallinfo_put(out, &f);
}

/* The free objects of a class. */
static void mallinfo_size(struct mallinfo_out *out, unsigned class, size_t count) {
    char text[160];
    struct fmt f = fmt_start(text, sizeof text);
    fmt_str(&f, "  <size");
    mallinfo_attribute(&f, "from", class == 0 ? 1 : class_bytes(class - 1) + 1);
    mallinfo_attribute(&f, "to", class_bytes(class));
    mallinfo_attribute(&f, "total", count * class_bytes(class));
    mallinfo_attribute(&f, "count", count);
    fmt_str(&f, "/>\n");
    mallinfo_put(out, &f);
}

static void mallinfo_arena(struct mallinfo_out *out, unsigned number) {
    struct domain *domain = &arena_at(number)->domain;
    struct tally tally;
    size_t count = 0, bytes = 0;
    char text[64];
    struct fmt f = fmt_start(text, sizeof text);
    fmt_str(&f, "<heap");
    mallinfo_attribute(&f, "nr", number);
    fmt_str(&f, ">\n<sizes>\n");
    mallinfo_put(out, &f);
    tally_take(&tally, domain);
    for (unsigned c = 0; c < CLASS_COUNT; c++) {
        size_t n = tally.classes[c].objects - tally.classes[c].used;
        if (n == 0)
            continue;
        mallinfo_size(out, c, n);
        count += n;
        bytes += n * class_bytes(c);
    }
    out->failed |= fputs("</sizes>\n", out->stream) == EOF;
    os_lock_acquire(&domain->lock);
    size_t mapped = domain->chunks << CHUNK_SHIFT;
    size_t free_bytes = mapped - bytes_of_granules(domain->used);
    os_lock_release(&domain->lock);
    count += tally.free_runs;
    mallinfo_total(out, "total", "rest", &count, bytes + free_bytes);
    mallinfo_total(out, "system", "current", NULL, mapped);
    mallinfo_total(out, "aspace", "total", NULL, mapped);
    out->failed |= fputs("</heap>\n", out->stream) == EOF;
}

int mallinfo_write(int flags, FILE *stream) {
    if (flags != 0)
        return EINVAL;
    struct mallinfo_out out = {.stream = stream};
    struct inventory all;
    out.failed |= fputs("<malloc version=\"1\">\n", stream) == EOF;
    for (unsigned i = 0; i < arena_count(); i++)
        mallinfo_arena(&out, i);
    inventory_take(&all);
    size_t mapped = all.stats.mapped_bytes - all.stats.metadata_bytes;
    size_t live = min_size(inventory_live_bytes(&all), mapped);
    size_t rest = mapped - live - min_size(all.cached_bytes, mapped - live);
    size_t rest_count = all.tally.free_runs;
    for (unsigned c = 0; c < CLASS_COUNT; c++)
        rest_count += all.tally.classes[c].objects - all.tally.classes[c].used;
    rest_count -= min_size(all.cached_blocks, rest_count);
    mallinfo_total(&out, "total", "fast", &all.cached_blocks, all.cached_bytes);
    mallinfo_total(&out, "total", "rest", &rest_count, rest);
    mallinfo_total(&out, "total", "mmap", &all.tally.huge_blocks, all.tally.huge_bytes);
    mallinfo_total(&out, "system", "current", NULL, all.stats.mapped_bytes);
    mallinfo_total(&out, "aspace", "total", NULL, all.stats.mapped_bytes);
    out.failed |= fputs("</malloc>\n", stream) == EOF;
    return out.failed ? -1 : 0;
}
