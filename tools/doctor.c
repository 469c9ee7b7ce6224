/* fallow doctor: what this kernel, its settings and this sandbox allow, what Fallow makes of it, and what to
   change for more. Nothing is taken from a version number: each interface is used. */
#include "doctor.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tool.h"
#include "tool_json.h"
#include "tool_print.h"

enum { DOCTOR_SECONDS = 20 }; /* that a trial may take */

static const char doctor_help[] =
    "Usage: fallow doctor [--json]\n"
    "\n"
    "Tries each interface of the kernel that matters to Fallow, here and now, and says what Fallow does with it\n"
    "and what to change for more. Run it where the program runs: in its container, as its user. Exit status 1\n"
    "if free memory cannot be made lazy (MADV_FREE).\n"
    "\n"
    "  -j, --json   JSON\n";

bool doctor_found(struct doctor_result *out, enum doctor_state state, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(out->found, sizeof out->found, format, arguments);
    va_end(arguments);
    out->state = state;
    return state == DOCTOR_YES;
}

void doctor_refused(struct doctor_result *out, const char *what) {
    doctor_found(out, DOCTOR_NO, "%s: %s", what, strerror(errno));
}

/* A child tries it. It leaves no core behind. */
static void doctor_try(const struct doctor_trial *trial, struct doctor_result *shared) {
    int status = 0;
    *shared = (struct doctor_result){.state = DOCTOR_NO};
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        static const struct rlimit no_core = {0, 0};
        setrlimit(RLIMIT_CORE, &no_core);
        signal(SIGALRM, SIG_DFL);
        alarm(DOCTOR_SECONDS);
        trial->run(shared);
        _exit(0);
    }
    if (child < 0) {
        doctor_refused(shared, "fork");
        return;
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (WIFSIGNALED(status))
        doctor_found(shared, DOCTOR_KILLS, "killed by signal %d (%s)", WTERMSIG(status),
                     strsignal(WTERMSIG(status)));
}

static const char *const doctor_words[] = {
    [DOCTOR_YES] = "yes", [DOCTOR_LESS] = "less", [DOCTOR_NO] = "no", [DOCTOR_KILLS] = "kills"};

static void doctor_print(const struct doctor_trial *trial, const struct doctor_result *result) {
    static const enum print_style styles[] = {[DOCTOR_YES] = PRINT_GOOD,
                                              [DOCTOR_LESS] = PRINT_WARNING,
                                              [DOCTOR_NO] = PRINT_BAD,
                                              [DOCTOR_KILLS] = PRINT_BAD};
    printf("%s%-5s%s %s: ", print_on(styles[result->state]), doctor_words[result->state],
           print_off(), trial->name);
    print_clean(result->found);
    printf("\n      %s\n", trial->fallow);
    if (result->state != DOCTOR_YES)
        printf("      %sfor more:%s %s\n", print_on(PRINT_BOLD), print_off(), trial->change);
}

static void doctor_print_json(const struct doctor_trial *trial,
                              const struct doctor_result *result) {
    json_object(NULL);
    json_text("key", trial->key);
    json_text("name", trial->name);
    json_text("state", doctor_words[result->state]);
    json_text("found", result->found);
    json_text("fallow", trial->fallow);
    if (result->state != DOCTOR_YES)
        json_text("change", trial->change);
    json_end();
}

/* Whether all of them were tried, and MADV_FREE works. */
static bool doctor_all(const struct doctor_trial *trial, struct doctor_result *shared, bool json) {
    bool lazy = true;
    for (; trial->key != NULL; trial++) {
        doctor_try(trial, shared);
        if (json)
            doctor_print_json(trial, shared);
        else
            doctor_print(trial, shared);
        if (strcmp(trial->key, "madv_free") == 0)
            lazy = shared->state == DOCTOR_YES;
    }
    return lazy;
}

static int doctor_report(bool json) {
    struct utsname kernel;
    struct doctor_result *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || uname(&kernel) != 0)
        return tool_error(TOOL_FAILED, "%s", strerror(errno));
    if (json) {
        json_object(NULL);
        json_text("kernel", kernel.release);
        json_text("machine", kernel.machine);
        json_array("trials");
    } else {
        printf("%sLinux %s, %s%s\n", print_on(PRINT_BOLD), kernel.release, kernel.machine,
               print_off());
    }
    bool lazy = doctor_all(doctor_memory_trials, shared, json);
    doctor_all(doctor_system_trials, shared, json);
    if (json) {
        json_end();
        json_flag("lazy", lazy);
        json_end();
    }
    munmap(shared, sizeof *shared);
    return lazy ? TOOL_OK : TOOL_FAILED;
}

int doctor_main(int argc, char **argv) {
    static const struct option longs[] = {
        {"json", no_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
    bool json = false;
    int letter;
    opterr = 0;
    while ((letter = getopt_long(argc, argv, "jh", longs, NULL)) != -1) {
        if (letter == 'h') {
            fputs(doctor_help, stdout);
            return tool_finish(TOOL_OK);
        }
        if (letter != 'j')
            return tool_usage_option("doctor", argv);
        json = true;
    }
    if (optind < argc)
        return tool_usage("doctor", "it looks at this machine, not at %s", argv[optind]);
    return tool_finish(doctor_report(json));
}
