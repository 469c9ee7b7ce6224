/* The control groups of the process, version 1 and 2, as /proc/self/cgroup names them. Everything is read
   anew on every call: a process can be moved. */
#pragma once

#include "compiler.h"

enum os_cgroup_version { OS_CGROUP_V1, OS_CGROUP_V2 };

struct os_cgroup_controller {
    const char *name;
    const char *v1_mounts[2]; /* where it may be mounted; the second may be NULL */
};

/* Calls `visit` with the folder of each group that may have a say: for each hierarchy of the controller
   and each place where it may be mounted, the own group and then those above it, up to the mount point.
   The folder need not exist: a container may see its own subtree at the mount point, under a longer
   name. Until `visit` returns false. All paths are below `root`. Opens a file; no allocation. */
void os_cgroup_visit(const char *root, const struct os_cgroup_controller *controller,
                     bool (*visit)(const char *folder, enum os_cgroup_version version,
                                   void *context),
                     void *context);

/* The first cap - 1 bytes of a file of the folder, terminated; false if there are none. */
bool os_cgroup_read(const char *folder, const char *file, char *value, size_t cap);

/* What the own memory cgroup is charged, all its processes and the page cache included: memory.current,
   or memory.usage_in_bytes. 0 where there is none or it cannot be read. The root of version 1 has one,
   that of version 2 has none. */
uint64_t os_cgroup_memory_bytes(void);

/* The same with all paths below root, for tests. */
uint64_t os_cgroup_memory_bytes_at(const char *root);
