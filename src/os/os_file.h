/* Small files of /proc and /sys, read into a caller's buffer. No descriptor is kept. */
#pragma once

#include "compiler.h"

/* A descriptor, O_RDONLY | O_CLOEXEC, or a negated errno. */
int os_file_open(const char *path);
/* Bytes read, 0 at the end, or a negated errno other than EINTR. */
long os_file_read(int fd, char *buf, size_t cap);
void os_file_close(int fd);

/* The first cap - 1 bytes of the file at most, terminated. The length, or a negated errno. */
long os_file_read_all(const char *path, char *buf, size_t cap);
