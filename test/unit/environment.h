/* What the tests run in, where that matters: tools that keep memory of their own, and a limit on
   address space that makes the next mapping fail. */
#pragma once

#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "os_file.h"
#include "os_page.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define UNDER_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define UNDER_SANITIZER 1
#endif
#endif
#ifndef UNDER_SANITIZER
#define UNDER_SANITIZER 0
#endif

static inline bool under_valgrind(void) {
    const char *preload = getenv("LD_PRELOAD");
    return preload != NULL && strstr(preload, "vgpreload") != NULL;
}

/* For tests that compare with what the kernel counts, or that leave no address space: the tools map
   memory of their own at any time. */
static inline void skip_under_tools(void) {
    if (UNDER_SANITIZER || under_valgrind())
        cr_skip_test("the tool's own memory is in the way");
}

/* For tests that expect memory to be moved: valgrind 3.19 knows no MREMAP_DONTUNMAP. */
static inline void skip_where_nothing_moves(void) {
    if (under_valgrind())
        cr_skip_test("valgrind moves no memory");
}

/* Of gcc, where coverage is counted. */
extern void __gcov_dump(void) __attribute__((__weak__));

/* The end of a forked child: nothing of the test program's own runs. */
_Noreturn static inline void leave_child(int status) {
    if (__gcov_dump != NULL)
        __gcov_dump();
    _exit(status);
}

/* Address space of the process. */
static inline size_t address_space_bytes(void) {
    char text[128];
    cr_assert(os_file_read_all("/proc/self/statm", text, sizeof text) > 0);
    return strtoul(text, NULL, 10) * os_page_kernel_size();
}

/* From now on `spare_bytes` more address space can be had, until address_space_free(). */
static inline void address_space_limit(size_t spare_bytes) {
    struct rlimit limit;
    cr_assert(getrlimit(RLIMIT_AS, &limit) == 0);
    limit.rlim_cur = address_space_bytes() + spare_bytes;
    cr_assert(setrlimit(RLIMIT_AS, &limit) == 0);
}

static inline void address_space_free(void) {
    struct rlimit limit;
    cr_assert(getrlimit(RLIMIT_AS, &limit) == 0);
    limit.rlim_cur = limit.rlim_max;
    cr_assert(setrlimit(RLIMIT_AS, &limit) == 0);
}
