/* Messages, numbers and small files. No state. */
#include "tool.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const uint64_t milliseconds = 1000;

int tool_error(int status, const char *format, ...) {
    va_list arguments;
    fflush(stdout);
    fputs("fallow: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    return status;
}

int tool_usage(const char *command, const char *format, ...) {
    va_list arguments;
    fprintf(stderr, "fallow %s: ", command);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\n'fallow %s --help' says more\n", command);
    return TOOL_USAGE;
}

int tool_usage_option(const char *command, char **argv) {
    const char *option = argv[optind - 1];
    if (optopt != 0 && strncmp(option, "--", 2) != 0)
        return tool_usage(command, "-%c is no option, or lacks its argument", optopt);
    return tool_usage(command, "%s is no option, or lacks its argument", option);
}

bool tool_number(const char *text, uint64_t least, uint64_t most, uint64_t *out) {
    uint64_t value = 0;
    if (*text == '\0')
        return false;
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9' || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*text - '0'), &value))
            return false;
    }
    *out = value;
    return value >= least && value <= most;
}

bool tool_seconds(const char *text, uint64_t *out_ms) {
    static const double least = 0.01, most = 86400;
    char *end;
    if (*text < '0' || *text > '9')
        return false;
    double seconds = strtod(text, &end);
    if (*end != '\0' || !(seconds >= least && seconds <= most))
        return false;
    *out_ms = (uint64_t)(seconds * (double)milliseconds);
    return true;
}

bool tool_pid(const char *text, pid_t *out) {
    uint64_t value;
    if (!tool_number(text, 1, INT32_MAX, &value))
        return false;
    *out = (pid_t)value;
    return true;
}

int tool_pids(const char *command, int count, char **arguments) {
    if (count == 0)
        return tool_usage(command, "of which process? PID is missing");
    for (int i = 0; i < count; i++) {
        pid_t pid;
        if (!tool_pid(arguments[i], &pid))
            return tool_usage(command, "%s is no process number", arguments[i]);
    }
    return TOOL_OK;
}

int tool_finish(int status) {
    if (fflush(stdout) == 0 && ferror(stdout) == 0)
        return status;
    return tool_error(TOOL_FAILED, "standard output: %s", strerror(errno));
}

const char *tool_root(void) {
    const char *root = getenv("FALLOW_TOOL_ROOT");
    return root != NULL ? root : "";
}

bool tool_has_swap(void) {
    char path[256], text[1024];
    snprintf(path, sizeof path, "%s/proc/swaps", tool_root());
    if (tool_read(path, text, sizeof text) <= 0)
        return false; /* a kernel without it */
    const char *line = strchr(text, '\n');
    return line != NULL && line[1] != '\0';
}

ssize_t tool_read(const char *path, char *text, size_t cap) {
    size_t length = 0;
    text[0] = '\0';
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    while (length + 1 < cap) {
        ssize_t got = read(fd, text + length, cap - 1 - length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            int error = errno;
            close(fd);
            errno = error;
            return -1;
        }
        if (got == 0)
            break;
        length += (size_t)got;
    }
    close(fd);
    text[length] = '\0';
    return (ssize_t)length;
}
