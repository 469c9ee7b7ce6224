/* Proof that no seccomp filter is there, from the text of a status file. */
#include <criterion/criterion.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "compiler.h"
#include "os_seccomp.h"

static bool absent_in(const char *text) {
    char path[] = "/tmp/fallow-status-XXXXXX";
    int file = mkstemp(path);
    cr_assert_geq(file, 0);
    cr_assert_eq(write(file, text, strlen(text)), (ssize_t)strlen(text));
    close(file);
    bool absent = os_seccomp_is_absent_in(path);
    unlink(path);
    return absent;
}

Test(seccomp, only_mode_0_is_none) {
    cr_assert(absent_in("Name:\tx\nNoNewPrivs:\t0\nSeccomp:\t0\nSeccomp_filters:\t0\n"));
    cr_assert_not(absent_in("Name:\tx\nSeccomp:\t1\n"));
    cr_assert_not(absent_in("Name:\tx\nSeccomp:\t2\nSeccomp_filters:\t1\n"));
}

Test(seccomp, what_does_not_say_so_is_no_proof) {
    cr_assert_not(absent_in(""));
    cr_assert_not(absent_in("Name:\tSeccomp:\t0\n"));
    cr_assert_not(absent_in("Name:\tx\nNoNewPrivs:\t0\n"));
    cr_assert_not(os_seccomp_is_absent_in("/nowhere/status"));
}

Test(seccomp, a_filter_of_this_thread_is_seen) {
    struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog filter = {.len = 1, .filter = &allow};
    if (!os_seccomp_is_absent())
        cr_skip_test("this process is in a sandbox already");
    cr_assert_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    cr_assert_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), 0);
    cr_assert_not(os_seccomp_is_absent());
}
