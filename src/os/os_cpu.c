/* Affinity and cgroup quota. No state, no lock, no allocation: everything is on the stack. The walk
   over a cgroup's ancestors starts at the path that /proc/self/cgroup names; levels that are not
   visible (a container that sees only its own subtree at the mount point) are passed over. Which of
   the two numbers counts is the extent layer's affair. */
#include "os_cpu.h"

#include <string.h>

#include "fmt.h"
#include "os_file.h"
#include "os_syscall.h"

enum {
    OS_CPUS_MAX = 8192,
    CGROUP_PATH_BYTES = 1024,
    CGROUP_FILE_BYTES = 4096,
    CGROUP_VALUE_BYTES = 64,
};

unsigned os_cpu_usable(void) {
    /* The kernel answers EINVAL if the mask is shorter than its own. */
    uint64_t mask[OS_CPUS_MAX / 64] = {0};
    long bytes = os_syscall3(SYS_sched_getaffinity, 0, sizeof mask, (long)mask);
    if (os_syscall_failed(bytes))
        return 1;
    unsigned cpus = 0;
    for (size_t word = 0; word < (size_t)bytes / sizeof mask[0]; word++)
        cpus += (unsigned)__builtin_popcountll(mask[word]);
    return cpus > 0 ? cpus : 1;
}

/* Where a cgroup_hierarchy may be mounted, relative to root, and the file or files that hold the quota. */
struct cgroup_hierarchy {
    const char *mounts[2];
    const char *quota_file;
    const char *period_file; /* NULL: the period is the second number of quota_file */
};

static const struct cgroup_hierarchy cgroup_v2 = {
    .mounts = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"},
    .quota_file = "/cpu.max",
};

static const struct cgroup_hierarchy cgroup_v1 = {
    .mounts = {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"},
    .quota_file = "/cpu.cfs_quota_us",
    .period_file = "/cpu.cfs_period_us",
};

static bool cgroup_read_value(const struct fmt *dir, const char *file, char *value) {
    char path[CGROUP_PATH_BYTES];
    struct fmt f = fmt_start(path, sizeof path);
    fmt_str(&f, dir->buf);
    fmt_str(&f, file);
    return !fmt_is_full(&f) && os_file_read_all(path, value, CGROUP_VALUE_BYTES) > 0;
}

/* The number at *at, and moves past it; false for "max", -1 and anything else without a limit. */
static bool cgroup_take_number(const char **at, int64_t *out) {
    size_t len = strcspn(*at, " \n");
    bool ok = fmt_parse_i64(*at, len, out) && *out > 0;
    *at += len + ((*at)[len] == ' ');
    return ok;
}

static unsigned cgroup_level_quota(const struct cgroup_hierarchy *h, const struct fmt *dir) {
    char quota_text[CGROUP_VALUE_BYTES];
    char period_text[CGROUP_VALUE_BYTES];
    int64_t quota;
    int64_t period;
    if (!cgroup_read_value(dir, h->quota_file, quota_text))
        return 0;
    const char *at = quota_text;
    if (!cgroup_take_number(&at, &quota))
        return 0;
    if (h->period_file != NULL) {
        if (!cgroup_read_value(dir, h->period_file, period_text))
            return 0;
        at = period_text;
    }
    if (!cgroup_take_number(&at, &period))
        return 0;
    int64_t cpus = quota / period + (quota % period != 0);
    return cpus < OS_CPUS_MAX ? (unsigned)cpus : 0;
}

static unsigned quota_tighter(unsigned a, unsigned b) {
    if (a == 0 || b == 0)
        return a + b;
    return a < b ? a : b;
}

static unsigned cgroup_hierarchy_quota(const struct cgroup_hierarchy *h, const char *root,
                                       const char *cgroup, size_t cgroup_len) {
    unsigned least = 0;
    for (size_t i = 0; i < ARRAY_COUNT(h->mounts); i++) {
        char path[CGROUP_PATH_BYTES];
        struct fmt dir = fmt_start(path, sizeof path);
        fmt_str(&dir, root);
        fmt_str(&dir, h->mounts[i]);
        size_t top = dir.len;
        fmt_mem(&dir, cgroup, cgroup_len);
        if (fmt_is_full(&dir))
            continue;
        for (;;) {
            least = quota_tighter(least, cgroup_level_quota(h, &dir));
            if (dir.len == top)
                break;
            do
                dir.len--;
            while (dir.len > top && dir.buf[dir.len] != '/');
            dir.buf[dir.len] = '\0';
        }
    }
    return least;
}

static bool cgroup_names_cpu(const char *controllers, size_t len) {
    static const char cpu[] = "cpu";
    while (len > 0) {
        const char *comma = memchr(controllers, ',', len);
        size_t name_len = comma != NULL ? (size_t)(comma - controllers) : len;
        if (name_len == sizeof cpu - 1 && memcmp(controllers, cpu, name_len) == 0)
            return true;
        size_t step = name_len + (comma != NULL);
        controllers += step;
        len -= step;
    }
    return false;
}

unsigned os_cpu_quota_at(const char *root) {
    char path[CGROUP_PATH_BYTES];
    struct fmt f = fmt_start(path, sizeof path);
    fmt_str(&f, root);
    fmt_str(&f, "/proc/self/cgroup");
    char text[CGROUP_FILE_BYTES];
    if (fmt_is_full(&f) || os_file_read_all(path, text, sizeof text) <= 0)
        return 0;

    /* Lines are "number:controllers:path"; v2's has no controllers. */
    unsigned least = 0;
    for (const char *line = text; *line != '\0';) {
        size_t len = strcspn(line, "\n");
        const char *end = line + len;
        const char *controllers = memchr(line, ':', len);
        const char *cgroup = controllers != NULL
                                 ? memchr(controllers + 1, ':', (size_t)(end - controllers - 1))
                                 : NULL;
        if (cgroup != NULL) {
            controllers++;
            size_t controllers_len = (size_t)(cgroup - controllers);
            cgroup++;
            size_t cgroup_len = (size_t)(end - cgroup);
            if (controllers_len == 0)
                least = quota_tighter(least,
                                      cgroup_hierarchy_quota(&cgroup_v2, root, cgroup, cgroup_len));
            else if (cgroup_names_cpu(controllers, controllers_len))
                least = quota_tighter(least,
                                      cgroup_hierarchy_quota(&cgroup_v1, root, cgroup, cgroup_len));
        }
        line = *end == '\n' ? end + 1 : end;
    }
    return least;
}

unsigned os_cpu_quota(void) {
    return os_cpu_quota_at("");
}
