/* Transparent huge pages: whether asking for them has any effect. */
#pragma once

#include "compiler.h"

/* Whether memory advised with OS_ADVISE_HUGEPAGE is given huge pages of 2 MiB now: by the system's
   settings (4.20: per size, 6.8) and this process's (PR_SET_THP_DISABLE). Opens files; read anew on
   every call, since programs such as redis-server change theirs while they start. */
bool os_thp_usable(void);

/* The same with all paths below root, for tests. */
bool os_thp_usable_at(const char *root);
