/* Trials of what concerns memory: each maps some, does what Fallow does, and looks with the kernel's own account whether
   that had its effect. Constants of kernels newer than the build's headers stand here by number. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "doctor.h"
#include "os_residence.h"
#include "tool_process.h"

enum {
    TRY_FREE = 8,            /* MADV_FREE, 4.5 */
    TRY_PAGEOUT = 21,        /* MADV_PAGEOUT, 5.4 */
    TRY_POPULATE_WRITE = 23, /* MADV_POPULATE_WRITE, 5.14 */
    TRY_COLLAPSE = 25,       /* MADV_COLLAPSE, 6.1 */
    TRY_GUARD_INSTALL = 102, /* MADV_GUARD_INSTALL, 6.13 */
    TRY_DROPPABLE = 8,       /* MAP_DROPPABLE, 6.11 */
    TRY_DONTUNMAP = 4,       /* MREMAP_DONTUNMAP, 5.7 */
    TRY_PIDFD_SELF = -10001, /* PIDFD_SELF, 6.15 */
    TRY_BYTES = 1 << 20,
    TRY_HUGE_BYTES = 2 << 20,
    TRY_DEAR_US = 1500,
};

/* On small pages, written. */
static char *try_map(struct doctor_result *out, bool written) {
    char *p = mmap(NULL, TRY_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        doctor_refused(out, "mmap");
        return NULL;
    }
    (void)madvise(p, TRY_BYTES, MADV_NOHUGEPAGE);
    if (written)
        memset(p, 1, TRY_BYTES);
    return p;
}

static uint64_t try_lazy_bytes(void) {
    struct process_memory sum;
    return process_sum_try(getpid(), &sum) == 0 ? sum.lazy : 0;
}

/* Resident pages of the region. */
static size_t try_resident(const char *p, size_t bytes) {
    size_t resident = 0;
    int fd = os_residence_open();
    if (fd < 0 || !os_residence_sum(fd, p, bytes / (size_t)sysconf(_SC_PAGESIZE), &resident))
        resident = SIZE_MAX;
    if (fd >= 0)
        close(fd);
    return resident;
}

static void try_free(struct doctor_result *out) {
    char *p = try_map(out, true);
    if (p == NULL)
        return;
    if (madvise(p, TRY_BYTES, TRY_FREE) != 0) {
        doctor_refused(out, "madvise");
        return;
    }
    uint64_t lazy = try_lazy_bytes();
    if (lazy >= TRY_BYTES / 2)
        doctor_found(out, DOCTOR_YES, "%llu KiB of 1024 are lazy", (unsigned long long)lazy / 1024);
    else
        doctor_found(out, DOCTOR_LESS, "accepted, but %llu KiB of 1024 are lazy by smaps",
                     (unsigned long long)lazy / 1024);
}

static void try_dontneed(struct doctor_result *out) {
    char *p = try_map(out, true);
    if (p == NULL)
        return;
    if (madvise(p, TRY_BYTES, MADV_DONTNEED) != 0) {
        doctor_refused(out, "madvise");
        return;
    }
    if (*(volatile char *)p == 0 && *(volatile char *)(p + TRY_BYTES - 1) == 0)
        doctor_found(out, DOCTOR_YES, "reads as zero afterwards");
    else
        doctor_found(out, DOCTOR_NO, "accepted, and did nothing: an emulator?");
}

/* Two ranges with a gap, of this process. */
static long try_vector(int pidfd, char *p) {
    struct iovec ranges[2] = {{p, TRY_BYTES / 4}, {p + TRY_BYTES / 2, TRY_BYTES / 4}};
    return syscall(SYS_process_madvise, pidfd, ranges, 2, TRY_FREE, 0);
}

static void try_process_madvise(struct doctor_result *out) {
    char *p = try_map(out, true);
    if (p == NULL)
        return;
    int pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
    if (pidfd < 0) {
        doctor_refused(out, "pidfd_open");
        return;
    }
    long done = try_vector(pidfd, p);
    if (done == TRY_BYTES / 2 && try_lazy_bytes() >= TRY_BYTES / 4)
        doctor_found(out, DOCTOR_YES, "two ranges made lazy by one call");
    else if (done < 0)
        doctor_refused(out, "process_madvise");
    else
        doctor_found(out, DOCTOR_NO, "%ld bytes of %d", done, TRY_BYTES / 2);
}

static void try_pidfd_self(struct doctor_result *out) {
    char *p = try_map(out, true);
    if (p == NULL)
        return;
    if (try_vector(TRY_PIDFD_SELF, p) == TRY_BYTES / 2)
        doctor_found(out, DOCTOR_YES, "the process is named without a descriptor");
    else
        doctor_refused(out, "process_madvise");
}

static void try_pageout(struct doctor_result *out) {
    char *p = try_map(out, true);
    if (p == NULL)
        return;
    if (madvise(p, TRY_BYTES, TRY_FREE) != 0 || madvise(p, TRY_BYTES, TRY_PAGEOUT) != 0) {
        doctor_refused(out, "madvise");
        return;
    }
    size_t pages = TRY_BYTES / (size_t)sysconf(_SC_PAGESIZE), resident = try_resident(p, TRY_BYTES);
    doctor_found(out, resident <= pages / 2 ? DOCTOR_YES : DOCTOR_LESS,
                 "%zu of %zu lazy pages taken at once", resident <= pages ? pages - resident : 0,
                 pages);
}

static void try_populate(struct doctor_result *out) {
    char *p = try_map(out, false);
    if (p == NULL)
        return;
    if (madvise(p, TRY_BYTES, TRY_POPULATE_WRITE) != 0)
        doctor_refused(out, "madvise");
    else
        doctor_found(out, DOCTOR_YES, "%zu pages resident before they are touched",
                     try_resident(p, TRY_BYTES));
}

static char *try_huge_map(struct doctor_result *out) {
    char *p = mmap(NULL, (size_t)2 * TRY_HUGE_BYTES, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        doctor_refused(out, "mmap");
        return NULL;
    }
    return (char *)(((uintptr_t)p + TRY_HUGE_BYTES - 1) & ~((uintptr_t)TRY_HUGE_BYTES - 1));
}

static uint64_t try_huge_bytes(void) {
    struct process_memory sum;
    return process_sum_try(getpid(), &sum) == 0 ? sum.huge : 0;
}

/* As thp:auto times it. */
static uint64_t try_touch_us(char *p) {
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    *(volatile char *)p = 1;
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (uint64_t)((end.tv_sec - start.tv_sec) * 1000000 + (end.tv_nsec - start.tv_nsec) / 1000);
}

static void try_huge(struct doctor_result *out) {
    char *p = try_huge_map(out);
    if (p == NULL)
        return;
    if (madvise(p, TRY_HUGE_BYTES, MADV_HUGEPAGE) != 0) {
        doctor_refused(out, "madvise");
        return;
    }
    uint64_t took_us = try_touch_us(p);
    memset(p, 1, TRY_HUGE_BYTES);
    if (try_huge_bytes() > 0)
        doctor_found(out, took_us < TRY_DEAR_US ? DOCTOR_YES : DOCTOR_LESS,
                     "asked for, and got; the first touch took %llu us",
                     (unsigned long long)took_us);
    else
        doctor_found(out, DOCTOR_NO, "asked for, and small pages given");
}

static void try_collapse(struct doctor_result *out) {
    char *p = try_huge_map(out);
    if (p == NULL)
        return;
    memset(p, 1, TRY_HUGE_BYTES);
    if (madvise(p, TRY_HUGE_BYTES, TRY_COLLAPSE) != 0)
        doctor_refused(out, "madvise");
    else
        doctor_found(out, try_huge_bytes() > 0 ? DOCTOR_YES : DOCTOR_NO, "%llu KiB on huge pages",
                     (unsigned long long)try_huge_bytes() / 1024);
}

static void try_guard(struct doctor_result *out) {
    char *p = try_map(out, false);
    if (p != NULL && madvise(p, TRY_BYTES, TRY_GUARD_INSTALL) == 0)
        doctor_found(out, DOCTOR_YES, "pages guarded without a mapping of their own");
    else if (p != NULL)
        doctor_refused(out, "madvise");
}

static void try_droppable(struct doctor_result *out) {
    char *p = mmap(NULL, TRY_BYTES, PROT_READ | PROT_WRITE, TRY_DROPPABLE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        doctor_refused(out, "mmap");
    else
        doctor_found(out, DOCTOR_YES, "mapped");
}

static void try_mremap(struct doctor_result *out) {
    char *p = try_map(out, true);
    if (p == NULL)
        return;
    char *moved = mremap(p, TRY_BYTES, TRY_BYTES, MREMAP_MAYMOVE | TRY_DONTUNMAP, NULL);
    if (moved == MAP_FAILED)
        doctor_refused(out, "mremap");
    else
        doctor_found(out, moved[0] == 1 && p[0] == 0 ? DOCTOR_YES : DOCTOR_NO,
                     "the pages have moved, the source stays mapped");
}

/* linux/fs.h of 6.7: struct pm_scan_arg, with PAGE_IS_PRESENT asked for. */
static void try_pagemap_scan(struct doctor_result *out) {
    enum { PRESENT = 1 << 3 };
    struct {
        uint64_t start, end, categories;
    } region = {0};
    struct {
        uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
        uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
    } scan = {.size = sizeof scan,
              .vec = (uintptr_t)&region,
              .vec_len = 1,
              .category_mask = PRESENT,
              .return_mask = PRESENT};
    char *p = try_map(out, true);
    int fd = os_residence_open();
    scan.start = (uintptr_t)p;
    scan.end = scan.start + TRY_BYTES;
    if (p == NULL)
        return;
    errno = fd < 0 ? -fd : 0;
    if (fd >= 0 && ioctl(fd, _IOWR('f', 16, scan), &scan) == 1 &&
        region.end - region.start == TRY_BYTES)
        doctor_found(out, DOCTOR_YES, "resident pages told by one call");
    else
        doctor_refused(out, "/proc/self/pagemap");
}

static void try_smaps_rollup(struct doctor_result *out) {
    struct process_memory sum;
    errno = process_sum_try(getpid(), &sum);
    if (errno != 0)
        doctor_refused(out, "/proc/self/smaps");
    else if (access("/proc/self/smaps_rollup", R_OK) != 0)
        doctor_found(out, DOCTOR_LESS, "summed over /proc/self/smaps");
    else
        doctor_found(out, DOCTOR_YES, "Rss %llu KiB", (unsigned long long)sum.rss / 1024);
}

const struct doctor_trial doctor_memory_trials[] = {
    {"madv_free", "madvise(MADV_FREE)", try_free,
     "The first stage of free memory; without it free memory is given back with MADV_DONTNEED after dirty_decay_ms.",
     "Linux 4.5, without swap 4.12; a sandbox has to allow madvise"},
    {"madv_dontneed", "madvise(MADV_DONTNEED)", try_dontneed,
     "The second stage, after lazy_decay_ms; where it does not zero, calloc writes the zeroes.",
     "no emulator, no sandbox that refuses it"},
    {"process_madvise", "process_madvise on oneself", try_process_madvise,
     "16 to 1,024 ranges made lazy by one call and one flush; without it one call for each range.",
     "Linux 6.13 (one flush: 6.16), and no seccomp filter"},
    {"pidfd_self", "PIDFD_SELF", try_pidfd_self,
     "Names the process in that call; without it a descriptor is opened and closed for each.",
     "Linux 6.15"},
    {"pagemap_scan", "ioctl(PAGEMAP_SCAN)", try_pagemap_scan,
     "Tells what of the lazy memory the kernel has taken; without it /proc/self/pagemap is read entry by entry.",
     "Linux 6.7"},
    {"madv_pageout", "madvise(MADV_PAGEOUT)", try_pageout,
     "Used by fallow trim alone, from outside.", "Linux 5.4 (from outside: 5.10)"},
    {"madv_populate_write", "madvise(MADV_POPULATE_WRITE)", try_populate, "Not used.",
     "Linux 5.14"},
    {"thp", "transparent huge pages", try_huge,
     "thp:auto asks for them once 16 MiB are mapped, while their first touch is not dear; otherwise small pages.",
     "/sys/kernel/mm/transparent_hugepage/enabled: madvise (as root); PR_SET_THP_DISABLE not set; a first touch of "
     "milliseconds is that of a host which takes free memory back"},
    {"madv_collapse", "madvise(MADV_COLLAPSE)", try_collapse, "Not used.",
     "Linux 6.1, and huge pages not disabled"},
    {"mremap_dontunmap", "mremap(MREMAP_DONTUNMAP)", try_mremap,
     "A large realloc moves page tables instead of bytes; without it the destination is found in two steps, or bytes are copied.",
     "Linux 5.7"},
    {"madv_guard_install", "madvise(MADV_GUARD_INSTALL)", try_guard, "Not used.", "Linux 6.13"},
    {"map_droppable", "mmap(MAP_DROPPABLE)", try_droppable, "Not used.", "Linux 6.11"},
    {"smaps_rollup", "/proc/self/smaps_rollup", try_smaps_rollup,
     "Rss and LazyFree for fallow_rss, reports and fallow rss; without it smaps is summed.",
     "Linux 4.14, and /proc mounted"},
    {0},
};
