/* What the kernel knows of the calling thread. */
#pragma once

#include "os_syscall.h"

static inline long os_thread_id(void) {
    return os_syscall0(SYS_gettid);
}

/* Lets another thread run on this CPU: sched_yield. */
static inline void os_thread_yield(void) {
    os_syscall0(SYS_sched_yield);
}

/* Tells the core that this is a spin loop; no system call. */
static always_inline void os_thread_pause(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");
#else
    __asm__ volatile("" ::: "memory");
#endif
}
