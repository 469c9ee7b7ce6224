/* Text for people: rows of bytes, bars, and colours where standard output is a terminal. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum print_style { PRINT_PLAIN, PRINT_BOLD, PRINT_GOOD, PRINT_WARNING, PRINT_BAD, PRINT_DIM };

/* What switches a style on or off: "" unless standard output is a terminal (and NO_COLOR is not set, and TERM
   is not dumb). */
const char *print_on(enum print_style style);
const char *print_off(void);

bool print_is_terminal(void);
/* Of the terminal, or 80. */
unsigned print_columns(void);

/* "  name      bytes     12.3 MiB". */
void print_row(const char *name, uint64_t bytes);

/* Text such as 12.3 MiB; in one of four buffers, in turn. */
const char *print_bytes(uint64_t bytes);

/* A bar of `columns` for two parts of `full`: '#' for the first, '-' for the second, blanks for the rest. */
void print_bar(unsigned columns, uint64_t first, uint64_t second, uint64_t full);

/* What comes from elsewhere, with '?' for what could command a terminal. */
void print_clean(const char *text);
