/* Lines of a thread's status file: "Seccomp:" (3.8; absent without the configuration option), "Threads:",
   and those of its credentials. */
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

/* The line of `text` that begins with `name`, and its length, or NULL. */
static const char *status_line(const char *text, const char *name, size_t *length) {
    const char *line = strstr(text, name);
    if (line == NULL)
        return NULL;
    *length = strcspn(line + 1, "\n") + 1;
    return line;
}

bool os_status_credentials_agree(const char *path, const char *other_path) {
    static const char *const names[] = {"\nUid:", "\nGid:", "\nGroups:", "\nCapEff:"};
    char text[STATUS_BYTES], other[STATUS_BYTES];
    if (os_file_read_all(path, text, sizeof text) <= 0 ||
        os_file_read_all(other_path, other, sizeof other) <= 0)
        return true;
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        size_t a_length = 0, b_length = 0;
        const char *a = status_line(text, names[i], &a_length);
        const char *b = status_line(other, names[i], &b_length);
        if (a != NULL && b != NULL && (a_length != b_length || memcmp(a, b, a_length) != 0))
            return false;
    }
    return true;
}

bool os_status_has_process_credentials(void) {
    return os_status_credentials_agree(status_path, "/proc/self/status");
}

bool os_status_is_unfiltered(void) {
    return os_status_is_unfiltered_in(status_path);
}

unsigned os_status_threads(void) {
    return os_status_threads_in(status_path);
}
