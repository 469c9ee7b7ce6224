/* The reader of smaps against fixtures, and against this process as its memory changes state. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../environment.h"
#include "os_advise.h"
#include "os_map.h"
#include "os_page.h"
#include "os_smaps.h"

enum { KIB = 1024, MIB = 1024 * KIB };

static char *fixture(const char *text) {
    static char path[64];
    strcpy(path, "/tmp/fallow-smaps-XXXXXX");
    int fd = mkstemp(path);
    cr_assert(fd >= 0);
    cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    return path;
}

static bool read_fixture(const char *text, struct os_smaps *out) {
    char *path = fixture(text);
    bool ok = os_smaps_read_path(path, out);
    unlink(path);
    return ok;
}

#define MAPPING_LINES(name)                                         \
    "55d0c0c00000-55d0c0c21000 rw-p 00000000 00:00 0    " name "\n" \
    "Size:                132 kB\n"                                 \
    "KernelPageSize:        4 kB\n"                                 \
    "MMUPageSize:           4 kB\n"                                 \
    "Rss:                  12 kB\n"                                 \
    "Pss:                   7 kB\n"                                 \
    "Pss_Dirty:             5 kB\n"                                 \
    "Shared_Clean:          0 kB\n"                                 \
    "Private_Dirty:        12 kB\n"                                 \
    "Anonymous:            11 kB\n"                                 \
    "LazyFree:              3 kB\n"                                 \
    "AnonHugePages:      2048 kB\n"                                 \
    "ShmemPmdMapped:        0 kB\n"                                 \
    "Swap:                  2 kB\n"                                 \
    "SwapPss:               9 kB\n"                                 \
    "THPeligible:           0\n"                                    \
    "VmFlags: rd wr mr mw me ac sd \n"

static void expect_multiple(const struct os_smaps *s, uint64_t n) {
    cr_assert_eq(s->rss_bytes, n * 12 * KIB);
    cr_assert_eq(s->pss_bytes, n * 7 * KIB);
    cr_assert_eq(s->anonymous_bytes, n * 11 * KIB);
    cr_assert_eq(s->lazyfree_bytes, n * 3 * KIB);
    cr_assert_eq(s->anon_huge_bytes, n * 2UL * MIB);
    cr_assert_eq(s->swap_bytes, n * 2 * KIB);
    cr_assert_not(s->from_rollup);
}

Test(smaps, one_mapping) {
    struct os_smaps s;
    cr_assert(read_fixture(MAPPING_LINES("[heap]"), &s));
    expect_multiple(&s, 1);
}

Test(smaps, sums_over_mappings_and_lines_straddle_reads) {
    /* 64 repetitions are some 30 KiB: every offset of a line within the buffer occurs. */
    char text[64UL * sizeof MAPPING_LINES("") + 1];
    text[0] = '\0';
    for (int i = 0; i < 64; i++)
        strcat(text, MAPPING_LINES(""));
    struct os_smaps s;
    cr_assert(read_fixture(text, &s));
    expect_multiple(&s, 64);
}

Test(smaps, a_path_longer_than_the_buffer_is_skipped) {
    char text[40000];
    for (size_t path_len = 4000; path_len < 4200; path_len += 7) {
        strcpy(text, MAPPING_LINES("[heap]"));
        size_t len = strlen(text);
        memset(text + len, 'x', 3 * path_len);
        /* What follows the cut must not pass for the head of a line. */
        strcpy(text + len + path_len, "Rss: 999 kB");
        text[len + path_len + strlen("Rss: 999 kB")] = 'x';
        strcpy(text + len + 3UL * path_len, "\n" MAPPING_LINES("[stack]"));
        struct os_smaps s;
        cr_assert(read_fixture(text, &s));
        expect_multiple(&s, 2);
    }
}

Test(smaps, fields_that_an_old_kernel_lacks_are_zero) {
    struct os_smaps s;
    cr_assert(read_fixture("Rss:  5 kB\nPss:  4 kB\n", &s));
    cr_assert_eq(s.rss_bytes, 5UL * KIB);
    cr_assert_eq(s.lazyfree_bytes, 0);
}

Test(smaps, without_rss_it_is_not_smaps) {
    struct os_smaps s;
    cr_assert_not(read_fixture("", &s));
    cr_assert_not(read_fixture("Pss:  4 kB\n", &s));
    cr_assert_eq(s.pss_bytes, 0);
    errno = EXDEV;
    cr_assert_not(os_smaps_read_path("/nonexistent", &s));
    cr_assert_not(os_smaps_read_path("/tmp", &s));
    cr_assert_eq(errno, EXDEV);
}

Test(smaps, the_sum_agrees_with_the_rollup) {
    struct os_smaps rollup;
    struct os_smaps summed;
    skip_under_tools();
    cr_assert(os_smaps_read(&rollup));
    if (!rollup.from_rollup)
        cr_skip_test("no smaps_rollup here");
    cr_assert(os_smaps_read_path("/proc/self/smaps", &summed));
    cr_assert_leq(llabs((long long)(rollup.rss_bytes - summed.rss_bytes)), MIB);
    cr_assert_leq(llabs((long long)(rollup.pss_bytes - summed.pss_bytes)), MIB);
    cr_assert_leq(llabs((long long)(rollup.anonymous_bytes - summed.anonymous_bytes)), MIB);
}

static struct os_smaps smaps_now(void) {
    struct os_smaps s;
    cr_assert(os_smaps_read(&s));
    return s;
}

/* Writes to every page; not instrumented, for a sanitizer would write as many pages of its own. */
__attribute__((__no_sanitize_thread__)) static void touch(void *map, size_t bytes) {
    for (size_t i = 0; i < bytes; i += os_page_size())
        ((volatile char *)map)[i] = 1;
}

/* Both stages of giving memory back, as the kernel sees them. */
Test(smaps, lazyfree_grows_and_rss_falls) {
    enum { BYTES = 64 * MIB, SLACK_BYTES = 2 * MIB };
    void *map = os_map(BYTES, NULL);
    cr_assert_not_null(map);
    (void)!os_advise(map, BYTES, OS_ADVISE_NOHUGEPAGE);
    struct os_smaps start = smaps_now();

    touch(map, BYTES);
    struct os_smaps touched = smaps_now();
    cr_assert_geq(touched.rss_bytes + SLACK_BYTES, start.rss_bytes + BYTES);
    cr_assert_geq(touched.anonymous_bytes + SLACK_BYTES, start.anonymous_bytes + BYTES);
    cr_assert_leq(touched.lazyfree_bytes, start.lazyfree_bytes);

    cr_assert_eq(os_advise(map, BYTES, OS_ADVISE_FREE), 0);
    struct os_smaps lazy = smaps_now();
    cr_assert_geq(lazy.lazyfree_bytes + SLACK_BYTES, start.lazyfree_bytes + BYTES);
    cr_assert_geq(lazy.rss_bytes + SLACK_BYTES, touched.rss_bytes);

    touch(map, BYTES / 2); /* written again: no longer lazy */
    struct os_smaps rewritten = smaps_now();
    cr_assert_leq(rewritten.lazyfree_bytes, start.lazyfree_bytes + BYTES / 2);

    cr_assert_eq(os_advise(map, BYTES, OS_ADVISE_DONTNEED), 0);
    struct os_smaps clean = smaps_now();
    cr_assert_leq(clean.lazyfree_bytes, start.lazyfree_bytes);
    cr_assert_leq(clean.rss_bytes, start.rss_bytes + SLACK_BYTES);
}
