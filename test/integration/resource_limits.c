/*
 * What the process is denied: each limit is set in a child, the same work is done (support/work.h), with
 * NULL and ENOMEM where memory is out, and once the limit is lifted the same work succeeds.
 *   as, data    RLIMIT_AS, RLIMIT_DATA from 16 MiB up
 *   memlock     RLIMIT_MEMLOCK of 64 KiB and of 6 MiB under mlockall(MCL_FUTURE), as another user
 *   nproc       RLIMIT_NPROC reached: there can be no purge thread, and then there can (purge_thread:always)
 *   no_proc     no /proc            (this and the next two: in a mount namespace of the test's own)
 *   hidepid     /proc with hidepid=2, as another user
 *   cgroup_ro   /sys/fs/cgroup read-only
 *   cgroup_tiny a memory cgroup of 6 MiB: the kernel ends the child in it, and nobody else
 */
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "resident.h"
#include "work.h"

enum { SOMEBODY = 54321, SECONDS = 100 };

static struct work work;

static void limit(int resource, size_t soft) {
    struct rlimit limit;
    CHECK(getrlimit((__rlimit_resource_t)resource, &limit) == 0);
    limit.rlim_cur = soft < limit.rlim_max ? soft : limit.rlim_max;
    CHECK(setrlimit((__rlimit_resource_t)resource, &limit) == 0);
}

static void become_somebody(void) {
    CHECK(setgroups(0, NULL) == 0 && setgid(SOMEBODY) == 0 && setuid(SOMEBODY) == 0);
}

static void do_work(bool may_fail) {
    work.may_fail = may_fail;
    work.failed = 0;
    work_alone(&work);
    work_threads(&work);
    work_fork(&work);
    work_drop_all(&work);
}

/* In a child: something is set up, and the child's status is 0, or it was ended by `sign`. */
static void in_child(void (*body)(size_t), size_t argument, int sign) {
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        alarm(SECONDS);
        body(argument);
        _exit(0);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    bool agreed = sign == 0 ? status == 0 : WIFSIGNALED(status) && WTERMSIG(status) == sign;
    CHECK_THAT(agreed, "with %zu: status 0x%x", argument, (unsigned)status);
}

static void little(int resource, size_t mib) {
    limit(resource, mib << 20);
    do_work(true);
    CHECK(malloc((size_t)200 << 20) == NULL && errno == ENOMEM);
    printf("%4zu MiB: %zu allocations failed\n", mib, work.failed);
    fflush(stdout);
    limit(resource, RLIM_INFINITY);
    do_work(false);
}

static void little_address_space(size_t mib) {
    little(RLIMIT_AS, mib);
}

static void little_data(size_t mib) {
    little(RLIMIT_DATA, mib);
}

static void little_locked(size_t kib) {
    struct rlimit most = {kib << 10, kib << 10};
    CHECK(setrlimit(RLIMIT_MEMLOCK, &most) == 0);
    become_somebody();
    CHECK(mlockall(MCL_FUTURE) == 0);
    do_work(true);
    CHECK(malloc((size_t)200 << 20) == NULL && errno == ENOMEM);
    CHECK(munlockall() == 0);
    do_work(false);
}

static size_t threads_now(void) {
    char text[4096];
    resident_read_file("/proc/self/status", text, sizeof text);
    const char *line = strstr(text, "\nThreads:\t");
    CHECK(line != NULL);
    return strtoul(line + strlen("\nThreads:\t"), NULL, 10);
}

static void no_more_threads(size_t unused) {
    (void)unused;
    become_somebody();
    limit(RLIMIT_NPROC, 1);
    work_alone(&work);
    CHECK_THAT(threads_now() == 1, "%zu threads", threads_now());
    /* Purges happen in the calls of the allocator. */
    struct fallow_stats stats;
    under_test_stats(&stats);
    for (int i = 0; i < 200 && stats.dirty_bytes > (1 << 20); i++) {
        threads_sleep_ms(5);
        free(malloc(3000000));
        under_test_stats(&stats);
    }
    CHECK_THAT(stats.dirty_bytes <= (1 << 20), "%zu bytes are dirty", stats.dirty_bytes);
    limit(RLIMIT_NPROC, RLIM_INFINITY);
    for (int i = 0; i < 400 && threads_now() == 1; i++) {
        threads_sleep_ms(10);
        work_sizes(&work, 300000, (uint64_t)i);
    }
    CHECK_THAT(threads_now() == 2, "%zu threads, and one more was possible", threads_now());
}

static void own_mounts(void) {
    if (unshare(CLONE_NEWNS) != 0)
        CHECK_SKIP("no mount namespace can be had");
    CHECK(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
}

static void no_proc(size_t unused) {
    (void)unused;
    struct fallow_rss rss;
    own_mounts();
    CHECK(mount("none", "/proc", "tmpfs", 0, NULL) == 0);
    CHECK(access("/proc/self", F_OK) != 0);
    do_work(false);
    errno = 0;
    CHECK(!under_test_rss(&rss) && errno == ENOENT);
}

static void hidepid(size_t unused) {
    (void)unused;
    struct fallow_rss rss;
    own_mounts();
    CHECK(mount("proc", "/proc", "proc", 0, "hidepid=2") == 0);
    become_somebody();
    CHECK(access("/proc/1/status", R_OK) != 0);
    do_work(false);
    (void)under_test_rss(&rss);
}

static void cgroup_read_only(size_t unused) {
    (void)unused;
    own_mounts();
    CHECK(mount("/sys/fs/cgroup", "/sys/fs/cgroup", NULL, MS_BIND | MS_REC, NULL) == 0);
    CHECK(mount(NULL, "/sys/fs/cgroup", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL) == 0);
    CHECK(mkdir("/sys/fs/cgroup/fallow-test", 0755) != 0);
    do_work(false);
}

static char group[64];

static void write_in_group(const char *name, const char *text) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", group, name);
    int file = open(path, O_WRONLY | O_CLOEXEC);
    CHECK(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text));
    close(file);
}

static void too_little(size_t unused) {
    (void)unused;
    write_in_group("cgroup.procs", "0");
    for (int i = 0; i < 100; i++) {
        char *block = malloc(200000); /* held: there is nothing for the kernel to take but this */
        CHECK(block != NULL);
        memset(block, 1, 200000);
    }
}

static void tiny_cgroup(void) {
    snprintf(group, sizeof group, "/sys/fs/cgroup/memory/fallow-tiny-%d", (int)getpid());
    if (mkdir(group, 0755) != 0)
        CHECK_SKIP("needs root and a memory cgroup of version 1");
    write_in_group("memory.limit_in_bytes", "6M");
    in_child(too_little, 6, SIGKILL);
    for (int i = 0; i < 100 && rmdir(group) != 0; i++)
        threads_sleep_ms(20);
    CHECK(access(group, F_OK) != 0);
    do_work(false);
}

int main(int count, char **arguments) {
    static const struct {
        const char *name;
        void (*body)(size_t);
        size_t arguments[8]; /* up to the first 0 after the first */
    } ways[] = {
        {"as", little_address_space, {16, 20, 24, 32, 48, 64, 96}},
        {"data", little_data, {16, 20, 24, 32, 48, 64, 96}},
        {"memlock", little_locked, {64, 6 << 10}},
        {"nproc", no_more_threads, {0}},
        {"no_proc", no_proc, {0}},
        {"hidepid", hidepid, {0}},
        {"cgroup_ro", cgroup_read_only, {0}},
    };
    CHECK(count == 2);
    if (geteuid() != 0)
        CHECK_SKIP("needs root");
    if (strcmp(arguments[1], "cgroup_tiny") == 0) {
        tiny_cgroup();
        return 0;
    }
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (strcmp(arguments[1], ways[i].name) != 0)
            continue;
        in_child(ways[i].body, ways[i].arguments[0], 0);
        for (const size_t *next = &ways[i].arguments[1]; *next != 0; next++)
            in_child(ways[i].body, *next, 0);
        return 0;
    }
    CHECK_THAT(0, "no such way: %s", arguments[1]);
}
