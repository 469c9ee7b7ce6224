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

/* Calls `take` with each line of the file that fits the buffer. */
static bool smaps_for_lines(int fd, void (*take)(const char *line, const char *end, void *context),
                            void *context) {
    char buf[SMAPS_BUFFER_BYTES];
    size_t len = 0;
    bool skipping = false; /* the head of this line is lost */
    for (;;) {
        long got = os_file_read(fd, buf + len, sizeof buf - len);
        if (got <= 0)
            return got == 0;
        len += (size_t)got;

        const char *line = buf;
        const char *end;
        while ((end = memchr(line, '\n', (size_t)(buf + len - line))) != NULL) {
            if (!skipping)
                take(line, end, context);
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

struct smaps_sum {
    struct os_smaps *out;
    bool seen_rss;
};

static void smaps_sum_line(const char *line, const char *end, void *context) {
    struct smaps_sum *sum = context;
    sum->seen_rss |= smaps_add_line(line, end, sum->out);
}

static bool smaps_sum_lines(int fd, struct os_smaps *out) {
    struct smaps_sum sum = {.out = out};
    return smaps_for_lines(fd, smaps_sum_line, &sum) && sum.seen_rss;
}

/* --- mapping by mapping --- */

struct smaps_visitor {
    void (*visit)(uintptr_t start, uintptr_t end, size_t rss_bytes, void *context);
    void *context;
    uintptr_t start, end; /* of the mapping whose lines are being read */
};

/* A hexadecimal number that ends with `stop`; false if it is none. */
static bool smaps_parse_hex(const char **at, const char *end, char stop, uintptr_t *out) {
    const char *p = *at;
    for (*out = 0; p < end && *p != stop; p++) {
        unsigned digit = *p >= '0' && *p <= '9'   ? (unsigned)(*p - '0')
                         : *p >= 'a' && *p <= 'f' ? (unsigned)(*p - 'a') + 10
                                                  : 16;
        if (digit == 16)
            return false;
        *out = *out << 4 | digit;
    }
    *at = p + 1;
    return p < end;
}

static void smaps_visit_line(const char *line, const char *end, void *context) {
    static const char name[] = "Rss:";
    struct smaps_visitor *visitor = context;
    uintptr_t start, stop;
    const char *at = line;
    if (smaps_parse_hex(&at, end, '-', &start) && smaps_parse_hex(&at, end, ' ', &stop)) {
        visitor->start = start;
        visitor->end = stop;
    } else if ((size_t)(end - line) >= sizeof name - 1 &&
               memcmp(line, name, sizeof name - 1) == 0) {
        visitor->visit(visitor->start, visitor->end,
                       smaps_parse_kib(line + sizeof name - 1, end) * SMAPS_UNIT_BYTES,
                       visitor->context);
    }
}

bool os_smaps_visit(void (*visit)(uintptr_t start, uintptr_t end, size_t rss_bytes, void *context),
                    void *context) {
    struct smaps_visitor visitor = {.visit = visit, .context = context};
    int fd = os_file_open("/proc/self/smaps");
    if (fd < 0)
        return false;
    bool ok = smaps_for_lines(fd, smaps_visit_line, &visitor);
    os_file_close(fd);
    return ok;
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
