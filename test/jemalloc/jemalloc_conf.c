/*
 * A program that sets jemalloc's options in the source, and prints what came of it: for conf.sh.
 */
#include <jemalloc/jemalloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"

const char *malloc_conf = "dirty_decay_ms:1234,narenas:3";

static void print(const char *name, bool is_signed) {
    union {
        ssize_t time;
        unsigned number;
    } value;
    size_t size = is_signed ? sizeof value.time : sizeof value.number;
    CHECK_THAT(mallctl(name, &value, &size, NULL, 0) == 0, "%s", name);
    if (is_signed)
        printf("%s %zd\n", name, value.time);
    else
        printf("%s %u\n", name, value.number);
}

int main(void) {
    const char *thp;
    size_t size = sizeof thp;
    print("opt.dirty_decay_ms", true);
    print("opt.muzzy_decay_ms", true);
    print("opt.narenas", false);
    CHECK(mallctl("opt.thp", &thp, &size, NULL, 0) == 0);
    printf("opt.thp %s\n", thp);
    return 0;
}
