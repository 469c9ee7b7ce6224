/* The only file that calls madvise. Owns the answer of one os_probe, a tri-state that is written once:
   threads that os_probe at the same time find the same answer, so relaxed accesses suffice and there is
   no lock. Which ranges to advise, and what follows from a refusal, is decided in the extent layer. */
#include "os_advise.h"

#include <stdatomic.h>
#include <sys/mman.h>

#include "os_assert.h"
#include "os_map.h"
#include "os_memcheck.h"
#include "os_page.h"
#include "os_syscall.h"
#include "os_thread.h"

enum os_probe { OS_PROBE_UNKNOWN, OS_PROBE_YES, OS_PROBE_NO };

static _Atomic unsigned char os_probe_answer;

static const unsigned char os_kernel_advice[] = {
    [OS_ADVISE_FREE] = MADV_FREE,         [OS_ADVISE_DONTNEED] = MADV_DONTNEED,
    [OS_ADVISE_HUGEPAGE] = MADV_HUGEPAGE, [OS_ADVISE_NOHUGEPAGE] = MADV_NOHUGEPAGE,
    [OS_ADVISE_PAGEOUT] = MADV_PAGEOUT,
};

static int os_advise_call(void *addr, size_t bytes, enum os_advice advice) {
    long result = os_syscall3(SYS_madvise, (long)addr, (long)bytes, os_kernel_advice[advice]);
    return os_syscall_failed(result) ? (int)-result : 0;
}

/* What concerns a part of a page is refused, or done to all of it. */
static bool os_is_whole_pages(const void *addr, size_t bytes) {
    return is_aligned((uintptr_t)addr | bytes, os_page_size());
}

int os_advise(void *addr, size_t bytes, enum os_advice advice) {
    fallow_assert((advice != OS_ADVISE_FREE && advice != OS_ADVISE_DONTNEED) ||
                  os_is_whole_pages(addr, bytes));
    return os_advise_call(addr, bytes, advice);
}

/* PIDFD_SELF, the process without a descriptor: 6.15. */
enum { OS_PIDFD_SELF = -10001 };

long os_advise_ranges(const struct os_range *ranges, size_t count, enum os_advice advice) {
    if (os_memcheck_is_on())
        return -ENOSYS; /* valgrind knows no such call, and complains of each */
    long advice_now = os_kernel_advice[advice];
    for (size_t i = 0; i < count; i++)
        fallow_assert(os_is_whole_pages(ranges[i].addr, ranges[i].bytes));
    long done =
        os_syscall5(SYS_process_madvise, OS_PIDFD_SELF, (long)ranges, (long)count, advice_now, 0);
    if (done != -EBADF)
        return done;
    /* Before 6.15: a descriptor, opened and closed each time. */
    long fd = os_syscall2(SYS_pidfd_open, os_process_id(), 0);
    if (os_syscall_failed(fd))
        return done;
    done = os_syscall5(SYS_process_madvise, fd, (long)ranges, (long)count, advice_now, 0);
    os_syscall1(SYS_close, fd);
    return done;
}

/* qemu-user has returned success for MADV_DONTNEED and kept the contents. */
static enum os_probe os_probe_dontneed(void) {
    size_t bytes = os_page_size();
    void *mapped = os_map(bytes, NULL);
    if (mapped == NULL)
        return OS_PROBE_UNKNOWN;
    volatile unsigned char *page = mapped;
    page[0] = 1;
    page[bytes - 1] = 1;
    bool zeroes = os_advise_call(mapped, bytes, OS_ADVISE_DONTNEED) == 0 && page[0] == 0 &&
                  page[bytes - 1] == 0;
    os_unmap(mapped, bytes);
    return zeroes ? OS_PROBE_YES : OS_PROBE_NO;
}

bool os_dontneed_zeroes(void) {
    enum os_probe answer = atomic_load_explicit(&os_probe_answer, memory_order_relaxed);
    if (unlikely(answer == OS_PROBE_UNKNOWN)) {
        answer = os_probe_dontneed();
        atomic_store_explicit(&os_probe_answer, (unsigned char)answer, memory_order_relaxed);
    }
    return answer == OS_PROBE_YES;
}
