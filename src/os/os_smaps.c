/* Sums the smaps_fields of smaps_rollup (4.14) or, where that is missing, of smaps. Both have lines
   "Name:  number kB"; the rollup has each name once, smaps once a mapping, so one reader that adds up
   serves both. The file is streamed through a buffer on the stack: a line may straddle two reads, and
   one longer than the buffer (a path, never a field) is skipped. No state, no lock, no allocation. */
#include "os_smaps.h"

#include <string.h>

#include "os_file.h"

enum { SMAPS_BUFFER_BYTES = 4096, SMAPS_UNIT_BYTES = 1024 };

static const struct {
    const char *name;
    size_t offset;
} smaps_fields[] = {
    {"Rss:", offsetof(struct os_smaps, rss_bytes)},
    {"Pss:", offsetof(struct os_smaps, pss_bytes)},
    {"Anonymous:", offsetof(struct os_smaps, anonymous_bytes)},
    {"LazyFree:", offsetof(struct os_smaps, lazyfree_bytes)},
    {"AnonHugePages:", offsetof(struct os_smaps, anon_huge_bytes)},
    {"Swap:", offsetof(struct os_smaps, swap_bytes)},
};

enum { SMAPS_FIELD_RSS = 0 };

static uint64_t smaps_parse_kib(const char *at, const char *end) {
    while (at < end && *at == ' ')
        at++;
    uint64_t kib = 0;
    for (; at < end && *at >= '0' && *at <= '9'; at++)
        kib = kib * 10 + (uint64_t)(*at - '0');
    return kib;
}

/* True if the line was Rss, the one field that no kernel leaves out. */
static bool smaps_add_line(const char *line, const char *end, struct os_smaps *out) {
    for (size_t i = 0; i < ARRAY_COUNT(smaps_fields); i++) {
        size_t name_len = strlen(smaps_fields[i].name);
        if ((size_t)(end - line) < name_len || memcmp(line, smaps_fields[i].name, name_len) != 0)
            continue;
        uint64_t *sum = (uint64_t *)(void *)((char *)out + smaps_fields[i].offset);
        *sum += smaps_parse_kib(line + name_len, end) * SMAPS_UNIT_BYTES;
        return i == SMAPS_FIELD_RSS;
    }
    return false;
}

static bool smaps_sum_lines(int fd, struct os_smaps *out) {
    char buf[SMAPS_BUFFER_BYTES];
    size_t len = 0;
    bool skipping = false; /* the head of this line is lost */
    bool seen_rss = false;
    for (;;) {
        long got = os_file_read(fd, buf + len, sizeof buf - len);
        if (got < 0)
            return false;
        if (got == 0)
            return seen_rss;
        len += (size_t)got;

        const char *line = buf;
        const char *end;
        while ((end = memchr(line, '\n', (size_t)(buf + len - line))) != NULL) {
            if (!skipping)
                seen_rss |= smaps_add_line(line, end, out);
            skipping = false;
            line = end + 1;
        }
        len -= (size_t)(line - buf);
        memmove(buf, line, len);
        if (len == sizeof buf) {
            skipping = true;
            len = 0;
        }
    }
}

bool os_smaps_read_path(const char *path, struct os_smaps *out) {
    *out = (struct os_smaps){0};
    int fd = os_file_open(path);
    if (fd < 0)
        return false;
    bool ok = smaps_sum_lines(fd, out);
    os_file_close(fd);
    if (!ok)
        *out = (struct os_smaps){0};
    return ok;
}

bool os_smaps_read(struct os_smaps *out) {
    if (os_smaps_read_path("/proc/self/smaps_rollup", out)) {
        out->from_rollup = true;
        return true;
    }
    return os_smaps_read_path("/proc/self/smaps", out);
}
