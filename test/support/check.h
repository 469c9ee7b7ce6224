/*
 * Assertions for the test programs. They allocate nothing, so they work when malloc is what broke,
 * and before main, and in a forked child. A failed check prints where and what, and ends the process
 * with status 1 at once; a check that cannot be made here ends it with CHECK_SKIPPED, which ctest
 * counts as a skipped test.
 */
#ifndef FALLOW_TEST_CHECK_H
#define FALLOW_TEST_CHECK_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CHECK_SKIPPED 77

/* A sanitizer's shadow counts as resident, and a thread's last round of destructors comes after the
   thread sanitizer has taken leave of it. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CHECK_SANITIZED 1
#else
#define CHECK_SANITIZED 0
#endif

__attribute__((format(printf, 1, 2))) static inline void check_say(const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length < 0) {
        return;
    }
    if ((size_t)length >= sizeof text) {
        length = (int)sizeof text - 1;
    }
    if (write(STDERR_FILENO, text, (size_t)length) < 0) {
        _exit(1);
    }
}

#define CHECK(condition)                                                      \
    do {                                                                      \
        if (!(condition)) {                                                   \
            check_say("%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
            _exit(1);                                                         \
        }                                                                     \
    } while (0)

/* The same with a reason: CHECK_THAT(a == b, "a is %d", a). */
#define CHECK_THAT(condition, ...)                                            \
    do {                                                                      \
        if (!(condition)) {                                                   \
            check_say("%s:%d: failed: %s: ", __FILE__, __LINE__, #condition); \
            check_say(__VA_ARGS__);                                           \
            check_say("\n");                                                  \
            _exit(1);                                                         \
        }                                                                     \
    } while (0)

#define CHECK_SKIP(...)         \
    do {                        \
        check_say("skipped: "); \
        check_say(__VA_ARGS__); \
        check_say("\n");        \
        _exit(CHECK_SKIPPED);   \
    } while (0)

/* How much of the full load to run: the environment's FALLOW_TEST_SCALE (percent, default 100). */
static inline size_t check_scaled(size_t count) {
    const char *text = getenv("FALLOW_TEST_SCALE");
    long percent = text ? strtol(text, NULL, 10) : 100;
    if (percent <= 0) {
        percent = 100;
    }
    size_t scaled = count * (size_t)percent / 100;
    return scaled ? scaled : 1;
}

#endif
