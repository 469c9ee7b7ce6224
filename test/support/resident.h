/*
 * What the kernel says of this process's memory, read without allocating: smaps_rollup for Rss and
 * LazyFree, statm for the size of the address space. The tests hold Fallow's own account against it.
 */
#ifndef FALLOW_TEST_RESIDENT_H
#define FALLOW_TEST_RESIDENT_H

#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

struct resident {
    size_t rss_bytes;
    size_t lazy_bytes;
    size_t locked_bytes;
};

static inline size_t resident_read_file(const char *path, char *text, size_t size) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    CHECK_THAT(file >= 0, "cannot open %s", path);
    size_t length = 0;
    ssize_t got;
    while (length + 1 < size && (got = read(file, text + length, size - 1 - length)) > 0) {
        length += (size_t)got;
    }
    text[length] = 0;
    close(file);
    return length;
}

static inline size_t resident_field(const char *text, const char *name) {
    const char *found = strstr(text, name);
    CHECK_THAT(found != NULL, "smaps_rollup has no %s", name);
    return (size_t)strtoul(found + strlen(name), NULL, 10) * 1024;
}

static inline struct resident resident_now(void) {
    char text[4096];
    resident_read_file("/proc/self/smaps_rollup", text, sizeof text);
    struct resident now = {
        .rss_bytes = resident_field(text, "\nRss:"),
        .lazy_bytes = resident_field(text, "\nLazyFree:"),
        .locked_bytes = resident_field(text, "\nLocked:"),
    };
    return now;
}

/* What would stay if the kernel took everything that it may take. */
static inline size_t resident_honest_bytes(void) {
    struct resident now = resident_now();
    return now.rss_bytes - now.lazy_bytes;
}

static inline size_t resident_address_space_bytes(void) {
    char text[256];
    resident_read_file("/proc/self/statm", text, sizeof text);
    return (size_t)strtoul(text, NULL, 10) * (size_t)sysconf(_SC_PAGESIZE);
}

#endif
