// How extents are given back to the kernel: one system call each, or many in one. process_madvise
// takes MADV_FREE and MADV_DONTNEED for the calling process itself only, and only since Linux 6.13;
// since 6.16 it flushes the TLBs once a call rather than once an extent. The process names itself
// by PIDFD_SELF, which needs no descriptor.

#include "purge_advise.h"

#include "bench_fail.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { SELF_PROCESS = -10001 }; // PIDFD_SELF_THREAD_GROUP, newer than Debian 12's headers

static ssize_t advise_vector(const struct iovec *ranges, size_t count, int advice) {
    return syscall(SYS_process_madvise, SELF_PROCESS, ranges, count, advice, 0);
}

int purge_advise_probe(const struct purge_extents *extents, int advice) {
    struct iovec range = {extents->base, (size_t)sysconf(_SC_PAGESIZE)};
    return advise_vector(&range, 1, advice) < 0 ? errno : 0;
}

static uint64_t advise_each(const struct purge_extents *extents, int advice) {
    char *extent = extents->base;
    for (size_t i = 0; i < extents->count; i++, extent += extents->stride_bytes)
        if (madvise(extent, extents->extent_bytes, advice) != 0)
            bench_fail(BENCH_EXIT_FAILED, "madvise(%d) of %zu bytes failed: %s", advice,
                       extents->extent_bytes, strerror(errno));
    return extents->count;
}

// Drops from the front what the kernel has done: it may stop anywhere, also within a range.
static size_t skip_done(struct iovec *ranges, size_t count, size_t done_bytes) {
    size_t done = 0;
    while (done < count && done_bytes >= ranges[done].iov_len)
        done_bytes -= ranges[done++].iov_len;
    if (done < count) {
        ranges[done].iov_base = (char *)ranges[done].iov_base + done_bytes;
        ranges[done].iov_len -= done_bytes;
    }
    return done;
}

static uint64_t advise_batch(struct iovec *ranges, size_t count, int advice) {
    uint64_t calls = 0;
    while (count != 0) {
        ssize_t done_bytes = advise_vector(ranges, count, advice);
        calls++;
        if (done_bytes <= 0)
            bench_fail(BENCH_EXIT_FAILED, "process_madvise(%d) of %zu ranges failed: %s", advice,
                       count, done_bytes < 0 ? strerror(errno) : "nothing was done");
        size_t done = skip_done(ranges, count, (size_t)done_bytes);
        ranges += done;
        count -= done;
    }
    return calls;
}

// Neighbours are one range, as Fallow has it. Returns how many ranges there are more.
static size_t add_range(struct iovec *ranges, size_t count, struct iovec extent) {
    struct iovec *last = &ranges[count - (count > 0)];
    if (count > 0 && (char *)last->iov_base + last->iov_len == extent.iov_base &&
        last->iov_len + extent.iov_len <= PURGE_RANGE_BYTES) {
        last->iov_len += extent.iov_len;
        return 0;
    }
    ranges[count] = extent;
    return 1;
}

static uint64_t advise_vectored(const struct purge_extents *extents, int advice) {
    struct iovec ranges[PURGE_VECTOR_MAX];
    uint64_t calls = 0;
    for (size_t next = 0; next < extents->count;) {
        size_t count = 0;
        for (; count < PURGE_VECTOR_MAX && next < extents->count; next++)
            count += add_range(ranges, count,
                               (struct iovec){extents->base + next * extents->stride_bytes,
                                              extents->extent_bytes});
        calls += advise_batch(ranges, count, advice);
    }
    return calls;
}

uint64_t purge_advise(const struct purge_extents *extents, enum purge_calls calls, int advice) {
    return calls == PURGE_CALLS_ONE ? advise_each(extents, advice)
                                    : advise_vectored(extents, advice);
}
