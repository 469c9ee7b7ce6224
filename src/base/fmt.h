/* Text into a caller's buffer, without malloc, stdio or locale. What does not fit is dropped; the
   buffer always holds a terminated string. */
#pragma once

#include "compiler.h"

struct fmt {
    char *buf;  /* cap bytes, terminated after every call */
    size_t cap; /* at least 1 */
    size_t len; /* bytes before the terminator: len < cap */
};

enum fmt_side { FMT_LEFT, FMT_RIGHT };

struct fmt fmt_start(char *buf, size_t cap);
bool fmt_is_full(const struct fmt *f);

void fmt_char(struct fmt *f, char c);
void fmt_mem(struct fmt *f, const char *bytes, size_t len);
void fmt_str(struct fmt *f, const char *s);
void fmt_u64(struct fmt *f, uint64_t value);
void fmt_i64(struct fmt *f, int64_t value);
void fmt_hex(struct fmt *f, uint64_t value); /* 0x1f */

/* part / whole with one decimal, rounded to nearest; "-" when whole is 0. */
void fmt_fixed(struct fmt *f, uint64_t part, uint64_t whole);
/* The same in percent, with the sign: 12.5%. */
void fmt_percent(struct fmt *f, uint64_t part, uint64_t whole);
/* 0 B, 1023 B, 1.0 KiB, 12.3 MiB, ... */
void fmt_bytes_human(struct fmt *f, uint64_t bytes);

/* Widens what was written since start to width columns; FMT_LEFT keeps the text at the left edge. */
void fmt_pad(struct fmt *f, size_t start, size_t width, enum fmt_side side);

/* A decimal number with an optional sign and an optional K, M or G (powers of 1024), and nothing
   else. False, with *out untouched, on anything else and on overflow. */
bool fmt_parse_i64(const char *text, size_t len, int64_t *out);
