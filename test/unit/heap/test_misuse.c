/* What is said and counted when a program frees what it must not. */
#include <criterion/criterion.h>
#include <signal.h>
#include <sys/wait.h>

#include "../capture.h"
#include "by_hand.h"
#include "counters.h"
#include "fmt.h"
#include "misuse.h"

TestSuite(misuse, .init = start_heaps);

/* "before0x1234after" */
static const char *with_address(const char *before, const void *p, const char *after) {
    static char text[160];
    struct fmt f = fmt_start(text, sizeof text);
    fmt_str(&f, before);
    fmt_hex(&f, (uintptr_t)p);
    fmt_str(&f, after);
    return text;
}

/* Granules of ours: the first is in use, the second is free. */
static char *granules_of_ours(void) {
    bits_t stale;
    struct extent *extent = arena_take(arena, 2, 1, &stale);
    arena_shrink(extent, 1);
    return chunk_extent_base(extent);
}

Test(misuse, every_double_free_is_counted_and_told) {
    char text[256];
    int block = 0;
    for (unsigned i = 1; i <= 3; i++) {
        struct capture c = capture_start();
        misuse_double_free(&block);
        capture_end(c, text, sizeof text);
        cr_assert_str_eq(text, with_address("fallow: double free of ", &block, "; ignored\n"));
        cr_assert_eq(counters_read(COUNTER_double_frees), i);
    }
}

Test(misuse, foreign_frees_are_counted_and_told_once) {
    char text[512];
    int local = 0;
    struct capture c = capture_start();
    misuse_unknown(&local);
    misuse_unknown((void *)16);
    misuse_unknown(&local);
    capture_end(c, text, sizeof text);
    cr_assert_str_eq(text, with_address("fallow: free of a pointer that is not Fallow's (", &local,
                                        "); ignored\n"));
    cr_assert_eq(counters_read(COUNTER_foreign_frees), 3u);
    cr_assert_eq(counters_read(COUNTER_double_frees), 0u);
}

Test(misuse, what_could_have_been_a_large_block_is_a_double_free) {
    char text[256];
    char *p = granules_of_ours() + GRANULE_BYTES;
    struct capture c = capture_start();
    misuse_unknown(p);
    capture_end(c, text, sizeof text);
    cr_assert_str_eq(text, with_address("fallow: double free of ", p, "; ignored\n"));
    cr_assert_eq(counters_read(COUNTER_double_frees), 1u);
    cr_assert_eq(counters_read(COUNTER_foreign_frees), 0u);
}

Test(misuse, the_inside_of_ours_is_foreign) {
    char text[256];
    char *p = granules_of_ours();
    struct capture c = capture_start();
    misuse_unknown(p + 16);                 /* of a block in use */
    misuse_unknown(p + GRANULE_BYTES + 16); /* of free memory */
    capture_end(c, text, sizeof text);
    cr_assert_eq(counters_read(COUNTER_foreign_frees), 2u);
    cr_assert_eq(counters_read(COUNTER_double_frees), 0u);
}

Test(misuse, a_foreign_free_ends_the_process_if_it_is_told_to) {
    char text[256];
    int local = 0;
    options.abort_on_foreign = true;
    struct capture c = capture_start();
    pid_t child = fork();
    if (child == 0) {
        misuse_unknown(&local);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    capture_end(c, text, sizeof text);
    cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    cr_assert_str_eq(text, with_address("fallow: free of a pointer that is not Fallow's (", &local,
                                        "); aborting\n"));
}

Test(misuse, a_double_free_does_not_end_it) {
    char text[256];
    char *p = granules_of_ours() + GRANULE_BYTES;
    options.abort_on_foreign = true;
    struct capture c = capture_start();
    misuse_unknown(p);
    misuse_double_free(p);
    capture_end(c, text, sizeof text);
    cr_assert_eq(counters_read(COUNTER_double_frees), 2u);
}
