#include "bench_json.h"

#include <stdio.h>

void bench_json_string(const char *name, const char *value) {
    printf("\"%s\": \"", name);
    for (; *value; value++) {
        if (*value == '"' || *value == '\\')
            putchar('\\');
        if ((unsigned char)*value < 0x20)
            printf("\\u%04x", (unsigned)*value);
        else
            putchar(*value);
    }
    putchar('"');
}

void bench_json_malloc(const struct which_malloc *which) {
    printf("\"malloc\": {");
    bench_json_string("name", which->name);
    printf(", ");
    bench_json_string("path", which->path);
    putchar('}');
}
