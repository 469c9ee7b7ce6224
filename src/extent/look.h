/* Looking at the own process through files and calls that a small process does without, and that a
   sandbox may kill for (docs/decisions/0007). */
#pragma once

#include <stdbool.h>

/* Whether that may be done now, by this thread. Opens a file in a process that is no small one. */
bool look_is_allowed(void);
