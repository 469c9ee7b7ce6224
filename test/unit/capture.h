/* What is written to descriptor 2 between capture_start and capture_end, raw system calls included. */
#pragma once

#include <criterion/criterion.h>
#include <fcntl.h>
#include <unistd.h>

struct capture {
    int saved_fd;
    int read_fd;
};

static inline struct capture capture_start(void) {
    int ends[2];
    cr_assert(pipe2(ends, O_CLOEXEC) == 0);
    struct capture c = {.saved_fd = dup(2), .read_fd = ends[0]};
    cr_assert(dup2(ends[1], 2) == 2);
    close(ends[1]);
    return c;
}

/* At most a pipe's worth (64 KiB): it is read only now. */
static inline void capture_end(struct capture c, char *text, size_t cap) {
    dup2(c.saved_fd, 2);
    close(c.saved_fd);
    size_t len = 0;
    ssize_t got = 1;
    while (got > 0 && len < cap - 1) {
        got = read(c.read_fd, text + len, cap - 1 - len);
        len += got > 0 ? (size_t)got : 0;
    }
    text[len] = '\0';
    close(c.read_fd);
}
