/* Reads the line "Seccomp:" (3.8; absent without the configuration option) of the thread's status. */
#include "os_seccomp.h"

#include <string.h>

#include "os_file.h"

enum { SECCOMP_STATUS_BYTES = 4096 };

bool os_seccomp_is_absent_in(const char *status_path) {
    char text[SECCOMP_STATUS_BYTES];
    return os_file_read_all(status_path, text, sizeof text) > 0 &&
           strstr(text, "\nSeccomp:\t0\n") != NULL;
}

bool os_seccomp_is_absent(void) {
    return os_seccomp_is_absent_in("/proc/thread-self/status");
}
