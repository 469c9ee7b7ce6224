/* jemalloc's mallctl interface over this heap: names, mibs, and what may be read, written or done. A mib has a number for
   each component of its name: the arena's or class's where there is one, otherwise something that is this library's own. */
#pragma once

#include <stddef.h>

/* As mallctl(3) has them; 0 or ENOENT, EINVAL, EPERM, EAGAIN. */
int ctl_by_name(const char *name, void *oldp, size_t *oldlenp, void *newp, size_t newlen);
int ctl_mib_of_name(const char *name, size_t *mibp, size_t *miblenp);
int ctl_by_mib(const size_t *mib, size_t miblen, void *oldp, size_t *oldlenp, void *newp,
               size_t newlen);
