#ifndef BENCH_FAIL_H
#define BENCH_FAIL_H

#include <stdnoreturn.h>

enum bench_exit {
    BENCH_EXIT_FAILED = 1, // the run went wrong: no memory, or memory was corrupted
    BENCH_EXIT_USAGE = 2,  // the command line went wrong
    BENCH_EXIT_REFUSED = 3 // the system does not let what was to be measured be done
};

// Prints "program: message" on stderr and ends the process at once, from whichever thread.
// Allocates nothing.
noreturn void bench_fail(enum bench_exit status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
