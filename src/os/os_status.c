/* Lines of the thread's status file: "Seccomp:" (3.8; absent without the configuration option) and
   "Threads:". */
#include "os_status.h"

#include <string.h>

#include "os_file.h"

enum { STATUS_BYTES = 4096 };

static const char status_path[] = "/proc/thread-self/status";

bool os_status_is_unfiltered_in(const char *path) {
    char text[STATUS_BYTES];
    return os_file_read_all(path, text, sizeof text) > 0 && strstr(text, "\nSeccomp:\t0\n") != NULL;
}

unsigned os_status_threads_in(const char *path) {
    static const char name[] = "\nThreads:\t";
    char text[STATUS_BYTES];
    unsigned threads = 0;
    const char *at = os_file_read_all(path, text, sizeof text) > 0 ? strstr(text, name) : NULL;
    if (at == NULL)
        return 0;
    for (at += sizeof name - 1; *at >= '0' && *at <= '9'; at++)
        threads = threads * 10 + (unsigned)(*at - '0');
    return threads;
}

bool os_status_is_unfiltered(void) {
    return os_status_is_unfiltered_in(status_path);
}

unsigned os_status_threads(void) {
    return os_status_threads_in(status_path);
}
