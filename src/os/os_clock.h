/* The clock that policy runs on. */
#pragma once

#include "compiler.h"

/* CLOCK_MONOTONIC_COARSE in nanoseconds: steps of 1 to 10 ms, no system call (vdso). */
uint64_t os_clock_coarse_ns(void);

/* CLOCK_MONOTONIC, for durations. */
uint64_t os_clock_fine_ns(void);
