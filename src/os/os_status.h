/* What /proc says of the calling thread and its process: whether system calls outside the ordinary are
   safe to make, and how many threads there are. Each call opens a file; nothing is kept. */
#pragma once

#include "compiler.h"

/* Whether the calling thread certainly has no seccomp filter now; false where that cannot be read. A
   sandbox may kill for an unusual call, prctl and seccomp included. Opening /proc/thread-self/status
   (3.17) is the one call that has to be made to know, and one that sandboxes tend to answer with an
   error instead of death. */
bool os_status_is_unfiltered(void);

/* Threads of the process; 0 where that cannot be read. */
unsigned os_status_threads(void);

/* The same of another file, for tests. */
bool os_status_is_unfiltered_in(const char *path);
unsigned os_status_threads_in(const char *path);
