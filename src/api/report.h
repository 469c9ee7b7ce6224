/* The report for people. */
#pragma once

#include <stdbool.h>

#include "fmt.h"

enum { REPORT_BYTES = 8192 }; /* more than it takes */

/* Prints it on standard error, without allocating. */
void report_print(void);
void report_text(struct fmt *f);

void report_lock_for_fork(void);
void report_unlock_after_fork(bool child);
