/* Writes text to descriptor 2 with raw system calls: no buffer, no state, no lock, errno untouched.
   Callers build whole lines with fmt and hand them over at once. */
#include "os_log.h"

#include <errno.h>
#include <string.h>

#include "os_syscall.h"

enum { OS_LOG_FD = 2 };

void os_log(const char *text, size_t len) {
    while (len > 0) {
        long written = os_syscall3(SYS_write, OS_LOG_FD, (long)text, (long)len);
        if (written == -EINTR)
            continue;
        if (written <= 0)
            return;
        text += written;
        len -= (size_t)written;
    }
}

void os_log_str(const char *text) {
    os_log(text, strlen(text));
}
