/* Owns how deep the output is nested; one document at a time. Text that is not UTF-8, as a path may be, has its
   bytes above 127 written as if they were Latin-1, so that it is JSON in any case. */
#include "tool_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { JSON_DEPTH_MAX = 16, JSON_INDENT = 2 };

static struct {
    unsigned depth;
    bool is_array[JSON_DEPTH_MAX];
    bool has_member[JSON_DEPTH_MAX];
} json;

/* Bytes of the UTF-8 sequence at `p`, 0 if there is none. */
static unsigned json_sequence(const unsigned char *p) {
    static const struct {
        unsigned char mask, lead, least_second;
        unsigned bytes;
    } forms[] = {
        {0x80, 0x00, 0, 1}, {0xe0, 0xc0, 0x80, 2}, {0xf0, 0xe0, 0x80, 3}, {0xf8, 0xf0, 0x80, 4}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if ((p[0] & forms[i].mask) != forms[i].lead)
            continue;
        for (unsigned at = 1; at < forms[i].bytes; at++)
            if ((p[at] & 0xc0U) != 0x80)
                return 0;
        bool is_overlong = (forms[i].bytes == 2 && p[0] < 0xc2) || (p[0] == 0xe0 && p[1] < 0xa0) ||
                           (p[0] == 0xf0 && p[1] < 0x90);
        bool is_beyond =
            (p[0] == 0xed && p[1] >= 0xa0) || p[0] > 0xf4 || (p[0] == 0xf4 && p[1] >= 0x90);
        return is_overlong || is_beyond ? 0 : forms[i].bytes;
    }
    return 0;
}

static void json_string(const char *value) {
    const unsigned char *p = (const unsigned char *)value;
    putchar('"');
    while (*p != '\0') {
        unsigned bytes = json_sequence(p);
        if (*p == '"' || *p == '\\')
            printf("\\%c", *p++);
        else if (*p < ' ' || *p == 0x7f || bytes == 0)
            printf("\\u%04x", (unsigned)*p++);
        else
            p += fwrite(p, 1, bytes, stdout);
    }
    putchar('"');
}

/* What stands before a value: comma, line, name. */
static void json_member(const char *name) {
    if (json.depth > 0) {
        fputs(json.has_member[json.depth] ? ",\n" : "\n", stdout);
        printf("%*s", (int)(json.depth * JSON_INDENT), "");
        json.has_member[json.depth] = true;
    }
    if (name != NULL) {
        json_string(name);
        fputs(": ", stdout);
    }
}

static void json_begin(const char *name, bool is_array) {
    json_member(name);
    putchar(is_array ? '[' : '{');
    json.depth++;
    json.is_array[json.depth] = is_array;
    json.has_member[json.depth] = false;
}

void json_object(const char *name) {
    json_begin(name, false);
}

void json_array(const char *name) {
    json_begin(name, true);
}

void json_end(void) {
    bool is_array = json.is_array[json.depth];
    if (json.has_member[json.depth])
        printf("\n%*s", (int)((json.depth - 1) * JSON_INDENT), "");
    json.depth--;
    putchar(is_array ? ']' : '}');
    if (json.depth == 0)
        putchar('\n');
}

void json_u64(const char *name, uint64_t value) {
    json_member(name);
    printf("%" PRIu64, value);
}

void json_i64(const char *name, int64_t value) {
    json_member(name);
    printf("%" PRId64, value);
}

void json_flag(const char *name, bool value) {
    json_member(name);
    fputs(value ? "true" : "false", stdout);
}

void json_text(const char *name, const char *value) {
    json_member(name);
    json_string(value);
}
