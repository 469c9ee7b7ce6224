#ifndef PURGE_BUSY_H
#define PURGE_BUSY_H

// Threads that compute in the same address space, so that a TLB flush has CPUs to interrupt. Each
// is bound to a CPU of its own, as is the caller: a flush must not cost more or less because two
// happened to share one. Ends the program with BENCH_EXIT_REFUSED where there are too few CPUs.
void purge_busy_start(unsigned threads);
void purge_busy_stop(void);

enum { PURGE_BUSY_MAX = 64 };

#endif
