/* What the kernel is told about mapped memory, and whether it can be believed. */
#pragma once

#include "compiler.h"

enum os_advice {
    OS_ADVISE_FREE, /* 4.5, without swap 4.12: kept until memory is short or a page is written */
    OS_ADVISE_DONTNEED, /* given back now; reads as zero afterwards */
    OS_ADVISE_HUGEPAGE,
    OS_ADVISE_NOHUGEPAGE,
};

/* 0, or the errno as a positive number: EINVAL (locked memory, kernel without the advice), ENOMEM
   (part of the range is a hole; the rest was done), EPERM or ENOSYS from a sandbox. */
must_check int os_advise(void *addr, size_t bytes, enum os_advice advice);

/* Whether OS_ADVISE_DONTNEED really zeroes here; the answer of one probe, made at first use. */
bool os_dontneed_zeroes(void);
