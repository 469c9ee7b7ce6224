/* Reading files without libc's state: raw system calls, errno untouched, no allocation. Owns nothing;
   a descriptor lives from open to close within one caller. */
#include "os_file.h"

#include <errno.h>
#include <fcntl.h>

#include "os_syscall.h"

int os_file_open(const char *path) {
    long fd;
    do
        fd = os_syscall4(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0);
    while (fd == -EINTR);
    return (int)fd;
}

long os_file_read(int fd, char *buf, size_t cap) {
    long got;
    do
        got = os_syscall3(SYS_read, fd, (long)buf, (long)cap);
    while (got == -EINTR);
    return got;
}

void os_file_close(int fd) {
    /* Not again on EINTR: Linux has released the number by then. */
    os_syscall1(SYS_close, fd);
}

long os_file_read_all(const char *path, char *buf, size_t cap) {
    int fd = os_file_open(path);
    if (fd < 0)
        return fd;
    size_t len = 0;
    long got = 1;
    while (got > 0 && len < cap - 1) {
        got = os_file_read(fd, buf + len, cap - 1 - len);
        if (got > 0)
            len += (size_t)got;
    }
    os_file_close(fd);
    buf[len] = '\0';
    return got < 0 ? got : (long)len;
}
