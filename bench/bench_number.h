#ifndef BENCH_NUMBER_H
#define BENCH_NUMBER_H

// Numbers on a command line, read strictly: the whole text, within bounds, or the program ends with
// BENCH_EXIT_USAGE and a message that names the option, the text and what would have been right.

#include <stddef.h>
#include <stdint.h>

// A whole number, decimal or 0x...
uint64_t bench_number_whole(const char *option, const char *text, uint64_t least, uint64_t most);

// The same, with an optional suffix k, m or g (powers of 1024).
size_t bench_number_bytes(const char *option, const char *text, size_t least, size_t most);

// A finite decimal number, fraction allowed.
double bench_number_real(const char *option, const char *text, double least, double most);

#endif
