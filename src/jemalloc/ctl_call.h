/* One call of mallctl, and how a value is read and written through it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CTL_ARENAS_ALL = 4096, /* in the place of an arena's number */
    CTL_DEPTH_MAX = 7,     /* components of a name, and more than any has */
};

struct ctl_at {
    size_t arena, class;
};

struct ctl_call {
    struct ctl_at at;
    void *oldp;
    size_t *oldlenp;
    const void *newp;
    size_t newlen;
};

/* The value goes to the caller if it asks for one. EINVAL when it takes another size; it has as many bytes as fit
   then. */
int ctl_read(const struct ctl_call *call, const void *value, size_t bytes);

/* EPERM if something is to be written. */
int ctl_read_only(const struct ctl_call *call);

/* What the caller writes, if it does: *wants says whether. EINVAL for another size. */
int ctl_written(const struct ctl_call *call, void *value, size_t bytes, bool *wants);
