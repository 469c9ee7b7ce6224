/* Memory of another process: process_vm_readv (3.2). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

/* All of it, or false with errno. */
bool remote_read(pid_t pid, uint64_t from, void *to, size_t bytes);
bool remote_u32(pid_t pid, uint64_t from, uint32_t *out);
bool remote_u64(pid_t pid, uint64_t from, uint64_t *out);
/* A string, cut to what fits. */
bool remote_text(pid_t pid, uint64_t from, char *text, size_t cap);

/* What a pointer of the process is worth here: a number. */
static inline uint64_t remote_address(const void *pointer) {
    return (uint64_t)(uintptr_t)pointer;
}

/* Pieces that one system call reads, in this order. */
enum { REMOTE_PIECES = 1024 };

struct remote_batch {
    size_t count, bytes;
    struct iovec to[REMOTE_PIECES], from[REMOTE_PIECES];
};

void remote_add(struct remote_batch *batch, uint64_t from, void *to, size_t bytes);
bool remote_run(pid_t pid, const struct remote_batch *batch);
