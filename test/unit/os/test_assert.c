/* Failed assertions: the line, and the signal whatever the process did to it. */
#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../capture.h"
#include "os_assert.h"

static void return_from_handler(int signal_number) {
    (void)signal_number;
}

static void expect_abort_in_child(void (*prepare)(void)) {
    char text[512];
    struct capture c = capture_start();
    pid_t child = fork();
    if (child == 0) {
        prepare();
        int two = 2;
        fallow_check(two + two == 5);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    capture_end(c, text, sizeof text);
    cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    cr_assert_eq(strncmp(text, "fallow: test/unit/os/test_assert.c:", 35), 0, "%s", text);
    const char *end = strstr(text, ": two + two == 5\n");
    cr_assert_not_null(end);
    cr_assert_str_eq(end, ": two + two == 5\n");
}

static void nothing(void) {
}

static void ignore_it(void) {
    signal(SIGABRT, SIG_IGN);
}

static void handle_it(void) {
    signal(SIGABRT, return_from_handler);
}

static void block_it(void) {
    sigset_t set;
    sigfillset(&set);
    sigprocmask(SIG_BLOCK, &set, NULL);
}

Test(assert, ends_the_process_with_one_line) {
    expect_abort_in_child(nothing);
}

Test(assert, even_if_the_signal_is_ignored) {
    expect_abort_in_child(ignore_it);
}

Test(assert, even_if_a_handler_returns) {
    expect_abort_in_child(handle_it);
}

Test(assert, even_if_the_signal_is_blocked) {
    expect_abort_in_child(block_it);
}

Test(assert, a_condition_that_holds_does_nothing) {
    fallow_check(1 + 1 == 2);
    fallow_assert(1 + 1 == 2);
}

Test(assert, debug_assertions_are_evaluated_in_debug_builds_only) {
    unsigned evaluated = 0;
    fallow_assert(++evaluated == 1);
    cr_assert_eq(evaluated, FALLOW_DEBUG);
}

Test(assert, an_overlong_message_still_ends_its_line) {
    char text[2048];
    struct capture c = capture_start();
    pid_t child = fork();
    if (child == 0) {
        char message[1024];
        memset(message, 'x', sizeof message);
        message[sizeof message - 1] = '\0';
        os_panic(message, "file", 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    capture_end(c, text, sizeof text);
    cr_assert_eq(strchr(text, '\n'), text + strlen(text) - 1);
}
