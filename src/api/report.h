/* The report for people. */
#pragma once

#include <stdbool.h>

/* Prints it on standard error, without allocating. */
void report_print(void);

void report_lock_for_fork(void);
void report_unlock_after_fork(bool child);
