/* Runs the registered tests, each in a fork of its own, and judges them by how the child ended: by exit
   status 0, or by the signal that the test announces. A memory checker reports through the status as
   well. Takes --filter PATTERN for suite/name; other arguments are Criterion's, and ignored. */
#include <criterion/criterion.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STATUS_FAILED = 1, STATUS_SKIPPED = 77 };

static struct runner_test *tests;

void runner_add(struct runner_test *test) {
    test->next = tests;
    tests = test;
}

void runner_fail(const char *file, int line, const char *condition, const char *format, ...) {
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s:%d: %s", file, line, condition);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(STATUS_FAILED);
}

void runner_skip(const char *reason) {
    fprintf(stderr, "skipped: %s\n", reason);
    exit(STATUS_SKIPPED);
}

static struct runner_options suite_options(const char *suite) {
    for (const struct runner_test *at = tests; at != NULL; at = at->next) {
        if (at->name == NULL && strcmp(at->suite, suite) == 0)
            return at->options;
    }
    return (struct runner_options){0};
}

static void run_and_exit(const struct runner_test *test) {
    struct runner_options suite = suite_options(test->suite);
    void (*init)(void) = test->options.init != NULL ? test->options.init : suite.init;
    void (*fini)(void) = test->options.fini != NULL ? test->options.fini : suite.fini;
    if (init != NULL)
        init();
    test->run();
    if (fini != NULL)
        fini();
    exit(EXIT_SUCCESS);
}

/* The status that the child ended with is what the test announced. */
static bool is_as_announced(const struct runner_test *test, int status) {
    if (test->options.signal != 0)
        return WIFSIGNALED(status) && WTERMSIG(status) == test->options.signal;
    return WIFEXITED(status) &&
           (WEXITSTATUS(status) == EXIT_SUCCESS || WEXITSTATUS(status) == STATUS_SKIPPED);
}

static bool run(const struct runner_test *test) {
    pid_t child = fork();
    if (child == 0)
        run_and_exit(test);
    int status = 0;
    bool passed = child > 0 && waitpid(child, &status, 0) == child && is_as_announced(test, status);
    if (!passed)
        fprintf(stderr, "FAIL %s/%s (status %#x)\n", test->suite, test->name, (unsigned)status);
    return passed;
}

static bool is_wanted(const struct runner_test *test, const char *pattern) {
    char full_name[256];
    snprintf(full_name, sizeof full_name, "%s/%s", test->suite, test->name);
    return fnmatch(pattern, full_name, 0) == 0;
}

int main(int argc, char **argv) {
    const char *pattern = "*";
    for (int i = 1; i + 1 < argc; i++) {
        if (strcmp(argv[i], "--filter") == 0)
            pattern = argv[i + 1];
    }
    unsigned ran = 0;
    unsigned failed = 0;
    for (const struct runner_test *at = tests; at != NULL; at = at->next) {
        if (at->name == NULL || !is_wanted(at, pattern))
            continue;
        ran++;
        failed += !run(at);
    }
    fprintf(stderr, "%u tests, %u failed\n", ran, failed);
    return failed == 0 && ran > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
