/* Which control groups the process is in, and what its memory cgroup is charged. No state, no lock, no
   allocation: everything is on the stack. Levels that are not visible are passed over by whoever visits
   them; what a CPU quota is made of is os_cpu's affair. */
#include "os_cgroup.h"

#include <string.h>

#include "fmt.h"
#include "os_file.h"

enum { CGROUP_PATH_BYTES = 1024, CGROUP_FILE_BYTES = 4096, CGROUP_USAGE_BYTES = 32 };

static const char *const cgroup_v2_mounts[2] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};

struct cgroup_visitor {
    const char *root;
    bool (*visit)(const char *folder, enum os_cgroup_version version, void *context);
    void *context;
};

bool os_cgroup_read(const char *folder, const char *file, char *value, size_t cap) {
    char path[CGROUP_PATH_BYTES];
    struct fmt f = fmt_start(path, sizeof path);
    fmt_str(&f, folder);
    fmt_char(&f, '/');
    fmt_str(&f, file);
    return !fmt_is_full(&f) && os_file_read_all(path, value, cap) > 0;
}

/* From the group at `cgroup` up to the mount point. */
static bool cgroup_climb(const struct cgroup_visitor *v, enum os_cgroup_version version,
                         const char *mount, const char *cgroup, size_t cgroup_len) {
    char path[CGROUP_PATH_BYTES];
    struct fmt folder = fmt_start(path, sizeof path);
    fmt_str(&folder, v->root);
    fmt_str(&folder, mount);
    size_t top = folder.len;
    fmt_mem(&folder, cgroup, cgroup_len);
    if (fmt_is_full(&folder))
        return true;
    while (v->visit(path, version, v->context)) {
        if (folder.len == top)
            return true;
        do
            folder.len--;
        while (folder.len > top && path[folder.len] != '/');
        path[folder.len] = '\0';
    }
    return false;
}

static bool cgroup_is_named(const char *name, const char *controllers, size_t len) {
    while (len > 0) {
        const char *comma = memchr(controllers, ',', len);
        size_t name_len = comma != NULL ? (size_t)(comma - controllers) : len;
        if (name_len == strlen(name) && memcmp(controllers, name, name_len) == 0)
            return true;
        size_t step = name_len + (comma != NULL);
        controllers += step;
        len -= step;
    }
    return false;
}

/* A line is "number:controllers:path"; version 2's has no controllers. */
static bool cgroup_visit_line(const struct cgroup_visitor *v,
                              const struct os_cgroup_controller *controller, const char *line,
                              size_t len) {
    const char *end = line + len;
    const char *names = memchr(line, ':', len);
    const char *colon = names != NULL ? memchr(names + 1, ':', (size_t)(end - names - 1)) : NULL;
    if (colon == NULL)
        return true;
    size_t names_len = (size_t)(colon - ++names);
    bool is_v2 = names_len == 0;
    if (!is_v2 && !cgroup_is_named(controller->name, names, names_len))
        return true;
    const char *const *mounts = is_v2 ? cgroup_v2_mounts : controller->v1_mounts;
    for (size_t i = 0; i < 2 && mounts[i] != NULL; i++)
        if (!cgroup_climb(v, is_v2 ? OS_CGROUP_V2 : OS_CGROUP_V1, mounts[i], colon + 1,
                          (size_t)(end - colon - 1)))
            return false;
    return true;
}

void os_cgroup_visit(const char *root, const struct os_cgroup_controller *controller,
                     bool (*visit)(const char *folder, enum os_cgroup_version version,
                                   void *context),
                     void *context) {
    struct cgroup_visitor v = {.root = root, .visit = visit, .context = context};
    char text[CGROUP_FILE_BYTES];
    if (!os_cgroup_read(root, "proc/self/cgroup", text, sizeof text))
        return;
    for (const char *line = text; *line != '\0';) {
        size_t len = strcspn(line, "\n");
        if (!cgroup_visit_line(&v, controller, line, len))
            return;
        line += len + (line[len] == '\n');
    }
}

/* The nearest group that has a usage is the one that is charged: without the controller, version 2
   charges the group above. */
static bool cgroup_memory_level(const char *folder, enum os_cgroup_version version, void *context) {
    const char *file = version == OS_CGROUP_V2 ? "memory.current" : "memory.usage_in_bytes";
    char text[CGROUP_USAGE_BYTES];
    int64_t bytes;
    if (!os_cgroup_read(folder, file, text, sizeof text) ||
        !fmt_parse_i64(text, strcspn(text, "\n"), &bytes) || bytes < 0)
        return true;
    *(uint64_t *)context = (uint64_t)bytes;
    return false;
}

uint64_t os_cgroup_memory_bytes_at(const char *root) {
    static const struct os_cgroup_controller memory = {"memory", {"/sys/fs/cgroup/memory", NULL}};
    uint64_t bytes = 0;
    os_cgroup_visit(root, &memory, cgroup_memory_level, &bytes);
    return bytes;
}

uint64_t os_cgroup_memory_bytes(void) {
    return os_cgroup_memory_bytes_at("");
}
