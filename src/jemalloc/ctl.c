#include "ctl.h"

#include <errno.h>
#include <fallow/fallow.h>
#include <string.h>

#include "arena.h"
#include "ctl_actions.h"
#include "ctl_stats.h"
#include "options.h"
#include "os_page.h"
#include "slab_shape.h"

enum ctl_type { CTL_SIZE, CTL_SSIZE, CTL_UNSIGNED, CTL_U32, CTL_BOOL, CTL_STRING };

struct ctl_row {
    const char *name;
    int (*act)(const struct ctl_call *call); /* or: */
    enum ctl_type type;
    uint64_t (*value)(struct ctl_at at);
    size_t (*stats)(const struct ctl_stats *of, struct ctl_at at);
};

#define CTL_QUOTE(number)   #number
#define CTL_EXPAND(number)  CTL_QUOTE(number)
#define FALLOW_VERSION_TEXT CTL_EXPAND(FALLOW_VERSION_MAJOR) "." CTL_EXPAND(FALLOW_VERSION_MINOR)
#define CTL_TEXT(literal)   ((uintptr_t)(literal))

/* A function for each value, by the line that it stands on. */
#define CTL_NAMED(prefix, line)   prefix##line
#define CTL_ON_LINE(prefix, line) CTL_NAMED(prefix, line)
#define ACTION(name, function)
#define VALUE(name, type, expression)                                     \
    static uint64_t CTL_ON_LINE(ctl_value_, __LINE__)(struct ctl_at at) { \
        (void)at;                                                         \
        return (uint64_t)(expression);                                    \
    }
#define STATS(name, expression)                                                 \
    static size_t CTL_ON_LINE(ctl_stats_, __LINE__)(const struct ctl_stats *of, \
                                                    struct ctl_at at) {         \
        (void)at;                                                               \
        return (expression);                                                    \
    }
#include "ctl_rows.def"
#undef ACTION
#undef VALUE
#undef STATS

static const struct ctl_row ctl_rows[] = {
#define ACTION(name_, function) {.name = name_, .act = function},
#define VALUE(name_, type_, expression) \
    {.name = name_, .type = type_, .value = CTL_ON_LINE(ctl_value_, __LINE__)},
#define STATS(name_, expression) \
    {.name = name_, .type = CTL_SIZE, .stats = CTL_ON_LINE(ctl_stats_, __LINE__)},
#include "ctl_rows.def"
#undef ACTION
#undef VALUE
#undef STATS
};

/* One component of a name: its length. */
static size_t ctl_component(const char *name) {
    return strcspn(name, ".");
}

static size_t ctl_depth(const char *name) {
    size_t depth = 1;
    for (; (name = strchr(name, '.')) != NULL; name++)
        depth++;
    return depth;
}

static bool ctl_number(const char *text, size_t length, size_t *out) {
    *out = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9' || *out > CTL_ARENAS_ALL)
            return false;
        *out = *out * 10 + (size_t)(text[i] - '0');
    }
    return length > 0;
}

/* Whether the first components of a name are those of a row's; numbers go into the mib, and so does the row for the
   rest. */
static bool ctl_matches(size_t row, const char *name, size_t *mib, size_t depth) {
    const char *pattern = ctl_rows[row].name;
    for (size_t i = 0; i < depth; i++) {
        size_t length = ctl_component(name), width = ctl_component(pattern);
        bool is_number = *pattern == '#';
        mib[i] = row;
        if (is_number ? !ctl_number(name, length, &mib[i])
                      : length != width || memcmp(name, pattern, length) != 0)
            return false;
        name += length + (name[length] == '.');
        if (pattern[width] == '\0')
            return i + 1 == depth;
        pattern += width + 1;
    }
    return true;
}

/* Which arena and class the numbers say; false if there is none such, or the mib is not one of this row. */
static bool ctl_find_at(size_t row, const size_t *mib, struct ctl_at *at) {
    const char *pattern = ctl_rows[row].name, *before = "";
    *at = (struct ctl_at){.arena = CTL_ARENAS_ALL};
    for (size_t i = 0; *pattern != '\0'; i++) {
        size_t width = ctl_component(pattern);
        if (*pattern != '#') {
            if (mib[i] != row)
                return false;
            before = pattern;
        } else if (strncmp(before, "bin", 3) == 0) {
            at->class = mib[i];
            if (at->class >= CLASS_COUNT)
                return false;
        } else {
            size_t arenas = ctl_arena_count();
            at->arena = mib[i] == arenas ? CTL_ARENAS_ALL : mib[i];
            if (at->arena > arenas && at->arena != CTL_ARENAS_ALL)
                return false;
        }
        pattern += width + (pattern[width] == '.');
    }
    return true;
}

static int ctl_read_as(const struct ctl_call *call, enum ctl_type type, uint64_t value) {
    union {
        size_t size;
        int64_t ssize;
        unsigned number;
        uint32_t u32;
        bool truth;
        const char *text;
    } as;
    switch (type) {
    case CTL_SIZE:
        as.size = value;
        return ctl_read(call, &as, sizeof as.size);
    case CTL_SSIZE:
        as.ssize = (int64_t)value;
        return ctl_read(call, &as, sizeof as.ssize);
    case CTL_UNSIGNED:
        as.number = (unsigned)value;
        return ctl_read(call, &as, sizeof as.number);
    case CTL_U32:
        as.u32 = (uint32_t)value;
        return ctl_read(call, &as, sizeof as.u32);
    case CTL_BOOL:
        as.truth = value != 0;
        return ctl_read(call, &as, sizeof as.truth);
    case CTL_STRING:
        as.text = (const char *)(uintptr_t)value;
        return ctl_read(call, &as, sizeof as.text);
    }
    return ENOENT;
}

static int ctl_call_row(const struct ctl_row *row, const struct ctl_call *call) {
    if (row->act != NULL)
        return row->act(call);
    int error = ctl_read_only(call);
    if (error != 0)
        return error;
    if (row->stats == NULL)
        return ctl_read_as(call, row->type, row->value(call->at));
    struct ctl_stats stats;
    ctl_stats_read(&stats, call->at.arena);
    return ctl_read_as(call, row->type, row->stats(&stats, call->at));
}

int ctl_mib_of_name(const char *name, size_t *mibp, size_t *miblenp) {
    size_t depth = ctl_depth(name);
    for (size_t row = 0; row < ARRAY_COUNT(ctl_rows); row++) {
        size_t mib[CTL_DEPTH_MAX];
        if (depth > CTL_DEPTH_MAX || !ctl_matches(row, name, mib, depth))
            continue;
        if (*miblenp > depth)
            *miblenp = depth;
        memcpy(mibp, mib, *miblenp * sizeof *mib); /* its beginning, if there is no room for more */
        return 0;
    }
    return ENOENT;
}

int ctl_by_mib(const size_t *mib, size_t miblen, void *oldp, size_t *oldlenp, void *newp,
               size_t newlen) {
    if (miblen == 0 || miblen > CTL_DEPTH_MAX || mib[miblen - 1] >= ARRAY_COUNT(ctl_rows))
        return ENOENT;
    size_t row = mib[miblen - 1];
    struct ctl_call call = {.oldp = oldp, .newp = newp, .newlen = newlen};
    call.oldlenp = oldlenp;
    if (ctl_depth(ctl_rows[row].name) != miblen || !ctl_find_at(row, mib, &call.at))
        return ENOENT;
    return ctl_call_row(&ctl_rows[row], &call);
}

int ctl_by_name(const char *name, void *oldp, size_t *oldlenp, void *newp, size_t newlen) {
    size_t mib[CTL_DEPTH_MAX], depth = CTL_DEPTH_MAX;
    int error = ctl_mib_of_name(name, mib, &depth);
    return error != 0 ? error : ctl_by_mib(mib, depth, oldp, oldlenp, newp, newlen);
}
