/* The only file that calls madvise. Owns the answer of one os_probe, a tri-state that is written once:
   threads that os_probe at the same time find the same answer, so relaxed accesses suffice and there is
   no lock. Which ranges to advise, and what follows from a refusal, is decided in the extent layer. */
#include "os_advise.h"

#include <stdatomic.h>
#include <sys/mman.h>

#include "os_map.h"
#include "os_page.h"
#include "os_syscall.h"

enum os_probe { OS_PROBE_UNKNOWN, OS_PROBE_YES, OS_PROBE_NO };

static _Atomic unsigned char os_probe_answer;

int os_advise(void *addr, size_t bytes, enum os_advice advice) {
    static const unsigned char kernel_advice[] = {
        [OS_ADVISE_FREE] = MADV_FREE,
        [OS_ADVISE_DONTNEED] = MADV_DONTNEED,
        [OS_ADVISE_HUGEPAGE] = MADV_HUGEPAGE,
        [OS_ADVISE_NOHUGEPAGE] = MADV_NOHUGEPAGE,
    };
    long result = os_syscall3(SYS_madvise, (long)addr, (long)bytes, kernel_advice[advice]);
    return os_syscall_failed(result) ? (int)-result : 0;
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
    bool zeroes =
        os_advise(mapped, bytes, OS_ADVISE_DONTNEED) == 0 && page[0] == 0 && page[bytes - 1] == 0;
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
