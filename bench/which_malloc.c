// Whose malloc is it? The address of malloc, looked up in /proc/self/maps. This file must be
// compiled as position-independent code: then the address comes from the global offset table, and
// is that of the definition that won, never of a stub in the program.

#include "which_malloc.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

enum { LINE_BYTES = PATH_MAX + 256 };

// A file read line by line without stdio, which would call malloc.
struct line_reader {
    int fd;
    size_t next, length; // what is left of buffer
    char buffer[8192];
    char line[LINE_BYTES];
};

static bool read_char(struct line_reader *reader, char *character) {
    if (reader->next == reader->length) {
        ssize_t got = read(reader->fd, reader->buffer, sizeof reader->buffer);
        if (got <= 0)
            return false;
        reader->next = 0;
        reader->length = (size_t)got;
    }
    *character = reader->buffer[reader->next++];
    return true;
}

// False at the end of the file.
static bool read_line(struct line_reader *reader) {
    size_t length = 0;
    char character;
    while (length < LINE_BYTES - 1 && read_char(reader, &character) && character != '\n')
        reader->line[length++] = character;
    reader->line[length] = '\0';
    return length > 0;
}

// "7f01a000-7f02b000 r-xp 00001000 fe:00 1234    /lib/object.so": does it hold the address?
static bool line_holds(const char *line, uintptr_t address) {
    char *dash;
    uintptr_t start = strtoul(line, &dash, 16);
    return *dash == '-' && address >= start && address < strtoul(dash + 1, NULL, 16);
}

static void find_path(uintptr_t address, char path[PATH_MAX]) {
    snprintf(path, PATH_MAX, "unknown");
    static struct line_reader reader;
    reader.fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (reader.fd < 0)
        return;
    while (read_line(&reader)) {
        const char *found = strchr(reader.line, '/');
        if (found && line_holds(reader.line, address)) {
            snprintf(path, PATH_MAX, "%.*s", PATH_MAX - 1, found);
            break;
        }
    }
    close(reader.fd);
}

static bool path_is_program(const char *path) {
    static char program[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length < 0)
        return false;
    program[length] = '\0';
    return strcmp(program, path) == 0;
}

static void name_by_path(const char *path, char *name, size_t name_bytes) {
    static const struct {
        const char *prefix, *name;
    } known[] = {
        {"libfallow", "fallow"},
        {"libjemalloc", "jemalloc"},
        {"libmimalloc", "mimalloc"},
        {"libtcmalloc", "tcmalloc"},
        {"libsnmalloc", "snmalloc"},
        {"librpmalloc", "rpmalloc"},
        {"libscudo", "scudo"},
        {"libhardened_malloc", "hardened_malloc"},
        {"libasan", "AddressSanitizer"},
        {"libtsan", "ThreadSanitizer"},
        {"ld-musl", "musl"},
    };
    const char *slash = strrchr(path, '/');
    const char *file = slash ? slash + 1 : path;

#ifdef __GLIBC__
    if (strncmp(file, "libc.so", 7) == 0 || strncmp(file, "libc-", 5) == 0) {
        snprintf(name, name_bytes, "glibc %s", gnu_get_libc_version());
        return;
    }
#endif
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strncmp(file, known[i].prefix, strlen(known[i].prefix)) == 0) {
            snprintf(name, name_bytes, "%s", known[i].name);
            return;
        }
    }
    if (path_is_program(path))
        snprintf(name, name_bytes, "linked into the program");
    else
        snprintf(name, name_bytes, "%.*s", (int)name_bytes - 1, file);
}

void which_malloc_find(struct which_malloc *which) {
    find_path((uintptr_t)&malloc, which->path);
    name_by_path(which->path, which->name, sizeof which->name);
}
