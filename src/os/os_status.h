/* What /proc says of the calling thread and its process: whether system calls outside the ordinary are
   safe to make, how many threads there are, with which credentials. Each call opens a file; nothing is kept. */
#pragma once

#include "compiler.h"

/* Whether the calling thread certainly has no seccomp filter now; false where that cannot be read. A
   sandbox may kill for an unusual call, prctl and seccomp included. Opening /proc/thread-self/status
   (3.17) is the one call that has to be made to know, and one that sandboxes tend to answer with an
   error instead of death. */
bool os_status_is_unfiltered(void);

/* Threads of the process; 0 where that cannot be read. */
unsigned os_status_threads(void);

/* Whether the calling thread has the credentials of its process's first thread: users, groups, effective
   capabilities. True where that cannot be read. */
bool os_status_has_process_credentials(void);

/* The same of other files, for tests. */
bool os_status_is_unfiltered_in(const char *path);
unsigned os_status_threads_in(const char *path);
bool os_status_credentials_agree(const char *path, const char *other_path);
