/* Symbols of the vdso. */
#include <criterion/criterion.h>
#include <sys/auxv.h>
#include <time.h>

#include "os_vdso.h"

Test(vdso, has_the_clock) {
    if (getauxval(AT_SYSINFO_EHDR) == 0)
        cr_skip_test("no vdso here");
    union {
        void *object;
        int (*function)(clockid_t, struct timespec *);
    } clock;
#if defined(__aarch64__)
    clock.object = os_vdso_find("__kernel_clock_gettime");
#else
    clock.object = os_vdso_find("__vdso_clock_gettime");
#endif
    cr_assert_not_null(clock.object);
    struct timespec before, now, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    cr_assert_eq(clock.function(CLOCK_MONOTONIC, &now), 0);
    clock_gettime(CLOCK_MONOTONIC, &after);
    cr_assert(now.tv_sec >= before.tv_sec && now.tv_sec <= after.tv_sec);
}

Test(vdso, has_no_other_names) {
    cr_assert_null(os_vdso_find("no_such_function"));
    cr_assert_null(os_vdso_find(""));
}
