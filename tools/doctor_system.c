/* Trials of what concerns the process and the machine: other system calls, and settings, read where they stand. */
#include <errno.h>
#include <linux/membarrier.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "doctor.h"
#include "os_status.h"
#include "tool.h"
#include "tool_cgroup.h"
#include "tool_print.h"

enum { SETTING_BYTES = 4096, MAPS_FEW = 65530 };

/* A small file below the root of the tests; its lines cut. */
static bool setting_read(const char *path, char text[SETTING_BYTES]) {
    char full[512];
    snprintf(full, sizeof full, "%s%s", tool_root(), path);
    return tool_read(full, text, SETTING_BYTES) > 0;
}

static bool setting_number(const char *path, unsigned long *out) {
    char text[SETTING_BYTES];
    if (!setting_read(path, text))
        return false;
    *out = strtoul(text, NULL, 10);
    return true;
}

static void try_thp_mode(struct doctor_result *out) {
    char text[SETTING_BYTES];
    if (!setting_read("/sys/kernel/mm/transparent_hugepage/enabled", text)) {
        doctor_refused(out, "/sys/kernel/mm/transparent_hugepage/enabled");
        return;
    }
    char *mode = strchr(text, '[');
    text[strcspn(text, "\n")] = '\0';
    if (mode != NULL && strncmp(mode, "[madvise]", strlen("[madvise]")) == 0)
        doctor_found(out, DOCTOR_YES, "%s", text);
    else
        doctor_found(out,
                     mode != NULL && strncmp(mode, "[never]", strlen("[never]")) == 0 ? DOCTOR_NO
                                                                                      : DOCTOR_LESS,
                     "%s", text);
}

static void try_thp_disable(struct doctor_result *out) {
    int disabled = prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0);
    if (disabled < 0 || prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) != 0)
        doctor_refused(out, "prctl");
    else if (disabled > 0)
        doctor_found(out, DOCTOR_LESS, "set for this process, and those that it starts");
    else
        doctor_found(out, DOCTOR_YES, "not set, can be");
}

static void try_membarrier(struct doctor_result *out) {
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0 &&
        syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0)
        doctor_found(out, DOCTOR_YES, "private, expedited");
    else
        doctor_refused(out, "membarrier");
}

/* Registered by libc or not, it refuses these arguments; an unknown call is refused otherwise. */
static void try_rseq(struct doctor_result *out) {
    long result = syscall(SYS_rseq, NULL, 0, 0, 0);
    if (result == 0 || errno == EINVAL || errno == EBUSY)
        doctor_found(out, DOCTOR_YES, "there");
    else
        doctor_refused(out, "rseq");
}

static void try_seccomp(struct doctor_result *out) {
    if (os_status_is_unfiltered())
        doctor_found(out, DOCTOR_YES, "none");
    else
        doctor_found(out, DOCTOR_LESS, "there is one, or /proc/thread-self/status does not say");
}

static void try_vm_readv(struct doctor_result *out) {
    long from = 42, to = 0;
    struct iovec local = {&to, sizeof to}, remote = {&from, sizeof from};
    unsigned long scope = 0;
    if (process_vm_readv(getppid(), &local, 1, &remote, 1, 0) != (ssize_t)sizeof to) {
        doctor_refused(out, "process_vm_readv of the parent");
        return;
    }
    if (setting_number("/proc/sys/kernel/yama/ptrace_scope", &scope) && scope > 0)
        doctor_found(out, DOCTOR_LESS, "works; kernel.yama.ptrace_scope is %lu", scope);
    else
        doctor_found(out, DOCTOR_YES, "works, and kernel.yama.ptrace_scope does not restrict it");
}

static void try_anon_name(struct doctor_result *out) {
    enum { SET_VMA = 0x53564d41, SET_VMA_ANON_NAME = 0, BYTES = 4096 };
    void *p = mmap(NULL, BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p != MAP_FAILED && prctl(SET_VMA, SET_VMA_ANON_NAME, p, BYTES, "fallow") == 0)
        doctor_found(out, DOCTOR_YES, "named");
    else
        doctor_refused(out, "prctl");
}

static void try_cgroup(struct doctor_result *out) {
    struct cgroup_memory group;
    if (!cgroup_read(getpid(), false, &group)) {
        doctor_found(out, DOCTOR_NO, "in none that can be read");
        return;
    }
    uint64_t limit = group.high != 0 && (group.limit == 0 || group.high < group.limit)
                         ? group.high
                         : group.limit;
    doctor_found(out, DOCTOR_YES, "version %u, charged %s, limit %s", group.version,
                 print_bytes(group.usage), limit == 0 ? "none" : print_bytes(limit));
}

static void try_pressure(struct doctor_result *out) {
    char text[SETTING_BYTES];
    if (setting_read("/proc/pressure/memory", text))
        doctor_found(out, DOCTOR_YES, "/proc/pressure/memory can be read");
    else
        doctor_refused(out, "/proc/pressure/memory");
}

static void try_overcommit(struct doctor_result *out) {
    unsigned long mode;
    if (!setting_number("/proc/sys/vm/overcommit_memory", &mode))
        doctor_refused(out, "/proc/sys/vm/overcommit_memory");
    else
        doctor_found(out, mode == 2 ? DOCTOR_LESS : DOCTOR_YES, "vm.overcommit_memory is %lu",
                     mode);
}

static void try_maps(struct doctor_result *out) {
    unsigned long most;
    if (!setting_number("/proc/sys/vm/max_map_count", &most))
        doctor_refused(out, "/proc/sys/vm/max_map_count");
    else
        doctor_found(out, most < MAPS_FEW ? DOCTOR_LESS : DOCTOR_YES, "vm.max_map_count is %lu",
                     most);
}

static void try_swap(struct doctor_result *out) {
    if (tool_has_swap())
        doctor_found(out, DOCTOR_LESS, "there is some");
    else
        doctor_found(out, DOCTOR_YES, "none");
}

const struct doctor_trial doctor_system_trials[] = {
    {"thp_mode", "huge pages, the system's setting", try_thp_mode,
     "Under madvise and always, thp:auto asks for its own; a small process stays on small pages also under always.",
     "echo madvise >/sys/kernel/mm/transparent_hugepage/enabled, as root"},
    {"thp_disable", "PR_SET_THP_DISABLE", try_thp_disable,
     "Read before huge pages are asked for; where it is set, none are.",
     "start the program from one that has not set it; a sandbox has to allow prctl"},
    {"seccomp", "seccomp filter", try_seccomp,
     "With one there is no purge thread and no unusual system call: free memory is purged in calls of the allocator.",
     "run without a filter (docker: --security-opt seccomp=unconfined), if that is acceptable"},
    {"membarrier", "membarrier", try_membarrier,
     "Lets others empty the caches and slabs of sleeping threads; without it those keep them.",
     "Linux 4.14; a sandbox has to allow it"},
    {"rseq", "rseq", try_rseq, "Not used.", "Linux 4.18"},
    {"process_vm_readv", "process_vm_readv", try_vm_readv,
     "fallow stats and fallow trim read with it; the library asks for its own threads' marks.",
     "run fallow as root; kernel.yama.ptrace_scope=0; a sandbox has to allow it"},
    {"anon_name", "PR_SET_VMA_ANON_NAME", try_anon_name, "Not used.",
     "Linux 5.17 with CONFIG_ANON_VMA_NAME"},
    {"cgroup", "memory cgroup", try_cgroup,
     "Its usage is reported; lazy memory costs no OOM kill at its limit.",
     "mount /sys/fs/cgroup where the program runs"},
    {"psi", "pressure stall information", try_pressure, "Not used.",
     "Linux 4.20 with CONFIG_PSI (boot option psi=1)"},
    {"overcommit", "overcommit", try_overcommit,
     "Under 2 address space counts: free chunks are unmapped when mapping fails, and count until then.",
     "sysctl vm.overcommit_memory=0"},
    {"max_map_count", "mappings of a process", try_maps,
     "Fallow bounds what it adds (some hundreds).", "sysctl vm.max_map_count=65530"},
    {"swap", "swap", try_swap,
     "Lazy memory is dropped, never swapped; where there is swap fallow trim wants to be told --swap.",
     "nothing: it does no harm"},
    {0},
};
