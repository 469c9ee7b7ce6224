/* The report for people. */
#pragma once

/* Prints it on standard error, without allocating. */
void report_print(void);
