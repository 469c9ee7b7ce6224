/* Looking again and again: on a terminal each look replaces the one before, elsewhere it follows it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Calls look() every so often until it returns false, `count` times at most (0: no bound), or until SIGINT or SIGTERM. Lines
   are printed between watch_line_start() and watch_line_end(). */
void watch_run(uint64_t interval_ms, uint64_t count, bool (*look)(void *context), void *context);
void watch_line_start(void);
void watch_line_end(void);
