/* Looking again and again: on a terminal each look replaces the one before, elsewhere it follows it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct watch_times {
    uint64_t interval_ms;
    uint64_t count; /* of looks, at most; 0: no bound */
};

/* The options -i and -n (`letter`) of a subcommand: TOOL_USAGE, with a message, for a bad argument. */
int watch_option(const char *command, int letter, const char *argument, struct watch_times *out);

/* Calls look() again and again until it returns false, or there were enough, or until SIGINT or SIGTERM. Lines
   are printed between watch_line_start() and watch_line_end(). */
void watch_run(const struct watch_times *times, bool (*look)(void *context), void *context);
void watch_line_start(void);
void watch_line_end(void);
