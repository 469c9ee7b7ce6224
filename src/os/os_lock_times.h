/* How often each rank of lock is taken, how long it is held and how often somebody waits for it: a table on standard error
   at exit, in builds with FALLOW_LOCK_TIMES alone, which are for bench/run contention. Any thread; no lock. */
#pragma once

#include "compiler.h"

#if FALLOW_LOCK_TIMES

/* The counter of cycles, of a constant rate. */
static always_inline uint64_t os_lock_cycles(void) {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t cycles;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(cycles));
    return cycles;
#else
#error "no counter of cycles known for this machine"
#endif
}

/* A lock of that rank was held for so long. */
void os_lock_times_note(unsigned rank, uint64_t cycles);

/* Somebody had to wait for one. */
void os_lock_times_note_wait(unsigned rank);

#endif
