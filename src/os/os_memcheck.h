/* memcheck, valgrind's tool that knows of each byte whether it may be read: telling it what is a block, where the
   process runs in it. Without its header, or without FALLOW_MEMCHECK, nothing of this is compiled. The requests
   are a few instructions that do nothing on a real processor, and are passed in slow calls alone. */
#pragma once

#include <stdatomic.h>

#include "compiler.h"

#if FALLOW_MEMCHECK && defined(__has_include)
#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#define OS_MEMCHECK 1
#endif
#endif

#ifdef OS_MEMCHECK

enum os_memcheck { OS_MEMCHECK_UNKNOWN, OS_MEMCHECK_NO, OS_MEMCHECK_YES };

extern _Atomic unsigned char os_memcheck_answer;
bool os_memcheck_ask(void);

/* Whether the process runs in memcheck. From the first call on the answer stays what it is. */
static always_inline bool os_memcheck_is_on(void) {
    unsigned char answer = atomic_load_explicit(&os_memcheck_answer, memory_order_relaxed);
    return unlikely(answer != OS_MEMCHECK_NO) && os_memcheck_ask();
}

/* A block begins, or ends: of one that memcheck does not know as such it says so, and where that is called from. */
static inline void os_memcheck_begin(void *p, size_t bytes, bool zero) {
    VALGRIND_MALLOCLIKE_BLOCK(p, bytes, 0, zero);
}

static inline void os_memcheck_end(void *p) {
    VALGRIND_FREELIKE_BLOCK(p, 0);
}

/* Whether the program may read the byte at `p`. */
static inline bool os_memcheck_may_read(const void *p) {
    unsigned char bits;
    return VALGRIND_GET_VBITS(p, &bits, 1) == 1;
}

/* No program may touch the range: it has no blocks. */
static inline void os_memcheck_hide(void *base, size_t bytes) {
    if (os_memcheck_is_on())
        (void)VALGRIND_MAKE_MEM_NOACCESS(base, bytes);
}

/* In between, the calling thread's errors are not reported: Fallow's own records lie in memory that is
   hidden. They nest. */
static inline void os_memcheck_mute(void) {
    if (os_memcheck_is_on())
        VALGRIND_DISABLE_ERROR_REPORTING;
}

static inline void os_memcheck_unmute(void) {
    if (os_memcheck_is_on())
        VALGRIND_ENABLE_ERROR_REPORTING;
}

/* What points to a block from a range of whole pages keeps it from being called lost only if it is a block itself
   that points, and one that is not lost: the range is no root. Nobody may be writing there. */
void os_memcheck_unroot(void *base, size_t bytes);

#else

static always_inline bool os_memcheck_is_on(void) {
    return false;
}
static inline void os_memcheck_begin(void *p, size_t bytes, bool zero) {
    (void)p, (void)bytes, (void)zero;
}
static inline void os_memcheck_end(void *p) {
    (void)p;
}
static inline bool os_memcheck_may_read(const void *p) {
    (void)p;
    return true;
}
static inline void os_memcheck_hide(void *base, size_t bytes) {
    (void)base, (void)bytes;
}
static inline void os_memcheck_mute(void) {
}
static inline void os_memcheck_unmute(void) {
}
static inline void os_memcheck_unroot(void *base, size_t bytes) {
    (void)base, (void)bytes;
}

#endif
