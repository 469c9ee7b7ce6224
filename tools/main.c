/* fallow: the subcommands, each in the file of its name. */
#include <stdio.h>
#include <string.h>

#include "tool.h"

static const struct {
    const char *name, *arguments, *text;
    int (*main)(int argc, char **argv);
} commands[] = {
    {"run", "[NAME:VALUE]... -- PROGRAM ...", "runs a program with Fallow preloaded", run_main},
    {"doctor", "", "what kernel, settings and sandbox allow here, and what to change for more",
     doctor_main},
    {"rss", "PID...", "the resident set of any process, and what of it the kernel may take",
     rss_main},
    {"stats", "PID...", "the heap of a process that has Fallow: states, why RSS is high, counters",
     stats_main},
    {"trim", "PID...", "has the kernel take a process's lazy memory now", trim_main},
};

static void main_help(FILE *out) {
    fputs("Usage: fallow COMMAND [OPTION]... [ARGUMENT]...\n\n", out);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        fprintf(out, "  %-7s%-32s%s\n", commands[i].name, commands[i].arguments, commands[i].text);
    fputs(
        "\n'fallow COMMAND --help' says what each can do; fallow(1) has all of it.\n"
        "Exit status: 0 done, 1 failed, 2 usage, 3 no such process, 4 not permitted, 5 no Fallow in the\n"
        "process, 6 not possible on this machine; fallow run: the program's, or 125, 126, 127.\n",
        out);
}

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "";
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        main_help(stdout);
        return tool_finish(TOOL_OK);
    }
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        puts("fallow " FALLOW_VERSION);
        return tool_finish(TOOL_OK);
    }
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(name, commands[i].name) == 0)
            return commands[i].main(argc - 1, argv + 1);
    if (*name != '\0')
        return tool_error(TOOL_USAGE, "there is no command %s; 'fallow --help' lists them", name);
    main_help(stderr);
    return TOOL_USAGE;
}
