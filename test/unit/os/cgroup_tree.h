/* A tree of files below a folder of its own, to stand for /proc and /sys. */
#pragma once

#include <criterion/criterion.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static char root[] = "/tmp/fallow-cgroup-XXXXXX";

static void make_root(void) {
    cr_assert_not_null(mkdtemp(root));
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *where) {
    (void)info;
    (void)type;
    (void)where;
    return remove(path);
}

static void remove_root(void) {
    cr_assert_eq(nftw(root, remove_entry, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static void put(const char *path, const char *text) {
    char full[512];
    snprintf(full, sizeof full, "%s%s", root, path);
    for (char *at = full + 1; *at != '\0'; at++) {
        if (*at != '/')
            continue;
        *at = '\0';
        cr_assert(mkdir(full, 0700) == 0 || errno == EEXIST);
        *at = '/';
    }
    FILE *file = fopen(full, "we");
    cr_assert_not_null(file);
    fputs(text, file);
    fclose(file);
}
