#include "bench_rollup.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROLLUP_BYTES = 4096 };

int bench_rollup_open(void) {
    return open("/proc/self/smaps_rollup", O_RDONLY | O_CLOEXEC);
}

// The kernel walks the page tables once per read from offset 0, so the text is taken in one read if
// it can be.
static bool read_text(int fd, char text[ROLLUP_BYTES]) {
    size_t length = 0;
    ssize_t got;
    do {
        got = pread(fd, text + length, ROLLUP_BYTES - 1 - length, (off_t)length);
        if (got > 0)
            length += (size_t)got;
    } while (got > 0 && length < ROLLUP_BYTES - 1);
    text[length] = '\0';
    return length > 0;
}

static uint64_t field_kib(const char *text, const char *name) {
    const char *line = strstr(text, name);
    return line ? strtoull(line + strlen(name), NULL, 10) : 0;
}

bool bench_rollup_read(int fd, struct bench_rollup *rollup) {
    char text[ROLLUP_BYTES];
    *rollup = (struct bench_rollup){0};
    if (fd < 0 || !read_text(fd, text))
        return false;
    rollup->rss_kib = field_kib(text, "\nRss:");
    rollup->lazy_kib = field_kib(text, "\nLazyFree:");
    rollup->huge_kib = field_kib(text, "\nAnonHugePages:");
    return true;
}
