/* What all subcommands share: the exit statuses, messages, numbers on the command line. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Documented in fallow(1). */
enum tool_status {
    TOOL_OK,
    TOOL_FAILED,        /* what was asked for was not achieved */
    TOOL_USAGE,         /* the command line */
    TOOL_NO_PROCESS,    /* there is no such process, or none with memory of its own */
    TOOL_NOT_PERMITTED, /* the kernel does not let this user look at it */
    TOOL_NO_FALLOW,     /* it runs without Fallow */
    TOOL_UNAVAILABLE,   /* the kernel has no such interface, or the machine is not as it must be */
    TOOL_RUN = 125,     /* fallow run could not start the program, */
    TOOL_RUN_EXEC,      /* or it is no program, */
    TOOL_RUN_NOT_FOUND, /* or it is not there */
};

/* The subcommands: what main() of each would be. */
int doctor_main(int argc, char **argv);
int rss_main(int argc, char **argv);
int run_main(int argc, char **argv);
int stats_main(int argc, char **argv);
int trim_main(int argc, char **argv);

/* "fallow: ..." on standard error; returns `status`. */
int tool_error(int status, const char *format, ...) __attribute__((__format__(printf, 2, 3)));
/* The same for a mistake on the command line of a subcommand, with a pointer to its help. */
int tool_usage(const char *command, const char *format, ...)
    __attribute__((__format__(printf, 2, 3)));

/* The options after which getopt stopped, if it did for one it does not know. */
int tool_usage_option(const char *command, char **argv);

/* A decimal number of [least, most], the whole text. */
bool tool_number(const char *text, uint64_t least, uint64_t most, uint64_t *out);
/* A number of seconds of [0.01, 86400], such as 2 or 0.25, in milliseconds. */
bool tool_seconds(const char *text, uint64_t *out_ms);
bool tool_pid(const char *text, pid_t *out);
/* Whether the arguments are process numbers, and there is one: TOOL_USAGE, with a message, if not. */
int tool_pids(const char *command, int count, char **arguments);

/* Flushes standard output; TOOL_FAILED, with a message, if that fails, else `status`. */
int tool_finish(int status);

/* Where /proc and /sys are looked for: "", or for tests what FALLOW_TOOL_ROOT says. */
const char *tool_root(void);

/* Whether the machine has swap, in use or not. */
bool tool_has_swap(void);

/* The first `cap` - 1 bytes of a file, terminated; -1 with errno. */
ssize_t tool_read(const char *path, char *text, size_t cap);
