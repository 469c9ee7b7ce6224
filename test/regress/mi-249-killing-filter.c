/*
 * mi#249, hm#80: a sandbox like that of ssh before it knows who calls: what is not on a short list of system calls kills
 * the process, and files cannot be opened. Allocating, purging by time and on request go on.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "pattern.h"
#include "threads.h"
#include "under_test.h"

static const unsigned allowed[] = {
    SYS_brk,
    SYS_clock_gettime,
    SYS_clock_nanosleep,
    SYS_close,
    SYS_exit,
    SYS_exit_group,
    SYS_futex,
    SYS_getpid,
    SYS_madvise,
    SYS_mmap,
    SYS_mprotect,
    SYS_mremap,
    SYS_munmap,
    SYS_nanosleep,
    SYS_read,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_write,
};

enum { ALLOWED = sizeof allowed / sizeof *allowed };

static void enter_sandbox(void) {
    struct sock_filter program[2 * ALLOWED + 4];
    unsigned short count = 0;
    program[count++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < ALLOWED; i++) {
        program[count++] =
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, allowed[i], 0, 1);
        program[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }
    program[count++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1);
    program[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES);
    program[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    struct sock_fprog filter = {.len = count, .filter = program};
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0);
}

static void one_round(size_t size, size_t count) {
    static void *blocks[4000];
    for (size_t i = 0; i < count; i++) {
        blocks[i] = i % 2 ? calloc(1, size) : realloc(malloc(size / 2 + 1), size);
        CHECK(blocks[i] != NULL);
        CHECK(i % 2 == 0 || pattern_not_zero_at(blocks[i], size) == size);
        pattern_fill(blocks[i], size, i);
    }
    for (size_t i = 0; i < count; i++) {
        CHECK(pattern_holds(blocks[i], size, i));
        if (i % 40 != 0) {
            free(blocks[i]);
        }
    }
    under_test_purge(size % 3 ? FALLOW_PURGE_LAZY : FALLOW_PURGE_CLEAN);
    for (size_t i = 0; i < count; i += 40) {
        free(blocks[i]);
    }
}

int main(void) {
    enter_sandbox();
    for (int i = 0; i < 4; i++) {
        one_round(24, 4000);
        one_round(1000, 4000);
        one_round(20000, 1000);
        one_round(400000, 200);
        one_round((size_t)5 << 20, 10);
        threads_sleep_ms(120); /* the next calls find something to purge */
    }
    under_test_check_law();
    return 0;
}
