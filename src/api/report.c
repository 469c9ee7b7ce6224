/* The report: options, the heap by state, the resident set by smaps, the counters. Built in a static
   buffer under report_lock and written at once, so that the reports of two threads do not mix. */
#include "report.h"

#include <errno.h>

#include "counters.h"
#include "fmt.h"
#include "options.h"
#include "os_cgroup.h"
#include "os_file.h"
#include "os_lock.h"
#include "os_log.h"
#include "os_smaps.h"
#include "os_thread.h"
#include "stats.h"
#include "why.h"

#define PUBLIC __attribute__((__visibility__("default")))

enum { REPORT_NAME_COLUMNS = 24, REPORT_BYTES_COLUMNS = 16, REPORT_HUMAN_COLUMNS = 12 };

static struct os_lock report_lock = OS_LOCK_INIT(report);

static void report_row(struct fmt *f, const char *name, size_t bytes) {
    size_t start = f->len;
    fmt_str(f, "  ");
    fmt_str(f, name);
    fmt_pad(f, start, REPORT_NAME_COLUMNS, FMT_LEFT);
    start = f->len;
    fmt_u64(f, bytes);
    fmt_pad(f, start, REPORT_BYTES_COLUMNS, FMT_RIGHT);
    start = f->len;
    fmt_bytes_human(f, bytes);
    fmt_pad(f, start, REPORT_HUMAN_COLUMNS, FMT_RIGHT);
    fmt_char(f, '\n');
}

static void report_heap(struct fmt *f) {
    struct fallow_stats stats;
    stats_read(&stats);
    fmt_str(f, "heap (mapped = active + dirty + lazy + busy + clean + metadata), arenas: ");
    fmt_u64(f, stats.arenas);
    fmt_char(f, '\n');
    report_row(f, "mapped", stats.mapped_bytes);
    report_row(f, "active", stats.active_bytes);
    report_row(f, "dirty", stats.dirty_bytes);
    report_row(f, "lazy", stats.lazy_bytes);
    report_row(f, "busy", stats.busy_bytes);
    report_row(f, "clean", stats.clean_bytes);
    report_row(f, "metadata", stats.metadata_bytes);
}

static void report_rss(struct fmt *f) {
    struct os_smaps smaps;
    if (!os_smaps_read(&smaps)) {
        fmt_str(f, "resident set: /proc/self/smaps cannot be read\n");
        return;
    }
    fmt_str(f, smaps.from_rollup ? "resident set of the process (smaps_rollup)\n"
                                 : "resident set of the process (smaps)\n");
    report_row(f, "kernel RSS", smaps.rss_bytes);
    report_row(f, "LazyFree in it", smaps.lazyfree_bytes);
    report_row(f, "honest RSS", smaps.rss_bytes - smaps.lazyfree_bytes);
    report_row(f, "Anonymous", smaps.anonymous_bytes);
    uint64_t cgroup_bytes = os_cgroup_memory_bytes();
    if (cgroup_bytes > 0)
        report_row(f, "charged to its cgroup", cgroup_bytes);
}

static void report_why(struct fmt *f) {
    struct fallow_rss_why why;
    if (!why_read(&why)) {
        fmt_str(f, "why is RSS high: the kernel does not say\n");
        return;
    }
    int64_t residual = why_residual(&why);
    fmt_str(f, "why is RSS high (resident bytes, each found by itself)\n");
    report_row(f, "live", why.live_bytes);
    report_row(f, "rounding", why.rounding_bytes);
    report_row(f, "free in slabs", why.slab_free_bytes);
    report_row(f, "dirty, resident", why.dirty_bytes);
    report_row(f, "lazy, resident", why.lazy_bytes);
    report_row(f, "on huge pages", why.inflation_bytes);
    report_row(f, "metadata, resident", why.metadata_bytes);
    report_row(f, "not Fallow's", why.others_bytes);
    report_row(f, "sum of these", why_sum(&why));
    report_row(f, "the kernel's figure", why.kernel_bytes);
    report_row(f, residual < 0 ? "too much by" : "not explained",
               (size_t)(residual < 0 ? -residual : residual));
    report_row(f, "lazy, already taken", why.lazy_taken_bytes);
}

/* One command may be many processes, each with a report. */
static void report_whose(struct fmt *f) {
    char name[32];
    long length = os_file_read_all("/proc/self/comm", name, sizeof name);
    fmt_str(f, "fallow report of ");
    fmt_u64(f, (uint64_t)os_process_id());
    if (length > 1) {
        name[length - 1] = '\0'; /* the end of the line */
        fmt_str(f, " (");
        fmt_str(f, name);
        fmt_char(f, ')');
    }
    fmt_char(f, '\n');
}

static void report_text_locked(struct fmt *f) {
    report_whose(f);
    fmt_str(f, "options\n");
    options_print(f);
    report_heap(f);
    report_rss(f);
    report_why(f);
    fmt_str(f, "counters\n");
    counters_print(f);
}

void report_text(struct fmt *f) {
    os_lock_acquire(&report_lock);
    report_text_locked(f);
    os_lock_release(&report_lock);
}

void report_print(void) {
    static char text[REPORT_BYTES];
    os_lock_acquire(&report_lock);
    struct fmt f = fmt_start(text, sizeof text);
    report_text_locked(&f);
    os_log(text, f.len);
    os_lock_release(&report_lock);
}

void report_lock_for_fork(void) {
    os_lock_acquire(&report_lock);
}

void report_unlock_after_fork(bool child) {
    if (child)
        os_lock_reset(&report_lock);
    else
        os_lock_release(&report_lock);
}

PUBLIC bool fallow_rss_why(struct fallow_rss_why *out) {
    os_lock_acquire(&report_lock);
    bool known = why_read(out);
    os_lock_release(&report_lock);
    if (!known)
        errno = ENOENT;
    return known;
}

PUBLIC void fallow_stats_print(void) {
    report_print();
}
