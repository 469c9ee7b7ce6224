// The one way out when a benchmark cannot go on. It writes without stdio's buffers and leaves by
// _exit, because the allocator under test may be the thing that is broken, and because other
// threads may be in the middle of it.

#include "bench_fail.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

enum { MESSAGE_BYTES = 512 };

noreturn void bench_fail(enum bench_exit status, const char *format, ...) {
    char message[MESSAGE_BYTES];
    int length = snprintf(message, sizeof message - 1, "%s: ", program_invocation_short_name);

    va_list arguments;
    va_start(arguments, format);
    length += vsnprintf(message + length, sizeof message - 1 - (size_t)length, format, arguments);
    va_end(arguments);
    if (length > MESSAGE_BYTES - 2)
        length = MESSAGE_BYTES - 2;
    message[length] = '\n';

    ssize_t written = write(STDERR_FILENO, message, (size_t)length + 1);
    (void)written; // nobody is left to be told
    _exit((int)status);
}
