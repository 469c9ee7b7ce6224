/* The library's constructor and destructor, in this program started anew with a FALLOW_CONF. */
#include <criterion/criterion.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../capture.h"
#include "options.h"
#include "thread.h"

enum { VARIABLES_MAX = 500 };

/* The environment with this FALLOW_CONF, and without what Criterion told this process by it. */
static void make_environment(char **variables, char *conf) {
    size_t n = 0;
    for (char **at = environ; *at != NULL && n < VARIABLES_MAX - 2; at++)
        if (strncmp(*at, "BXFI_", 5) != 0 && strncmp(*at, "FALLOW_CONF=", 12) != 0)
            variables[n++] = *at;
    variables[n++] = conf;
    variables[n] = NULL;
}

/* What this program says on standard error when it has no test to run. */
static const char *run_with(const char *conf, int *status) {
    static char text[60000];
    static char *variables[VARIABLES_MAX];
    char program[4096], filter[] = "--filter", none[] = "none/none";
    char *args[] = {program, filter, none, NULL};
    char variable[256] = "FALLOW_CONF=";
    pid_t child = 0;
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    cr_assert_gt(length, 0);
    program[length] = '\0';
    cr_assert_lt(strlen(conf), sizeof variable - strlen(variable));
    make_environment(variables, strcat(variable, conf));
    struct capture c = capture_start();
    int error = posix_spawn(&child, program, NULL, NULL, args, variables);
    if (error == 0)
        waitpid(child, status, 0);
    capture_end(c, text, sizeof text);
    cr_assert_eq(error, 0);
    return text;
}

Test(init, options_come_from_the_environment) {
    int status = 0;
    const char *said = run_with("narenas:7,stats_at_exit:true", &status);
    cr_assert_not_null(strstr(said, "\n  narenas:7\n"));
}

Test(init, a_report_is_printed_at_the_end_only_if_asked_for) {
    int status = 0;
    cr_assert_not_null(strstr(run_with("stats_at_exit:true", &status), "fallow report of "));
    cr_assert_null(strstr(run_with("stats_at_exit:false", &status), "fallow report of "));
    cr_assert_null(strstr(run_with("", &status), "fallow"));
}

Test(init, mistakes_are_told_before_main) {
    int status = 0;
    cr_assert_not_null(strstr(run_with("narena:7", &status), "did you mean 'narenas'"));
    cr_assert(WIFEXITED(status));
    run_with("narena:7,abort_conf:true", &status);
    cr_assert_not(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

Test(init, the_main_thread_has_a_heap_before_main) {
    cr_assert_not_null(thread_self.heap);
    cr_assert_not(thread_self.heap->shared);
}
