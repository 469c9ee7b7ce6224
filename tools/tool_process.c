/* Reads /proc/PID: smaps_rollup and smaps have the same lines, so one reader serves both. No state. */
#include "tool_process.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

enum { PROCESS_FILE_BYTES = 64 };

static const uint64_t kib = 1024;

static void process_file(pid_t pid, const char *file, char path[PROCESS_FILE_BYTES]) {
    snprintf(path, PROCESS_FILE_BYTES, "/proc/%d/%s", (int)pid, file);
}

void process_name(pid_t pid, char name[PROCESS_NAME_BYTES]) {
    char path[PROCESS_FILE_BYTES];
    process_file(pid, "comm", path);
    if (tool_read(path, name, PROCESS_NAME_BYTES) <= 0)
        memcpy(name, "?", sizeof "?");
    name[strcspn(name, "\n")] = '\0';
}

int process_error(pid_t pid, int error, const char *what) {
    char path[PROCESS_FILE_BYTES];
    process_file(pid, "stat", path);
    bool exists = access(path, F_OK) == 0;
    if (error == ESRCH && exists)
        return tool_error(TOOL_NO_PROCESS,
                          "process %d has no memory: it is the kernel's own, or has ended",
                          (int)pid);
    if (error == ESRCH || !exists)
        return tool_error(TOOL_NO_PROCESS, "there is no process %d", (int)pid);
    if (error == EACCES || error == EPERM)
        return tool_error(TOOL_NOT_PERMITTED,
                          "process %d: %s: not permitted; it is another user's, or has more "
                          "privileges: try as root (CAP_SYS_PTRACE)",
                          (int)pid, what);
    return tool_error(TOOL_FAILED, "process %d: %s: %s", (int)pid, what, strerror(error));
}

/* --- lines --- */

/* "55d0-55f0 r--p 00000000 08:01 1234   /path": false if the line is no such. */
static bool process_parse_mapping(char *line, struct process_memory *out) {
    char *at;
    uintptr_t start = strtoul(line, &at, 16);
    if (at == line || *at != '-')
        return false;
    uintptr_t end = strtoul(at + 1, &at, 16);
    if (*at != ' ' || strlen(at) < sizeof out->permissions)
        return false;
    *out = (struct process_memory){.start = start, .end = end};
    memcpy(out->permissions, at + 1, sizeof out->permissions - 1);
    for (unsigned skipped = 0; skipped < 4 && *at != '\0'; skipped++) /* to the path */
        at += 1 + strcspn(at + 1, " \n");
    at += strspn(at, " ");
    at[strcspn(at, "\n")] = '\0';
    snprintf(out->path, sizeof out->path, "%s", at);
    return true;
}

/* Adds a line "Name:   number kB"; true if it was Rss. */
static bool process_parse_figure(const char *line, struct process_memory *out) {
    static const struct {
        const char *name;
        size_t offset;
    } fields[] = {
        {"Rss:", offsetof(struct process_memory, rss)},
        {"Pss:", offsetof(struct process_memory, pss)},
        {"Anonymous:", offsetof(struct process_memory, anonymous)},
        {"LazyFree:", offsetof(struct process_memory, lazy)},
        {"AnonHugePages:", offsetof(struct process_memory, huge)},
        {"Swap:", offsetof(struct process_memory, swap)},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        size_t length = strlen(fields[i].name);
        if (strncmp(line, fields[i].name, length) != 0)
            continue;
        uint64_t *sum = (uint64_t *)(void *)((char *)out + fields[i].offset);
        *sum += strtoull(line + length, NULL, 10) * kib;
        return i == 0;
    }
    return false;
}

/* All lines of a file of /proc/PID, until `take` returns false; 0 or an errno. */
static int process_lines(pid_t pid, const char *file, bool (*take)(char *line, void *context),
                         void *context) {
    char path[PROCESS_FILE_BYTES];
    process_file(pid, file, path);
    FILE *stream = fopen(path, "re");
    if (stream == NULL)
        return errno;
    char *line = NULL;
    size_t cap = 0;
    int error = 0;
    while ((errno = 0, getline(&line, &cap, stream) >= 0)) {
        if (!take(line, context))
            break;
    }
    if (ferror(stream) != 0)
        error = errno;
    free(line);
    fclose(stream);
    return error;
}

struct process_sum {
    struct process_memory *out;
    bool seen;
};

static bool process_sum_line(char *line, void *context) {
    struct process_sum *sum = context;
    sum->seen |= process_parse_figure(line, sum->out);
    return true;
}

int process_sum_try(pid_t pid, struct process_memory *out) {
    struct process_sum sum = {.out = out};
    *out = (struct process_memory){0};
    int error = process_lines(pid, "smaps_rollup", process_sum_line, &sum);
    if (error == ENOENT)
        error = process_lines(pid, "smaps", process_sum_line, &sum);
    return error == 0 && !sum.seen ? ESRCH : error;
}

int process_sum(pid_t pid, struct process_memory *out) {
    int error = process_sum_try(pid, out);
    return error == 0 ? TOOL_OK : process_error(pid, error, "smaps_rollup");
}

struct process_smaps {
    void (*visit)(const struct process_memory *, void *);
    void *context;
    bool pending;
    struct process_memory now;
};

static bool process_smaps_line(char *line, void *context) {
    struct process_smaps *smaps = context;
    struct process_memory next;
    if (process_parse_mapping(line, &next)) {
        if (smaps->pending)
            smaps->visit(&smaps->now, smaps->context);
        smaps->now = next;
        smaps->pending = true;
    } else {
        process_parse_figure(line, &smaps->now);
    }
    return true;
}

int process_smaps(pid_t pid, void (*visit)(const struct process_memory *, void *), void *context) {
    struct process_smaps smaps = {.visit = visit, .context = context};
    int error = process_lines(pid, "smaps", process_smaps_line, &smaps);
    if (smaps.pending)
        visit(&smaps.now, context);
    return error == 0 ? TOOL_OK : process_error(pid, error, "smaps");
}

struct process_maps {
    bool (*visit)(const struct process_memory *, void *);
    void *context;
};

static bool process_maps_line(char *line, void *context) {
    struct process_maps *maps = context;
    struct process_memory now;
    return !process_parse_mapping(line, &now) || maps->visit(&now, maps->context);
}

int process_maps(pid_t pid, bool (*visit)(const struct process_memory *, void *), void *context) {
    struct process_maps maps = {.visit = visit, .context = context};
    int error = process_lines(pid, "maps", process_maps_line, &maps);
    return error == 0 ? TOOL_OK : process_error(pid, error, "maps");
}
