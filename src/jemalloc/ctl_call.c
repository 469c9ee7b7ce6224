#include "ctl_call.h"

#include <errno.h>
#include <string.h>

int ctl_read(const struct ctl_call *call, const void *value, size_t bytes) {
    if (call->oldp == NULL || call->oldlenp == NULL)
        return 0;
    size_t n = *call->oldlenp < bytes ? *call->oldlenp : bytes;
    memcpy(call->oldp, value, n);
    if (*call->oldlenp == bytes)
        return 0;
    *call->oldlenp = n;
    return EINVAL;
}

int ctl_read_only(const struct ctl_call *call) {
    return call->newp != NULL || call->newlen != 0 ? EPERM : 0;
}

int ctl_written(const struct ctl_call *call, void *value, size_t bytes, bool *wants) {
    *wants = call->newp != NULL;
    if (!*wants)
        return 0;
    if (call->newlen != bytes)
        return EINVAL;
    memcpy(value, call->newp, bytes);
    return 0;
}
