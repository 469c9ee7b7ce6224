/* Debug builds only: a test program that defines fallow_test_call() sees each system call before it is
   made, and may answer in the kernel's place. Release builds have nothing of it. */
#pragma once

#include "compiler.h"

#if FALLOW_DEBUG

/* True: the call is not made, and *result is what the kernel answers, an error as a negated errno. Runs
   wherever Fallow calls the kernel, under its locks too, so it may not allocate. */
extern bool fallow_test_call(long number, const long arguments[6], long *result)
    __attribute__((__weak__, __visibility__("default")));

static inline bool os_inject(long number, const long arguments[6], long *result) {
    return fallow_test_call != NULL && fallow_test_call(number, arguments, result);
}

#else

static always_inline bool os_inject(long number, const long arguments[6], long *result) {
    (void)number, (void)arguments, (void)result;
    return false;
}

#endif
