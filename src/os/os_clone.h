/* A thread of the library's own, made without libc: it takes no lock of libc's, which the caller of free
   may hold, is not counted by libc, so that it keeps no process from ending, and runs no handler. */
#pragma once

#include <stdatomic.h>

#include "compiler.h"

enum { OS_CLONE_STACK_BYTES = 32768, OS_CLONE_TLS_BYTES = 8192 };

/* What such a thread needs; all zeroes at first. */
struct os_clone {
    _Atomic int
        thread_id; /* the kernel's, 0 when the thread has gone and the rest may be used again */
    _Alignas(CACHE_LINE) char tls[2 * OS_CLONE_TLS_BYTES];
    _Alignas(CACHE_LINE) char stack[OS_CLONE_STACK_BYTES];
};

/* Starts `body` in a new thread with all signals blocked, and returns its id; a negated errno where
   there can be none. `clone` must have no thread. `far` is the address of a thread-local variable of the
   caller: if those lie further from the thread pointer than `tls` reaches, the answer is -ENOSPC.
   The body must not use libc's thread-local state, and ends the thread by returning. */
long os_clone_start(struct os_clone *clone, void (*body)(void), const void *far);

/* Names the calling thread: prctl(PR_SET_NAME). */
void os_clone_set_name(const char *name);
