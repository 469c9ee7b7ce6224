/* A process seen from outside: its name, its mappings, and what the kernel says of its memory. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { PROCESS_PATH_BYTES = 4352, PROCESS_NAME_BYTES = 64 };

/* Its name as the kernel has it; "?" where that cannot be read. */
void process_name(pid_t pid, char name[PROCESS_NAME_BYTES]);

/* What an errno of a file of /proc or of a system call means for `pid`: a message, and the status. */
int process_error(pid_t pid, int error, const char *what);

/* One mapping, or the sum of all. Bytes. */
struct process_memory {
    uintptr_t start, end;
    char permissions[5];
    char path[PROCESS_PATH_BYTES]; /* "" for anonymous memory */
    uint64_t rss, pss, anonymous, lazy, huge, swap;
};

/* The sum of all: /proc/PID/smaps_rollup, before 4.14 smaps. A status, with a message if it is not TOOL_OK. */
int process_sum(pid_t pid, struct process_memory *out);
/* The same without a message: 0 or an errno. */
int process_sum_try(pid_t pid, struct process_memory *out);

/* Each mapping, in order, by smaps. */
int process_smaps(pid_t pid, void (*visit)(const struct process_memory *, void *), void *context);

/* Each mapping without its figures, by maps, as long as `visit` returns true. */
int process_maps(pid_t pid, bool (*visit)(const struct process_memory *, void *), void *context);
