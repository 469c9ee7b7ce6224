// One measurement. Each begins with pages that the kernel has just given: a page that was lazily
// freed before and written since is cheaper to free lazily once more, because the kernel has
// already moved it off the list that it was on.

#include "purge_measure.h"

#include "bench_clock.h"
#include "bench_fail.h"
#include "bench_rollup.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { HUGE_BYTES = 2 << 20 };

struct purge_extents purge_measure_map(size_t count, size_t extent_bytes, size_t stride_bytes,
                                       bool huge) {
    size_t bytes = count * stride_bytes;
    char *block = mmap(NULL, bytes + HUGE_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (block == MAP_FAILED)
        bench_fail(BENCH_EXIT_FAILED, "mmap of %zu bytes failed: %s", bytes, strerror(errno));
    block += -(uintptr_t)block % HUGE_BYTES;
    // A kernel without huge pages knows neither advice, and gives small ones.
    int refused = madvise(block, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    if (refused && huge)
        bench_fail(BENCH_EXIT_REFUSED, "no huge pages: %s", strerror(errno));
    struct purge_extents extents = {block, count, extent_bytes, stride_bytes};
    return extents;
}

static void write_bytes(char *block, size_t bytes) {
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t at = 0; at < bytes; at += page_bytes)
        ((volatile char *)block)[at] = 1;
}

static double write_extents_us(const struct purge_extents *extents) {
    uint64_t start_ns = bench_clock_ns();
    for (size_t i = 0; i < extents->count; i++)
        write_bytes(extents->base + i * extents->stride_bytes, extents->extent_bytes);
    return (double)(bench_clock_ns() - start_ns) / 1e3;
}

static void renew(const struct purge_extents *extents) {
    size_t bytes = extents->count * extents->stride_bytes;
    if (madvise(extents->base, bytes, MADV_DONTNEED) != 0)
        bench_fail(BENCH_EXIT_FAILED, "the mapping cannot be emptied: %s", strerror(errno));
    write_bytes(extents->base, bytes);
}

static uint64_t faults_now(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_minflt;
}

struct purge_result purge_measure(const struct purge_extents *extents, enum purge_calls calls,
                                  int advice) {
    struct purge_result result = {0};
    struct bench_rollup full, purged;
    int rollup = bench_rollup_open();
    renew(extents);
    bench_rollup_read(rollup, &full);
    result.huge_kib = full.huge_kib;
    result.warm_write_us = write_extents_us(extents);

    struct purge_interrupts before = purge_interrupts_now();
    uint64_t start_ns = bench_clock_ns();
    result.calls = purge_advise(extents, calls, advice);
    result.purge_us = (double)(bench_clock_ns() - start_ns) / 1e3;
    struct purge_interrupts after = purge_interrupts_now();
    result.tlb_interrupts = after.tlb - before.tlb;
    result.call_interrupts = after.call - before.call;

    bench_rollup_read(rollup, &purged);
    close(rollup);
    result.fallen_kib = full.rss_kib > purged.rss_kib ? full.rss_kib - purged.rss_kib : 0;
    result.lazy_kib = purged.lazy_kib;

    uint64_t faults = faults_now();
    result.rewrite_us = write_extents_us(extents);
    result.rewrite_faults = faults_now() - faults;
    return result;
}
