/* What the kernel knows of threads, and waiting. */
#pragma once

#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include "os_syscall.h"

static inline long os_thread_id(void) {
    return os_syscall0(SYS_gettid);
}

static inline long os_process_id(void) {
    return os_syscall0(SYS_getpid);
}

/* Whether a process has a thread of that id (which the kernel may have given to another since); true
   also where the kernel does not say. tgkill with no signal: 2.6. */
static inline bool os_thread_exists(long process_id, long thread_id) {
    return os_syscall3(SYS_tgkill, process_id, thread_id, 0) != -ESRCH;
}

/* glibc 2.32: not 0 as long as the process has had one thread only; the creator of the second clears it
   before that one runs. Another C library has no such variable, and is taken to have threads. */
extern char os_thread_single __asm__("__libc_single_threaded") __attribute__((__weak__));

static inline bool os_thread_is_single(void) {
    return &os_thread_single != NULL && os_thread_single;
}

/* os_clone_start() has been called: there is, or was, a thread that libc does not know of. */
extern bool os_thread_has_cloned;

/* Nobody else can be in this library's memory: what takes an atomic instruction with threads, a store does. */
static inline bool os_thread_is_alone(void) {
    return os_thread_is_single() && !os_thread_has_cloned;
}

/* Lets another thread run on this CPU: sched_yield. */
static inline void os_thread_yield(void) {
    os_syscall0(SYS_sched_yield);
}

/* Sleeps until woken, for so long at most, or not at all if the word is not `value`; may return early:
   futex. */
static inline void os_thread_wait(_Atomic uint32_t *word, uint32_t value, uint64_t ns) {
    struct timespec timeout = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    os_syscall4(SYS_futex, (long)word, FUTEX_WAIT_PRIVATE, (long)value, (long)&timeout);
}

static inline void os_thread_wake(_Atomic uint32_t *word) {
    os_syscall3(SYS_futex, (long)word, FUTEX_WAKE_PRIVATE, 1);
}

/* Sleeps for a millisecond, or less if a signal comes. */
static inline void os_thread_nap(void) {
    struct timespec nap = {.tv_nsec = 1000000};
    os_syscall2(SYS_nanosleep, (long)&nap, 0);
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
