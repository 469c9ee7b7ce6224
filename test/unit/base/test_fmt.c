/* Formatting at the edges of numbers and of the buffer, and parsing what was formatted. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fmt.h"

#define EXPECT(expected, call)                     \
    do {                                           \
        char buf[64];                              \
        struct fmt f = fmt_start(buf, sizeof buf); \
        call;                                      \
        cr_assert_str_eq(buf, expected);           \
        cr_assert_eq(f.len, strlen(expected));     \
    } while (0)

Test(fmt, integers) {
    EXPECT("0", fmt_u64(&f, 0));
    EXPECT("10", fmt_u64(&f, 10));
    EXPECT("18446744073709551615", fmt_u64(&f, UINT64_MAX));
    EXPECT("0", fmt_i64(&f, 0));
    EXPECT("-1", fmt_i64(&f, -1));
    EXPECT("9223372036854775807", fmt_i64(&f, INT64_MAX));
    EXPECT("-9223372036854775808", fmt_i64(&f, INT64_MIN));
    EXPECT("0x0", fmt_hex(&f, 0));
    EXPECT("0xdeadbeef", fmt_hex(&f, 0xdeadbeef));
    EXPECT("0xffffffffffffffff", fmt_hex(&f, UINT64_MAX));
}

Test(fmt, ratios) {
    EXPECT("0.0", fmt_fixed(&f, 0, 7));
    EXPECT("0.1", fmt_fixed(&f, 1, 7));
    EXPECT("1.0", fmt_fixed(&f, 7, 7));
    EXPECT("2.0", fmt_fixed(&f, 199, 100));
    EXPECT("1.9", fmt_fixed(&f, 194, 100));
    EXPECT("-", fmt_fixed(&f, 1, 0));
    EXPECT("12.5%", fmt_percent(&f, 1, 8));
    EXPECT("33.3%", fmt_percent(&f, 1, 3));
    EXPECT("66.7%", fmt_percent(&f, 2, 3));
    EXPECT("100.0%", fmt_percent(&f, 9999, 10000 - 1));
    EXPECT("250.0%", fmt_percent(&f, 5, 2));
    EXPECT("-", fmt_percent(&f, 1, 0));
}

Test(fmt, ratios_of_huge_numbers) {
    EXPECT("18446744073709551615.0", fmt_fixed(&f, UINT64_MAX, 1));
    EXPECT("1.0", fmt_fixed(&f, UINT64_MAX, UINT64_MAX));
    EXPECT("0.5", fmt_fixed(&f, UINT64_MAX / 2, UINT64_MAX));
    EXPECT("50.0%", fmt_percent(&f, UINT64_MAX / 2, UINT64_MAX));
    EXPECT("99.9%", fmt_percent(&f, UINT64_MAX / 1000 * 999, UINT64_MAX));
}

Test(fmt, ratios_agree_with_floating_point) {
    for (uint64_t whole = 1; whole < 200; whole++) {
        for (uint64_t part = 0; part < 400; part++) {
            /* Halves go up: the nudge keeps printf from rounding them to even. */
            double percent = (double)part * 100 / (double)whole + 1e-9;
            char expected[32];
            snprintf(expected, sizeof expected, "%.1f%%", percent);
            EXPECT(expected, fmt_percent(&f, part, whole));
        }
    }
}

Test(fmt, bytes) {
    EXPECT("0 B", fmt_bytes_human(&f, 0));
    EXPECT("1023 B", fmt_bytes_human(&f, 1023));
    EXPECT("1.0 KiB", fmt_bytes_human(&f, 1024));
    EXPECT("1.5 KiB", fmt_bytes_human(&f, 1536));
    EXPECT("1023.9 KiB", fmt_bytes_human(&f, (1 << 20) - 100));
    EXPECT("1.0 MiB", fmt_bytes_human(&f, (1 << 20) - 1));
    EXPECT("1.0 GiB", fmt_bytes_human(&f, 1 << 30));
    EXPECT("16.0 EiB", fmt_bytes_human(&f, UINT64_MAX));
}

Test(fmt, no_unit_prints_1024) {
    for (unsigned shift = 20; shift < 64; shift++) {
        for (uint64_t below = 1; below < 1 << 11; below++) {
            char buf[64];
            struct fmt f = fmt_start(buf, sizeof buf);
            fmt_bytes_human(&f, (1ULL << shift) - (below << (shift - 20)));
            cr_assert_neq(strncmp(buf, "1024", 4), 0, "%s", buf);
        }
    }
}

Test(fmt, padding) {
    EXPECT("a  ", (fmt_str(&f, "a"), fmt_pad(&f, 0, 3, FMT_LEFT)));
    EXPECT("  a", (fmt_str(&f, "a"), fmt_pad(&f, 0, 3, FMT_RIGHT)));
    EXPECT("abc", (fmt_str(&f, "abc"), fmt_pad(&f, 0, 3, FMT_RIGHT)));
    EXPECT("abcd", (fmt_str(&f, "abcd"), fmt_pad(&f, 0, 3, FMT_LEFT)));
    EXPECT("x:   7", (fmt_str(&f, "x:"), fmt_u64(&f, 7), fmt_pad(&f, 2, 4, FMT_RIGHT)));
    EXPECT("   ", fmt_pad(&f, 0, 3, FMT_LEFT));
}

Test(fmt, what_does_not_fit_is_dropped) {
    char buf[] = "........";
    struct fmt f = fmt_start(buf, 6);
    fmt_str(&f, "abc");
    cr_assert_not(fmt_is_full(&f));
    fmt_u64(&f, 12345);
    cr_assert_str_eq(buf, "abc12");
    cr_assert(fmt_is_full(&f));
    fmt_char(&f, 'x');
    fmt_hex(&f, 1);
    fmt_pad(&f, 0, 40, FMT_LEFT);
    fmt_pad(&f, 0, 40, FMT_RIGHT);
    cr_assert_str_eq(buf, "abc12");
    cr_assert_eq(f.len, 5);
    cr_assert_eq(buf[6], '.');
}

Test(fmt, padding_stops_at_the_end_of_the_buffer) {
    char buf[] = "........";
    struct fmt f = fmt_start(buf, 6);
    fmt_str(&f, "abc");
    fmt_pad(&f, 1, 40, FMT_RIGHT);
    cr_assert_str_eq(buf, "a  bc");
    cr_assert_eq(buf[6], '.');
}

Test(fmt, a_buffer_of_one_byte_holds_the_empty_string) {
    char buf[] = "..";
    struct fmt f = fmt_start(buf, 1);
    fmt_str(&f, "abc");
    fmt_pad(&f, 0, 3, FMT_RIGHT);
    cr_assert_str_eq(buf, "");
    cr_assert_eq(buf[1], '.');
}

static void expect_number(const char *text, int64_t expected) {
    int64_t got = 42;
    cr_assert(fmt_parse_i64(text, strlen(text), &got), "%s", text);
    cr_assert_eq(got, expected, "%s: %" PRId64, text, got);
}

static void expect_refusal(const char *text) {
    int64_t got = 42;
    cr_assert_not(fmt_parse_i64(text, strlen(text), &got), "%s", text);
    cr_assert_eq(got, 42);
}

Test(fmt, parses_numbers) {
    expect_number("0", 0);
    expect_number("-0", 0);
    expect_number("+7", 7);
    expect_number("007", 7);
    expect_number("-1", -1);
    expect_number("9223372036854775807", INT64_MAX);
    expect_number("-9223372036854775808", INT64_MIN);
    expect_number("4K", 4096);
    expect_number("-4k", -4096);
    expect_number("3M", 3 << 20);
    expect_number("2g", 2LL << 30);
    expect_number("8589934591G", INT64_MAX - (1LL << 30) + 1);
    expect_number("-8589934592G", INT64_MIN);
}

Test(fmt, refuses_what_is_not_a_number) {
    static const char *const bad[] = {
        "",    "-",     "+",   "K",   "-K",  " 1",          "1 ",
        "1.5", "0x10",  "1KK", "1T",  "--1", "-+1",         "9223372036854775808",
        "1e3", "12a34", "K1",  "1\n", "½",   "8589934592G", "-9223372036854775809",
    };
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++)
        expect_refusal(bad[i]);
}

Test(fmt, parses_no_further_than_the_length) {
    int64_t got;
    cr_assert(fmt_parse_i64("123456", 3, &got));
    cr_assert_eq(got, 123);
}
