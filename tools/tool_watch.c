/* Owns the number of lines that the last look printed. A signal ends the loop between two looks, so that the cursor
   is left below them. */
#include "tool_watch.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "tool.h"
#include "tool_print.h"

static unsigned watch_lines;
static volatile sig_atomic_t watch_ended;

static void watch_end(int signal) {
    (void)signal;
    watch_ended = 1;
}

void watch_line_start(void) {
    if (print_is_terminal())
        fputs("\033[2K", stdout); /* erases the line */
}

void watch_line_end(void) {
    putchar('\n');
    watch_lines++;
}

static void watch_sleep(uint64_t ms) {
    struct timespec left = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000};
    while (!watch_ended && nanosleep(&left, &left) != 0 && errno == EINTR)
        continue;
}

int watch_option(const char *command, int letter, const char *argument, struct watch_times *out) {
    if (letter == 'i' && !tool_seconds(argument, &out->interval_ms))
        return tool_usage(command, "-i %s: seconds from 0.01 to 86400", argument);
    if (letter == 'n' && !tool_number(argument, 1, UINT32_MAX, &out->count))
        return tool_usage(command, "-n %s: a number from 1 on", argument);
    return TOOL_OK;
}

void watch_run(const struct watch_times *times, bool (*look)(void *context), void *context) {
    struct sigaction action = {.sa_handler = watch_end};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    for (uint64_t looks = 1;; looks++) {
        if (print_is_terminal() && watch_lines > 0)
            printf("\033[%uA", watch_lines); /* back up */
        watch_lines = 0;
        bool more = look(context);
        if (fflush(stdout) != 0 || !more || looks == times->count)
            return;
        watch_sleep(times->interval_ms);
        if (watch_ended)
            return;
    }
}
