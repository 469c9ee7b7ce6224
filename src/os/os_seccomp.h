/* Whether system calls outside the ordinary are safe to make: a sandbox may kill for one. */
#pragma once

#include "compiler.h"

/* Whether the calling thread certainly has no seccomp filter now; false where that cannot be read. Opens
   /proc/thread-self/status (3.17): the one call outside mmap and its like that has to be made to know,
   and one that sandboxes tend to answer with an error instead of death. */
bool os_seccomp_is_absent(void);

/* The same of another file, for tests. */
bool os_seccomp_is_absent_in(const char *status_path);
