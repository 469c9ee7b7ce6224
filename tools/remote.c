/* The one place that reads another process's memory. */
#include "remote.h"

#include <errno.h>
#include <string.h>

bool remote_read(pid_t pid, uint64_t from, void *to, size_t bytes) {
    struct iovec local = {to, bytes};
    struct iovec remote = {(void *)(uintptr_t)from, bytes};
    ssize_t got = process_vm_readv(pid, &local, 1, &remote, 1, 0);
    if (got >= 0 && (size_t)got != bytes)
        errno = EFAULT;
    return got >= 0 && (size_t)got == bytes;
}

bool remote_u32(pid_t pid, uint64_t from, uint32_t *out) {
    return remote_read(pid, from, out, sizeof *out);
}

bool remote_u64(pid_t pid, uint64_t from, uint64_t *out) {
    return remote_read(pid, from, out, sizeof *out);
}

bool remote_text(pid_t pid, uint64_t from, char *text, size_t cap) {
    enum { STEP = 32 }; /* divides a page: no read goes on into one that it need not look at */
    for (size_t length = 0; length + 1 < cap;) {
        size_t step = STEP - (from + length) % STEP;
        step = step < cap - 1 - length ? step : cap - 1 - length;
        if (!remote_read(pid, from + length, text + length, step))
            return false;
        length += step;
        text[length] = '\0';
        if (memchr(text, '\0', length) != NULL)
            break;
    }
    return true;
}

void remote_add(struct remote_batch *batch, uint64_t from, void *to, size_t bytes) {
    batch->to[batch->count] = (struct iovec){to, bytes};
    batch->from[batch->count] = (struct iovec){(void *)(uintptr_t)from, bytes};
    batch->count++;
    batch->bytes += bytes;
}

bool remote_run(pid_t pid, const struct remote_batch *batch) {
    ssize_t got = process_vm_readv(pid, batch->to, batch->count, batch->from, batch->count, 0);
    if (got >= 0 && (size_t)got != batch->bytes)
        errno = EFAULT;
    return got >= 0 && (size_t)got == batch->bytes;
}
