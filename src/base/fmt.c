/* Bounded formatting and number parsing. Owns nothing: all state is the caller's struct fmt, whose
   invariant is len < cap and buf[len] == 0 after every call. No locks, no libc beyond memcpy, so it
   works before libc is ready and inside a signal handler. Writing the text out is os_log's job. */
#include "fmt.h"

#include <string.h>

enum {
    FMT_DIGITS_MAX = 20,  /* of a 64-bit number in base 10 */
    FMT_SCALED_BITS = 11, /* room for a factor of 1000 and the rounding */
};

struct fmt fmt_start(char *buf, size_t cap) {
    buf[0] = '\0';
    return (struct fmt){.buf = buf, .cap = cap, .len = 0};
}

bool fmt_is_full(const struct fmt *f) {
    return f->len + 1 >= f->cap;
}

void fmt_mem(struct fmt *f, const char *bytes, size_t len) {
    size_t fits = min_size(len, f->cap - 1 - f->len);
    memcpy(f->buf + f->len, bytes, fits);
    f->len += fits;
    f->buf[f->len] = '\0';
}

void fmt_char(struct fmt *f, char c) {
    fmt_mem(f, &c, 1);
}

void fmt_str(struct fmt *f, const char *s) {
    fmt_mem(f, s, strlen(s));
}

static void fmt_base(struct fmt *f, uint64_t value, unsigned base) {
    char digits[FMT_DIGITS_MAX];
    size_t at = sizeof digits;
    do {
        digits[--at] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value != 0);
    fmt_mem(f, digits + at, sizeof digits - at);
}

void fmt_u64(struct fmt *f, uint64_t value) {
    fmt_base(f, value, 10);
}

void fmt_i64(struct fmt *f, int64_t value) {
    if (value < 0)
        fmt_char(f, '-');
    fmt_base(f, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, 10);
}

void fmt_hex(struct fmt *f, uint64_t value) {
    fmt_str(f, "0x");
    fmt_base(f, value, 16);
}

static void fmt_scaled(struct fmt *f, uint64_t part, uint64_t scale, uint64_t whole) {
    if (whole == 0) {
        fmt_char(f, '-');
        return;
    }
    uint64_t units;
    if (__builtin_mul_overflow(part / whole, scale, &units))
        units = UINT64_MAX - scale; /* the remainder adds at most scale */
    uint64_t rest = part % whole;
    if (whole > UINT64_MAX >> FMT_SCALED_BITS) {
        rest >>= FMT_SCALED_BITS;
        whole >>= FMT_SCALED_BITS;
    }
    uint64_t tenths = (rest * scale * 10 + whole / 2) / whole;
    fmt_u64(f, units + tenths / 10);
    fmt_char(f, '.');
    fmt_u64(f, tenths % 10);
}

void fmt_fixed(struct fmt *f, uint64_t part, uint64_t whole) {
    fmt_scaled(f, part, 1, whole);
}

void fmt_percent(struct fmt *f, uint64_t part, uint64_t whole) {
    fmt_scaled(f, part, 100, whole);
    if (whole != 0)
        fmt_char(f, '%');
}

void fmt_bytes_human(struct fmt *f, uint64_t bytes) {
    static const char units[][5] = {" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
    unsigned unit = 0;
    /* The next unit begins where this one would print 1024.0. */
    while (unit + 1 < ARRAY_COUNT(units) &&
           bytes >= (1024ULL << (10 * unit)) - (unit == 0 ? 0 : (1ULL << (10 * unit)) / 20))
        unit++;
    if (unit == 0)
        fmt_u64(f, bytes);
    else
        fmt_fixed(f, bytes, 1ULL << (10 * unit));
    fmt_str(f, units[unit]);
}

void fmt_pad(struct fmt *f, size_t start, size_t width, enum fmt_side side) {
    size_t written = f->len - start;
    if (written >= width)
        return;
    size_t blanks = min_size(width - written, f->cap - 1 - f->len);
    char *text = f->buf + start;
    if (side == FMT_RIGHT) {
        memmove(text + blanks, text, written);
        memset(text, ' ', blanks);
    } else {
        memset(text + written, ' ', blanks);
    }
    f->len += blanks;
    f->buf[f->len] = '\0';
}

static unsigned fmt_suffix_shift(char c) {
    switch (c) {
    case 'k':
    case 'K':
        return 10;
    case 'm':
    case 'M':
        return 20;
    case 'g':
    case 'G':
        return 30;
    default:
        return 0;
    }
}

bool fmt_parse_i64(const char *text, size_t len, int64_t *out) {
    bool negative = len > 0 && text[0] == '-';
    size_t at = len > 0 && (text[0] == '-' || text[0] == '+');
    unsigned shift = len > at ? fmt_suffix_shift(text[len - 1]) : 0;
    size_t end = shift != 0 ? len - 1 : len;
    if (at == end)
        return false;

    /* Counts downwards, so that INT64_MIN needs no special case. */
    int64_t value = 0;
    for (; at < end; at++) {
        if (text[at] < '0' || text[at] > '9')
            return false;
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_sub_overflow(value, text[at] - '0', &value))
            return false;
    }
    if (__builtin_mul_overflow(value, (int64_t)1 << shift, &value))
        return false;
    if (!negative && __builtin_sub_overflow(0, value, &value))
        return false;
    *out = value;
    return true;
}
