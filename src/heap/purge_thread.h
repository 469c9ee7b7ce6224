/* The purge thread: purges in time while the program's own threads sleep, or are busy elsewhere. It is
   started by the first slow call in a process with threads that leaves something to purge, looks again
   when the next purge is due, and ends when there has been nothing to do for a while. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* It looks again within an epoch. Relaxed: a hint. */
extern _Atomic bool purge_thread_looks_soon;

/* Sees to it that somebody purges in time, starting or waking the thread if need be. False: the caller
   has to purge itself. With no lock held. */
bool purge_thread_tend(uint64_t now_ns);

/* Whether a heap that keeps something should say so to purge_thread_tend(). */
static inline bool purge_thread_is_away(void) {
    return !atomic_load_explicit(&purge_thread_looks_soon, memory_order_relaxed);
}

/* A heap keeps something warm that it did not keep before. */
void purge_thread_note_warm(void);

/* The process has another thread than before. */
void purge_thread_reconsider(void);

/* In a forked child, which has no such thread. */
void purge_thread_after_fork(void);
