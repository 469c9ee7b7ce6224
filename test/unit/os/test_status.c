/* Proof that no seccomp filter is there, and the number of threads, from the text of a status file. */
#include <criterion/criterion.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "compiler.h"
#include "os_status.h"

static char path[64];

static void write_status(const char *text) {
    strcpy(path, "/tmp/fallow-status-XXXXXX");
    int file = mkstemp(path);
    cr_assert_geq(file, 0);
    cr_assert_eq(write(file, text, strlen(text)), (ssize_t)strlen(text));
    close(file);
}

static bool absent_in(const char *text) {
    write_status(text);
    bool absent = os_status_is_unfiltered_in(path);
    unlink(path);
    return absent;
}

Test(status, only_mode_0_is_none) {
    cr_assert(absent_in("Name:\tx\nNoNewPrivs:\t0\nSeccomp:\t0\nSeccomp_filters:\t0\n"));
    cr_assert_not(absent_in("Name:\tx\nSeccomp:\t1\n"));
    cr_assert_not(absent_in("Name:\tx\nSeccomp:\t2\nSeccomp_filters:\t1\n"));
}

Test(status, what_does_not_say_so_is_no_proof) {
    cr_assert_not(absent_in(""));
    cr_assert_not(absent_in("Name:\tSeccomp:\t0\n"));
    cr_assert_not(absent_in("Name:\tx\nNoNewPrivs:\t0\n"));
    cr_assert_not(os_status_is_unfiltered_in("/nowhere/status"));
}

Test(status, a_filter_of_this_thread_is_seen) {
    struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog filter = {.len = 1, .filter = &allow};
    if (!os_status_is_unfiltered())
        cr_skip_test("this process is in a sandbox already");
    cr_assert_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    cr_assert_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), 0);
    cr_assert_not(os_status_is_unfiltered());
}

static unsigned threads_in(const char *text) {
    write_status(text);
    unsigned threads = os_status_threads_in(path);
    unlink(path);
    return threads;
}

Test(status, threads_are_counted) {
    cr_assert_eq(threads_in("Name:\tx\nThreads:\t1\nSigQ:\t0/1\n"), 1u);
    cr_assert_eq(threads_in("Name:\tx\nThreads:\t1207\nSigQ:\t0/1\n"), 1207u);
    cr_assert_eq(threads_in("Name:\tThreads:\t3\n"), 0u);
    cr_assert_eq(os_status_threads_in("/nowhere/status"), 0u);
}

static void *wait_there(void *barrier) {
    pthread_barrier_wait(barrier);
    pthread_barrier_wait(barrier);
    return NULL;
}

Test(status, this_process_is_counted) {
    pthread_t thread;
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, NULL, 1);
    pthread_create(&thread, NULL, wait_there,
                   &barrier); /* a tool may start its own with the first */
    pthread_join(thread, NULL);
    unsigned before = os_status_threads();
    cr_assert_geq(before, 1u);
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&thread, NULL, wait_there, &barrier);
    pthread_barrier_wait(&barrier);
    cr_assert_eq(os_status_threads(), before + 1);
    pthread_barrier_wait(&barrier);
    pthread_join(thread, NULL);
}

static bool agree(const char *text, const char *other) {
    char first[sizeof path];
    write_status(text);
    strcpy(first, path);
    write_status(other);
    bool same = os_status_credentials_agree(first, path);
    unlink(first);
    unlink(path);
    return same;
}

Test(status, credentials_are_compared) {
    static const char root[] =
        "Name:\ta\nUid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\nGroups:\t0 4 \nCapEff:\tff\n";
    cr_assert(agree(root, root));
    cr_assert(
        agree(root, "Name:\tb\nUid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\nGroups:\t0 4 \nCapEff:\tff\n"));
    cr_assert_not(
        agree(root, "Name:\ta\nUid:\t0\t9\t9\t9\nGid:\t0\t0\t0\t0\nGroups:\t0 4 \nCapEff:\tff\n"));
    cr_assert_not(
        agree(root, "Name:\ta\nUid:\t0\t0\t0\t0\nGid:\t0\t0\t5\t0\nGroups:\t0 4 \nCapEff:\tff\n"));
    cr_assert_not(
        agree(root, "Name:\ta\nUid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\nGroups:\t0 \nCapEff:\tff\n"));
    cr_assert_not(
        agree(root, "Name:\ta\nUid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\nGroups:\t0 4 \nCapEff:\t0\n"));
    cr_assert(agree(root, "Name:\ta\n")); /* nothing to compare */
    cr_assert(os_status_credentials_agree("/nowhere/status", "/nowhere/status"));
    cr_assert(os_status_has_process_credentials());
}
