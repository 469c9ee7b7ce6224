/* Which pages of the own memory are resident. */
#pragma once

#include "compiler.h"

/* A descriptor for os_residence_read(), to be closed with os_file_close(), or a negated errno. */
int os_residence_open(void);

/* Sets one bit of `bitmap`, which is all zeroes, for each of the `pages` pages from `base` on that is
   resident and in Rss. PAGEMAP_SCAN where there is one (6.7); else the entries of the file, where the
   page of zeroes that reading brings counts as well. False where neither can be had. */
bool os_residence_read(int fd, const void *base, size_t pages, uint64_t *bitmap);

/* The same of any number of pages, of which only the number that are resident is told. */
bool os_residence_sum(int fd, const void *base, size_t pages, size_t *resident);

/* Whether some of it is mapped by a huge page as a whole; false also where the kernel does not say. */
bool os_residence_is_huge(int fd, const void *base, size_t bytes);

static inline bool os_residence_is_set(const uint64_t *bitmap, size_t page) {
    return (bitmap[page / 64] >> (page % 64) & 1) != 0;
}

/* Pages of [first, first + n) whose bit is set. */
size_t os_residence_count(const uint64_t *bitmap, size_t first, size_t n);
