/* Asking for memcheck, and the one request that it does not have. Its search for lost blocks takes all memory that
   it believes to be writable for roots, blocks of others than its own malloc included: so a ring of blocks that
   point to each other would never be lost. What it believes, it learns from the system calls that it sees. So the
   range is made read-only in its sight, and writable again by a call that is made on the real processor.
   No state but the answer, which is the same whoever asks first; no lock. */
#include "os_memcheck.h"

#include "os_map.h"
#include "os_syscall.h"

#ifdef OS_MEMCHECK

#include <sys/mman.h>

_Atomic unsigned char os_memcheck_answer;

bool os_memcheck_ask(void) {
    unsigned char answer = atomic_load_explicit(&os_memcheck_answer, memory_order_relaxed);
    if (answer == OS_MEMCHECK_UNKNOWN) {
        unsigned char bits;
        /* Of valgrind's tools just this one has an answer to the second. */
        bool on = RUNNING_ON_VALGRIND != 0 && VALGRIND_GET_VBITS(&answer, &bits, 1) == 1;
        answer = on ? OS_MEMCHECK_YES : OS_MEMCHECK_NO;
        atomic_store_explicit(&os_memcheck_answer, answer, memory_order_relaxed);
    }
    return answer == OS_MEMCHECK_YES;
}

/* Runs on the real processor, on valgrind's stack and without thread-local storage. */
static long os_memcheck_make_writable(unsigned long thread, void *base, size_t bytes) {
    (void)thread;
    return os_syscall3(SYS_mprotect, (long)base, (long)bytes, PROT_READ | PROT_WRITE);
}

void os_memcheck_unroot(void *base, size_t bytes) {
    if (!os_memcheck_is_on() || !os_map_protect(base, bytes, false))
        return;
    long result = (long)VALGRIND_NON_SIMD_CALL2(os_memcheck_make_writable, base, bytes);
    if (result != 0)
        (void)os_map_protect(base, bytes, true);
}

#endif
