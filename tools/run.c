/* fallow run: a program with Fallow preloaded. It becomes the program (exec), so that signals and the exit status
   are the program's own. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool.h"

static const char run_help[] =
    "Usage: fallow run [--library FILE] [NAME:VALUE]... -- PROGRAM [ARGUMENT]...\n"
    "\n"
    "Starts the program with Fallow preloaded and these options, after those that FALLOW_CONF holds already:\n"
    "  fallow run dirty_decay_ms:0 stats_at_exit:true -- redis-server\n"
    "fallow-options(7) lists them. The program takes the place of this one: signals reach it, and its exit\n"
    "status is what is returned; 125 says that Fallow was not found, 126 that the program cannot be run,\n"
    "127 that there is none.\n"
    "\n"
    "  -l, --library FILE   this library, not the one installed or built with this command\n"
    "  -p, --print          print the variables it would set, and end\n";

/* --- the library --- */

static bool run_is_file(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, R_OK) == 0;
}

/* Where it is installed, seen from this program, or built; else where it was to be installed. */
static bool run_find_library(char path[PATH_MAX]) {
    static const char *const places[] = {"../" FALLOW_LIBRARY_FROM_BIN "/", "../"};
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    char *slash = length > 0 ? memrchr(self, '/', (size_t)length) : NULL;
    if (slash != NULL) {
        slash[1] = '\0';
        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
            char candidate[PATH_MAX * 2];
            snprintf(candidate, sizeof candidate, "%s%s%s", self, places[i], "libfallow.so");
            if (run_is_file(candidate) && realpath(candidate, path) != NULL)
                return true;
        }
    }
    snprintf(path, PATH_MAX, "%s/libfallow.so", FALLOW_LIBRARY_FOLDER);
    return run_is_file(path);
}

/* --- the program --- */

/* Where execvp will find it. */
static bool run_find_program(const char *name, char path[PATH_MAX]) {
    if (strchr(name, '/') != NULL)
        return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX;
    const char *at = getenv("PATH");
    for (at = at != NULL ? at : "/bin:/usr/bin";; at++) {
        size_t length = strcspn(at, ":");
        if (snprintf(path, PATH_MAX, "%.*s%s%s", (int)length, at, length > 0 ? "/" : "./", name) <
                PATH_MAX &&
            access(path, X_OK) == 0 && run_is_file(path))
            return true;
        at += length;
        if (*at == '\0')
            return false;
    }
}

/* Whether an ELF program names no dynamic linker, who alone preloads. */
static bool run_is_static(int fd) {
    Elf64_Ehdr header;
    if (pread(fd, &header, sizeof header, 0) != sizeof header ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64)
        return false;
    for (unsigned i = 0; i < header.e_phnum; i++) {
        Elf64_Phdr segment;
        off_t at = (off_t)(header.e_phoff + (size_t)i * header.e_phentsize);
        if (pread(fd, &segment, sizeof segment, at) != sizeof segment ||
            segment.p_type == PT_INTERP)
            return false;
    }
    return true;
}

/* Says so when the program will run without Fallow in spite of everything. */
static void run_warn(const char *name) {
    char path[PATH_MAX];
    struct stat status;
    if (!run_find_program(name, path))
        return;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    if (run_is_static(fd))
        tool_error(0, "%s is linked statically: nothing can be preloaded; it runs without Fallow",
                   path);
    else if (geteuid() != 0 && fstat(fd, &status) == 0 &&
             (status.st_mode & (S_ISUID | S_ISGID)) != 0)
        tool_error(0, "%s changes its user or group: nothing is preloaded; it runs without Fallow",
                   path);
    close(fd);
}

/* --- the environment --- */

static bool run_option_exists(const char *option) {
    static const char *const names[] = {
#define OPTION(name, type, default_value, min, max, unit, doc) #name,
#define OPTION_ENUM(name, default_value, doc, values)          #name,
#include "options.def"
#undef OPTION
#undef OPTION_ENUM
    };
    size_t length = strcspn(option, ":");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && memcmp(names[i], option, length) == 0)
            return option[length] == ':';
    return false;
}

/* What is set already, and then `more`. */
static bool run_set(const char *variable, const char *separator, const char *first,
                    const char *second) {
    char *value = NULL;
    bool both = first != NULL && *first != '\0' && second != NULL && *second != '\0';
    if (asprintf(&value, "%s%s%s", first != NULL ? first : "", both ? separator : "",
                 second != NULL ? second : "") < 0)
        return false;
    bool set = setenv(variable, value, 1) == 0;
    free(value);
    return set;
}

static int run_exec(char **program) {
    run_warn(program[0]);
    execvp(program[0], program);
    int error = errno;
    return tool_error(error == ENOENT ? TOOL_RUN_NOT_FOUND : TOOL_RUN_EXEC, "%s: %s", program[0],
                      strerror(error));
}

/* Sets both variables for the options of [first, end). */
static int run_prepare(const char *library, char **first, char **end) {
    char found[PATH_MAX];
    if (library == NULL) {
        if (!run_find_library(found))
            return tool_error(
                TOOL_RUN,
                "libfallow.so is neither where this command is installed nor in %s; --library FILE says where",
                FALLOW_LIBRARY_FOLDER);
    } else if (realpath(library, found) == NULL || !run_is_file(found)) {
        return tool_error(TOOL_RUN, "%s: %s", library, errno != 0 ? strerror(errno) : "no file");
    }
    if (strpbrk(found, " :\t\n") != NULL)
        return tool_error(TOOL_RUN, "%s: LD_PRELOAD takes no path with blanks or colons", found);
    bool set = run_set("LD_PRELOAD", ":", found, getenv("LD_PRELOAD"));
    for (; first < end; first++)
        set = set && run_set("FALLOW_CONF", ",", getenv("FALLOW_CONF"), *first);
    return set ? TOOL_OK : tool_error(TOOL_RUN, "the environment: %s", strerror(errno));
}

static int run_print(void) {
    const char *conf = getenv("FALLOW_CONF");
    printf("LD_PRELOAD=%s\n", getenv("LD_PRELOAD"));
    if (conf != NULL)
        printf("FALLOW_CONF=%s\n", conf);
    return tool_finish(TOOL_OK);
}

int run_main(int argc, char **argv) {
    static const struct option longs[] = {
        {"library", required_argument, NULL, 'l'},
        {"print", no_argument, NULL, 'p'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    const char *library = NULL;
    bool print = false;
    int letter;
    opterr = 0;
    while ((letter = getopt_long(argc, argv, "+l:ph", longs, NULL)) != -1) {
        switch (letter) {
        case 'l':
            library = optarg;
            break;
        case 'p':
            print = true;
            break;
        case 'h':
            fputs(run_help, stdout);
            return tool_finish(TOOL_OK);
        default:
            return tool_usage_option("run", argv);
        }
    }
    bool ended = strcmp(argv[optind - 1], "--") == 0; /* getopt has passed it */
    int first = optind, end = first;
    for (; !ended && end < argc && strcmp(argv[end], "--") != 0; end++) {
        const char *option = argv[end];
        if (strchr(option, ':') == NULL)
            return tool_usage("run", "'%s' is no NAME:VALUE; the program stands after '--'",
                              option);
        if (strchr(option, ',') == NULL && !run_option_exists(option))
            return tool_usage("run", "there is no option %.*s; fallow-options(7) lists them",
                              (int)strcspn(option, ":"), option);
    }
    int program = end + (!ended && end < argc);
    if (program >= argc && !print)
        return tool_usage("run", "no program after '--'");
    int status = run_prepare(library, argv + first, argv + end);
    if (status != TOOL_OK || print)
        return status != TOOL_OK ? status : run_print();
    return run_exec(argv + program);
}
