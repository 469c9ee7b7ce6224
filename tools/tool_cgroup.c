/* Finds the group by /proc/PID/cgroup below the usual mount points, or the nearest above it that is visible here: a
   container sees its own group at the mount point. Lazily freed pages lie on the list of inactive file pages (since
   4.12), and stay there when they are written again, until reclaim looks at them. So what is on the file lists beyond the page
   cache is anonymous, and what of that is not LazyFree is in use. */
#include "tool_cgroup.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

enum { CGROUP_TEXT_BYTES = 8192, CGROUP_PATH_BYTES = CGROUP_FOLDER_BYTES + 64 };

static const uint64_t no_limit_v1 = (uint64_t)1 << 62, kib = 1024;

static bool cgroup_file(const char *folder, const char *file, char *text, size_t cap) {
    char path[CGROUP_PATH_BYTES];
    return snprintf(path, sizeof path, "%s/%s", folder, file) < (int)sizeof path &&
           tool_read(path, text, cap) > 0;
}

/* A number alone in its file; 0 where there is none, as for "max". */
static uint64_t cgroup_number(const char *folder, const char *file) {
    char text[64];
    return cgroup_file(folder, file, text, sizeof text) ? strtoull(text, NULL, 10) : 0;
}

/* The value after `name` at the beginning of a line. */
static bool cgroup_stat(const char *text, const char *name, uint64_t *out) {
    size_t length = strlen(name);
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, length) == 0 && line[length] == ' ') {
            *out = strtoull(line + length, NULL, 10);
            return true;
        }
    }
    return false;
}

/* The path after "...:controller:" in /proc/PID/cgroup; of version 2 for "". */
static bool cgroup_path(const char *text, const char *controller, char *out, size_t cap) {
    size_t wanted = strlen(controller);
    for (const char *line = text; *line != '\0';
         line += strcspn(line, "\n"), line += *line == '\n') {
        const char *at = line + strcspn(line, ":\n");
        const char *end = at + strcspn(at, "\n");
        if (*at != ':')
            continue;
        for (at++; at < end && *at != '/';) { /* the controllers, with commas between */
            size_t length = strcspn(at, ",:\n");
            bool found = length == wanted && memcmp(at, controller, wanted) == 0;
            at += length;
            const char *path = strchr(at, ':');
            if (found && path != NULL && path < end) {
                snprintf(out, cap, "%.*s", (int)(end - path - 1), path + 1);
                return true;
            }
            at += at < end;
        }
    }
    return false;
}

/* The nearest folder from mount/path upwards that has the file. */
static bool cgroup_climb(const char *mount, const char *path, const char *file, char *folder) {
    char probe[CGROUP_PATH_BYTES];
    int length = snprintf(folder, CGROUP_FOLDER_BYTES, "%s%s%s", tool_root(), mount, path);
    size_t top = strlen(tool_root()) + strlen(mount);
    if (length >= CGROUP_FOLDER_BYTES)
        return false;
    while ((size_t)length > top && folder[length - 1] == '/')
        folder[--length] = '\0';
    for (;;) {
        snprintf(probe, sizeof probe, "%s/%s", folder, file);
        if (access(probe, R_OK) == 0)
            return true;
        char *slash = strrchr(folder, '/');
        if (slash == NULL || (size_t)(slash - folder) < top)
            return false;
        *slash = '\0';
    }
}

static bool cgroup_find(pid_t pid, struct cgroup_memory *out) {
    char file[CGROUP_PATH_BYTES], text[CGROUP_TEXT_BYTES], path[CGROUP_FOLDER_BYTES];
    snprintf(file, sizeof file, "%s/proc/%d/cgroup", tool_root(), (int)pid);
    if (tool_read(file, text, sizeof text) <= 0)
        return false;
    out->version = 1;
    if (cgroup_path(text, "memory", path, sizeof path) &&
        cgroup_climb("/sys/fs/cgroup/memory", path, "memory.usage_in_bytes", out->folder))
        return true;
    out->version = 2;
    return cgroup_path(text, "", path, sizeof path) &&
           (cgroup_climb("/sys/fs/cgroup", path, "memory.current", out->folder) ||
            cgroup_climb("/sys/fs/cgroup/unified", path, "memory.current", out->folder));
}

static uint64_t least_but_none(uint64_t a, uint64_t b) {
    return a == 0 || (b != 0 && b < a) ? b : a;
}

/* The limits of version 2 hold for all below: from the group up. */
static void cgroup_limits_v2(struct cgroup_memory *out) {
    char folder[CGROUP_FOLDER_BYTES];
    size_t top = strlen(tool_root()) + strlen("/sys/fs/cgroup");
    memcpy(folder, out->folder, sizeof folder);
    for (;;) {
        out->limit = least_but_none(out->limit, cgroup_number(folder, "memory.max"));
        out->high = least_but_none(out->high, cgroup_number(folder, "memory.high"));
        char *slash = strrchr(folder, '/');
        if (slash == NULL || (size_t)(slash - folder) < top)
            return;
        *slash = '\0';
    }
}

static void cgroup_add_process(const char *pid, struct cgroup_memory *out) {
    char path[CGROUP_PATH_BYTES], text[CGROUP_TEXT_BYTES];
    uint64_t lazy = 0;
    snprintf(path, sizeof path, "%s/proc/%.*s/smaps_rollup", tool_root(), (int)strcspn(pid, "\n"),
             pid);
    out->processes++;
    if (tool_read(path, text, sizeof text) > 0 && cgroup_stat(text, "LazyFree:", &lazy))
        out->lazy += lazy * kib;
    else
        out->lazy_is_whole = false;
}

/* The processes of a group; version 2 counts those of the groups below it as well. */
static void cgroup_add_processes(const char *folder, struct cgroup_memory *out) {
    char path[CGROUP_PATH_BYTES], line[64];
    snprintf(path, sizeof path, "%s/cgroup.procs", folder);
    FILE *stream = fopen(path, "re");
    if (stream == NULL) {
        out->lazy_is_whole = false;
        return;
    }
    while (fgets(line, sizeof line, stream) != NULL)
        cgroup_add_process(line, out);
    fclose(stream);
}

static void cgroup_add_tree(const char *folder, struct cgroup_memory *out) {
    cgroup_add_processes(folder, out);
    DIR *directory = out->version == 2 ? opendir(folder) : NULL;
    if (directory == NULL)
        return;
    struct dirent *entry;
    while ((entry = readdir(directory)) != NULL) {
        char below[CGROUP_FOLDER_BYTES];
        if (entry->d_type == DT_DIR && entry->d_name[0] != '.' &&
            snprintf(below, sizeof below, "%s/%s", folder, entry->d_name) < (int)sizeof below)
            cgroup_add_tree(below, out);
    }
    closedir(directory);
}

bool cgroup_read(pid_t pid, bool with_lazy, struct cgroup_memory *out) {
    char text[CGROUP_TEXT_BYTES];
    uint64_t cache = 0, shmem = 0, active_file = 0;
    *out = (struct cgroup_memory){.lazy_is_whole = true};
    if (!cgroup_find(pid, out))
        return false;
    out->usage =
        cgroup_number(out->folder, out->version == 1 ? "memory.usage_in_bytes" : "memory.current");
    if (!cgroup_file(out->folder, "memory.stat", text, sizeof text))
        return true;
    if (out->version == 1 && cgroup_stat(text, "hierarchical_memory_limit", &out->limit) &&
        out->limit >= no_limit_v1)
        out->limit = 0;
    if (out->version == 2)
        cgroup_limits_v2(out);
    bool known = cgroup_stat(text, "inactive_file", &out->inactive_file) &&
                 cgroup_stat(text, "active_file", &active_file) &&
                 cgroup_stat(text, out->version == 1 ? "cache" : "file", &cache) &&
                 cgroup_stat(text, "shmem", &shmem);
    out->file = cache > shmem ? cache - shmem : 0;
    if (!with_lazy || !known)
        return true;
    cgroup_add_tree(out->folder, out);
    uint64_t listed = out->inactive_file + active_file, explained = out->file + out->lazy;
    if (out->lazy_is_whole && listed > explained)
        out->relisted = listed - explained;
    return true;
}
