/* The part of Criterion's interface that the unit tests use, for builds in which Criterion cannot run:
   it finds no place for its arena beside ThreadSanitizer's shadow, and under valgrind it costs seconds
   a test to start the program anew for each. Here a test is a fork. See runner.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct runner_options {
    int signal; /* that ends the test, if it is to succeed */
    void (*init)(void);
    void (*fini)(void);
};

struct runner_test {
    const char *suite;
    const char *name; /* NULL: the options of a suite */
    void (*run)(void);
    struct runner_options options;
    struct runner_test *next;
};

void runner_add(struct runner_test *test);
_Noreturn void runner_fail(const char *file, int line, const char *condition, const char *format,
                           ...) __attribute__((__format__(__printf__, 4, 5)));
_Noreturn void runner_skip(const char *reason);

#define RUNNER_ADD(id, ...)                                              \
    __attribute__((__constructor__)) static void runner_add_##id(void) { \
        static struct runner_test test = __VA_ARGS__;                    \
        runner_add(&test);                                               \
    }

#define Test(suite_, name_, ...)                                                                 \
    static void suite_##_##name_##_run(void);                                                    \
    RUNNER_ADD(suite_##_##name_, {#suite_, #name_, suite_##_##name_##_run, {__VA_ARGS__}, NULL}) \
    static void suite_##_##name_##_run(void)

#define TestSuite(suite_, ...)                                     \
    RUNNER_ADD(suite_, {#suite_, NULL, NULL, {__VA_ARGS__}, NULL}) \
    _Static_assert(true, "takes the semicolon")

/* The message, a literal with its arguments, may be left out. */
#define cr_assert(condition, ...) \
    ((condition) ? (void)0 : runner_fail(__FILE__, __LINE__, #condition, " " __VA_ARGS__))
#define cr_assert_not(condition, ...)      cr_assert(!(condition), __VA_ARGS__)
#define cr_assert_eq(a, b, ...)            cr_assert((a) == (b), __VA_ARGS__)
#define cr_assert_neq(a, b, ...)           cr_assert((a) != (b), __VA_ARGS__)
#define cr_assert_lt(a, b, ...)            cr_assert((a) < (b), __VA_ARGS__)
#define cr_assert_leq(a, b, ...)           cr_assert((a) <= (b), __VA_ARGS__)
#define cr_assert_gt(a, b, ...)            cr_assert((a) > (b), __VA_ARGS__)
#define cr_assert_geq(a, b, ...)           cr_assert((a) >= (b), __VA_ARGS__)
#define cr_assert_null(pointer, ...)       cr_assert((pointer) == NULL, __VA_ARGS__)
#define cr_assert_not_null(pointer, ...)   cr_assert((pointer) != NULL, __VA_ARGS__)
#define cr_assert_str_eq(a, b, ...)        cr_assert(strcmp(a, b) == 0, __VA_ARGS__)
#define cr_assert_str_neq(a, b, ...)       cr_assert(strcmp(a, b) != 0, __VA_ARGS__)
#define cr_assert_arr_eq(a, b, bytes, ...) cr_assert(memcmp(a, b, bytes) == 0, __VA_ARGS__)
#define cr_assert_fail(...)                cr_assert(false, __VA_ARGS__)
#define cr_skip_test(reason)               runner_skip(reason)
