/* Affinity and cgroup quota. No state, no lock, no allocation: everything is on the stack. Which groups
   there are is os_cgroup's affair, which of the two numbers counts the extent layer's. */
#include "os_cpu.h"

#include <string.h>

#include "fmt.h"
#include "os_cgroup.h"
#include "os_syscall.h"

enum { OS_CPUS_MAX = 8192, QUOTA_VALUE_BYTES = 64 };

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

/* The number at *at, and moves past it; false for "max", -1 and anything else without a limit. */
static bool quota_take_number(const char **at, int64_t *out) {
    size_t len = strcspn(*at, " \n");
    bool ok = fmt_parse_i64(*at, len, out) && *out > 0;
    *at += len + ((*at)[len] == ' ');
    return ok;
}

/* One group's quota in CPUs. Version 2 has the period behind the quota, version 1 in another file. */
static unsigned quota_level(const char *folder, enum os_cgroup_version version) {
    bool is_v2 = version == OS_CGROUP_V2;
    char quota_text[QUOTA_VALUE_BYTES];
    char period_text[QUOTA_VALUE_BYTES];
    int64_t quota;
    int64_t period;
    if (!os_cgroup_read(folder, is_v2 ? "cpu.max" : "cpu.cfs_quota_us", quota_text,
                        sizeof quota_text))
        return 0;
    const char *at = quota_text;
    if (!quota_take_number(&at, &quota))
        return 0;
    if (!is_v2) {
        if (!os_cgroup_read(folder, "cpu.cfs_period_us", period_text, sizeof period_text))
            return 0;
        at = period_text;
    }
    if (!quota_take_number(&at, &period))
        return 0;
    int64_t cpus = quota / period + (quota % period != 0);
    return cpus < OS_CPUS_MAX ? (unsigned)cpus : 0;
}

static bool quota_tighten(const char *folder, enum os_cgroup_version version, void *context) {
    unsigned *least = context;
    unsigned cpus = quota_level(folder, version);
    if (cpus > 0 && (*least == 0 || cpus < *least))
        *least = cpus;
    return true;
}

unsigned os_cpu_quota_at(const char *root) {
    static const struct os_cgroup_controller cpu = {
        "cpu", {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"}};
    unsigned least = 0;
    os_cgroup_visit(root, &cpu, quota_tighten, &least);
    return least;
}

unsigned os_cpu_quota(void) {
    return os_cpu_quota_at("");
}
