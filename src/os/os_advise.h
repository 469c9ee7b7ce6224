/* What the kernel is told about mapped memory, and whether it can be believed. */
#pragma once

#include "compiler.h"

enum os_advice {
    OS_ADVISE_FREE, /* 4.5, without swap 4.12: kept until memory is short or a page is written */
    OS_ADVISE_DONTNEED, /* given back now; reads as zero afterwards */
    OS_ADVISE_HUGEPAGE,
    OS_ADVISE_NOHUGEPAGE,
    OS_ADVISE_PAGEOUT, /* 5.4: reclaim now; for tests */
};

/* 0, or the errno as a positive number: EINVAL (locked memory, kernel without the advice), ENOMEM
   (part of the range is a hole; the rest was done), EPERM or ENOSYS from a sandbox. */
must_check int os_advise(void *addr, size_t bytes, enum os_advice advice);

/* A range to advise; laid out as struct iovec. */
struct os_range {
    void *addr;
    size_t bytes;
};

enum { OS_RANGES_MAX = 1024 }; /* the kernel's bound on one call */

/* Many ranges with one system call and one flush of the address translation caches: process_madvise on
   the own process (6.13; one flush 6.16). Returns how many bytes were advised, from the front, which may
   end inside a range; or, when nothing was, a negated errno: of the first range, or of the call where
   the kernel does not offer it (ENOSYS, EBADF, EINVAL, EPERM). A sandbox may kill for it: os_status.h. */
must_check long os_advise_ranges(const struct os_range *ranges, size_t count,
                                 enum os_advice advice);

/* Whether OS_ADVISE_DONTNEED really zeroes here; the answer of one probe, made at first use. */
bool os_dontneed_zeroes(void);
