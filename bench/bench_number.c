#include "bench_number.h"

#include "bench_fail.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

// strtoull accepts blanks and signs, and wraps negative numbers round; a command line should not.
static bool whole_prefix(const char *text, uint64_t *value, const char **rest) {
    if (!isdigit((unsigned char)text[0]))
        return false;
    int base = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10;
    char *end;
    errno = 0;
    *value = strtoull(text, &end, base);
    *rest = end;
    return errno == 0;
}

uint64_t bench_number_whole(const char *option, const char *text, uint64_t least, uint64_t most) {
    uint64_t value;
    const char *rest;
    if (!whole_prefix(text, &value, &rest) || *rest != '\0' || value < least || value > most)
        bench_fail(BENCH_EXIT_USAGE, "%s: '%s' is not a whole number from %" PRIu64 " to %" PRIu64,
                   option, text, least, most);
    return value;
}

static int suffix_shift(const char *suffix) {
    if (suffix[0] == '\0')
        return 0;
    if (suffix[1] != '\0')
        return -1;
    switch (tolower((unsigned char)suffix[0])) {
    case 'k':
        return 10;
    case 'm':
        return 20;
    case 'g':
        return 30;
    default:
        return -1;
    }
}

size_t bench_number_bytes(const char *option, const char *text, size_t least, size_t most) {
    uint64_t value;
    const char *rest;
    bool good = whole_prefix(text, &value, &rest);
    int shift = good ? suffix_shift(rest) : -1;
    if (shift < 0 || value > (most >> shift) || (value << shift) < least)
        bench_fail(BENCH_EXIT_USAGE,
                   "%s: '%s' is not a number of bytes from %zu to %zu (k, m, g may follow it)",
                   option, text, least, most);
    return (size_t)(value << shift);
}

double bench_number_real(const char *option, const char *text, double least, double most) {
    char *end;
    errno = 0;
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || errno != 0 || !isfinite(value) || value < least ||
        value > most)
        bench_fail(BENCH_EXIT_USAGE, "%s: '%s' is not a number from %g to %g", option, text, least,
                   most);
    return value;
}
