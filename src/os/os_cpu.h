/* How many CPUs this process may use. Both are read anew on every call: they change while it runs. */
#pragma once

#include "compiler.h"

/* CPUs in the calling thread's affinity mask; at least 1. One system call, no file. */
unsigned os_cpu_usable(void);

/* The tightest CPU quota of the own cgroup and those above it, v2 or v1, in CPUs rounded up; 0 if
   there is none or it cannot be read. Opens files. */
unsigned os_cpu_quota(void);

/* The same with all paths below root, for tests. */
unsigned os_cpu_quota_at(const char *root);
