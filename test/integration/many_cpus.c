/*
 * From 1 to 1,024 CPUs, as the test has Fallow's sched_getaffinity and its cgroup's quota say (debug builds
 * ask: src/os/os_inject.h): there are never more arenas than CPUs, threads and 256, and what an arena costs
 * in memory and address space is bounded. Each number in a child of its own, with the same threads.
 */
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "resident.h"
#include "threads.h"
#include "under_test.h"

enum { THREADS = 300, ARENAS_MAX = 256, MASK_BYTES = 128 };

/* What an arena may cost, resident and in address space. */
enum { ARENA_RESIDENT = 64 << 10, ARENA_MAPPED = 5 << 20 };

static _Atomic unsigned cpus;
static char cgroup_file[64], quota_file[64];

bool fallow_test_call(long number, const long arguments[6], long *result);

bool fallow_test_call(long number, const long arguments[6], long *result) {
    if (number == SYS_sched_getaffinity) {
        unsigned char *mask = (void *)(uintptr_t)arguments[2];
        CHECK((size_t)arguments[1] >= MASK_BYTES);
        for (unsigned cpu = 0; cpu < cpus; cpu++)
            mask[cpu / 8] = (unsigned char)(mask[cpu / 8] | 1 << cpu % 8);
        *result = MASK_BYTES;
        return true;
    }
    const char *path = (const void *)(uintptr_t)arguments[1];
    const char *instead = number != SYS_openat                          ? NULL
                          : strcmp(path, "/proc/self/cgroup") == 0      ? cgroup_file
                          : strcmp(path, "/sys/fs/cgroup/cpu.max") == 0 ? quota_file
                                                                        : NULL;
    if (instead == NULL)
        return false;
    *result = openat(AT_FDCWD, instead, O_RDONLY | O_CLOEXEC);
    CHECK(*result >= 0);
    return true;
}

static pthread_barrier_t barrier;
static _Atomic size_t ready;

static void *body(void *argument) {
    void *blocks[8];
    for (size_t i = 0; i < 8; i++) {
        blocks[i] = malloc(100);
        CHECK(blocks[i] != NULL);
    }
    ready++;
    pthread_barrier_wait(&barrier); /* all have their heaps */
    pthread_barrier_wait(&barrier); /* and are counted */
    for (size_t i = 0; i < 8; i++)
        free(blocks[i]);
    return argument;
}

struct cost {
    size_t arenas, resident, mapped;
};

/* One after another, or all at once: then several may map a chunk for want of the same block. */
static struct cost measure(bool at_once) {
    static pthread_t threads[THREADS];
    CHECK(pthread_barrier_init(&barrier, NULL, THREADS + 1) == 0);
    for (size_t i = 0; i < THREADS; i++)
        for (threads[i] = threads_start(body, NULL); !at_once && ready <= i;)
            sched_yield();
    pthread_barrier_wait(&barrier);
    struct fallow_stats stats;
    under_test_stats(&stats);
    struct cost cost = {stats.arenas, resident_now().rss_bytes, stats.mapped_bytes};
    pthread_barrier_wait(&barrier);
    for (size_t i = 0; i < THREADS; i++)
        threads_join(threads[i]);
    under_test_check_law();
    return cost;
}

static void write_file(const char *path, const char *text) {
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    CHECK(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text));
    close(file);
}

/* With so many CPUs, and a quota of so many; 0: none. */
static struct cost with(unsigned usable, unsigned quota, bool at_once) {
    static struct cost *shared;
    if (shared == NULL)
        shared =
            mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    char text[64];
    snprintf(text, sizeof text, quota == 0 ? "max 100000\n" : "%u00000 100000\n", quota);
    write_file(quota_file, text);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        cpus = usable;
        *shared = measure(at_once);
        _exit(0);
    }
    threads_reap(child);
    size_t limit = quota != 0 && quota < usable ? quota : usable;
    limit = limit < ARENAS_MAX ? limit : ARENAS_MAX;
    printf("%4u CPUs, quota %4u: %3zu arenas, %7zu KiB resident, %7zu KiB mapped\n", usable, quota,
           shared->arenas, shared->resident / 1024, shared->mapped / 1024);
    fflush(stdout);
    CHECK_THAT(shared->arenas == limit, "%zu arenas, not %zu", shared->arenas, limit);
    return *shared;
}

int main(void) {
    under_test_needs_fallow();
    snprintf(cgroup_file, sizeof cgroup_file, "/tmp/fallow-cgroup-%d", (int)getpid());
    snprintf(quota_file, sizeof quota_file, "/tmp/fallow-quota-%d", (int)getpid());
    write_file(cgroup_file, "0::/\n");
    static const unsigned numbers[] = {2, 3, 8, 64, 255, 256, 257, 1024};
    struct cost one = with(1, 0, false);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct cost many = with(numbers[i], 0, false);
        size_t more = many.arenas - one.arenas;
        size_t resident = many.resident > one.resident ? many.resident - one.resident : 0;
        CHECK_THAT(resident <= more * ARENA_RESIDENT + (1 << 20),
                   "%zu bytes resident for %zu arenas", resident, more);
        CHECK_THAT(many.mapped - one.mapped <= more * ARENA_MAPPED, "%zu bytes for %zu arenas",
                   many.mapped - one.mapped, more);
    }
    static const unsigned limits[][2] = {{1024, 1}, {1024, 7}, {4, 1000}, {1, 0}, {1024, 0}};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        with(limits[i][0], limits[i][1], true);
    unlink(cgroup_file);
    unlink(quota_file);
    return 0;
}
