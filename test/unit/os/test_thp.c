/* os_thp over trees of files that look like /sys and /proc in each of their states. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os_thp.h"

static char root[64];

static void write_file(const char *dir, const char *name, const char *text) {
    char path[256], at[512] = "";
    snprintf(path, sizeof path, "%s%s", root, dir);
    for (char *slash = path + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        memcpy(at, path, (size_t)(slash - path));
        at[slash - path] = '\0';
        mkdir(at, 0700);
    }
    mkdir(path, 0700);
    snprintf(at, sizeof at, "%s/%s", path, name);
    FILE *file = fopen(at, "w");
    cr_assert_not_null(file);
    fputs(text, file);
    fclose(file);
}

#define THP "/sys/kernel/mm/transparent_hugepage"

static void make_root(void) {
    strcpy(root, "/tmp/fallow-thp-XXXXXX");
    cr_assert_not_null(mkdtemp(root));
}

static void remove_root(void) {
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", root);
    cr_assert_eq(system(command), 0);
}

TestSuite(thp, .init = make_root, .fini = remove_root);

Test(thp, without_the_main_switch_there_is_none) {
    cr_assert_not(os_thp_usable_at(root));
}

Test(thp, the_main_switch_decides) {
    write_file(THP, "enabled", "always [madvise] never\n");
    cr_assert(os_thp_usable_at(root));
    write_file(THP, "enabled", "[always] madvise never\n");
    cr_assert(os_thp_usable_at(root));
    write_file(THP, "enabled", "always madvise [never]\n");
    cr_assert_not(os_thp_usable_at(root));
}

Test(thp, the_switch_of_the_size_decides_unless_it_inherits) {
    write_file(THP, "enabled", "always madvise [never]\n");
    write_file(THP "/hugepages-2048kB", "enabled", "always inherit [madvise] never\n");
    cr_assert(os_thp_usable_at(root));
    write_file(THP, "enabled", "[always] madvise never\n");
    write_file(THP "/hugepages-2048kB", "enabled", "always inherit madvise [never]\n");
    cr_assert_not(os_thp_usable_at(root));
    write_file(THP "/hugepages-2048kB", "enabled", "always [inherit] madvise never\n");
    cr_assert(os_thp_usable_at(root));
}

Test(thp, a_process_may_have_switched_them_off) {
    write_file(THP, "enabled", "[always] madvise never\n");
    write_file("/proc/self", "status", "Name:\tx\nTHP_enabled:\t1\nThreads:\t1\n");
    cr_assert(os_thp_usable_at(root));
    write_file("/proc/self", "status", "Name:\tx\nTHP_enabled:\t0\nThreads:\t1\n");
    cr_assert_not(os_thp_usable_at(root));
}
