#ifndef EBIZZY_MEMORY_H
#define EBIZZY_MEMORY_H

// Where fallow-ebizzy's memory comes from: the allocator under test, mmap under -m, and for the
// benchmark's own tables always mmap, so that they are no part of what is measured.

#include <stdbool.h>
#include <stddef.h>

// All three end the program with BENCH_EXIT_FAILED when there is no memory. `what` is for that
// message.
void *ebizzy_memory_allocate(bool use_mmap, size_t bytes, const char *what);
void ebizzy_memory_release(bool use_mmap, void *block, size_t bytes);
void *ebizzy_memory_table(size_t bytes); // zeroed, never released

#endif
