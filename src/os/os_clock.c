/* The time, from the vdso. No lock; the only state is where the function is. Policy never calls this: it is handed the
   time, which is what lets its tests run years in a moment. */
#include "os_clock.h"

#include <stdatomic.h>
#include <time.h>

#include "os_syscall.h"
#include "os_vdso.h"

#if defined(__aarch64__)
#define CLOCK_NAME "__kernel_clock_gettime"
#else
#define CLOCK_NAME "__vdso_clock_gettime"
#endif

typedef int (*clock_function)(clockid_t clock, struct timespec *out);

static int clock_by_system_call(clockid_t clock, struct timespec *out) {
    return (int)os_syscall2(SYS_clock_gettime, clock, (long)out);
}

static _Atomic(clock_function) clock_known; /* NULL: not asked yet */

static clock_function clock_find(void) {
    union {
        void *object;
        clock_function function;
    } found = {.object = os_vdso_find(CLOCK_NAME)};
    clock_function function = found.object != NULL ? found.function : clock_by_system_call;
    atomic_store_explicit(&clock_known, function, memory_order_relaxed);
    return function;
}

static uint64_t clock_ns(clockid_t which) {
    /* Cannot fail: the clock exists since 2.6.32 and the pointer is good. */
    struct timespec now = {0};
    clock_function clock = atomic_load_explicit(&clock_known, memory_order_relaxed);
    if (unlikely(clock == NULL))
        clock = clock_find();
    (void)clock(which, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

uint64_t os_clock_coarse_ns(void) {
    return clock_ns(CLOCK_MONOTONIC_COARSE);
}

uint64_t os_clock_fine_ns(void) {
    return clock_ns(CLOCK_MONOTONIC);
}
