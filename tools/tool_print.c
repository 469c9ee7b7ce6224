/* Rows and bars. What is a terminal is found out once. */
#include "tool_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "fmt.h"

enum { PRINT_COLUMNS = 80, PRINT_BUFFERS = 4, PRINT_BUFFER_BYTES = 32 };

bool print_is_terminal(void) {
    static int answer = -1;
    if (answer < 0)
        answer = isatty(STDOUT_FILENO);
    return answer != 0;
}

static bool print_has_colours(void) {
    static int answer = -1;
    if (answer < 0) {
        const char *term = getenv("TERM"), *none = getenv("NO_COLOR");
        answer = print_is_terminal() && term != NULL && strcmp(term, "dumb") != 0 &&
                 (none == NULL || *none == '\0');
    }
    return answer != 0;
}

const char *print_on(enum print_style style) {
    static const char *const codes[] = {
        [PRINT_PLAIN] = "",           [PRINT_BOLD] = "\033[1m", [PRINT_GOOD] = "\033[32m",
        [PRINT_WARNING] = "\033[33m", [PRINT_BAD] = "\033[31m", [PRINT_DIM] = "\033[2m",
    };
    return print_has_colours() ? codes[style] : "";
}

const char *print_off(void) {
    return print_has_colours() ? "\033[0m" : "";
}

unsigned print_columns(void) {
    struct winsize size;
    if (print_is_terminal() && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return PRINT_COLUMNS;
}

const char *print_bytes(uint64_t bytes) {
    static char buffers[PRINT_BUFFERS][PRINT_BUFFER_BYTES];
    static unsigned next;
    char *buffer = buffers[next++ % PRINT_BUFFERS];
    struct fmt f = fmt_start(buffer, PRINT_BUFFER_BYTES);
    fmt_bytes_human(&f, bytes);
    return buffer;
}

void print_row(const char *name, uint64_t bytes) {
    printf("  %-24s%14" PRIu64 "%12s\n", name, bytes, print_bytes(bytes));
}

/* Columns for `part` of `full`. */
static unsigned print_share(unsigned columns, uint64_t part, uint64_t full) {
    return full == 0 ? 0 : (unsigned)((double)part / (double)full * columns + 0.5);
}

void print_bar(unsigned columns, uint64_t first, uint64_t second, uint64_t full) {
    unsigned one = (unsigned)min_size(print_share(columns, first, full), columns);
    unsigned both = (unsigned)min_size(print_share(columns, first + second, full), columns);
    both = both < one ? one : both;
    fputs(print_on(PRINT_GOOD), stdout);
    for (unsigned i = 0; i < columns; i++) {
        if (i == one)
            printf("%s%s", print_off(), print_on(PRINT_WARNING));
        putchar(i < one ? '#' : i < both ? '-' : ' ');
    }
    fputs(print_off(), stdout);
}

void print_clean(const char *text) {
    for (; *text != '\0'; text++)
        putchar((unsigned char)*text < ' ' || *text == 0x7f ? '?' : *text);
}
