/*
 * A seccomp filter that refuses one kind of system call, from before the first allocation that is the
 * program's own, or from the middle of its life: the same work (support/work.h) as in refused_calls.c,
 * but the kernel itself refuses, whoever asks, and no debug build is needed. Mappings are refused as
 * malloc asks for them: private, anonymous, readable and writable, no stacks.
 */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "work.h"

enum { SECONDS = 60 };

struct refusal {
    long number;
    int error;
    unsigned flags; /* the fourth argument, if that matters; or 0 */
    bool gives_null;
};

static const struct refusal refusals[] = {
    {SYS_mmap, ENOMEM, MAP_PRIVATE | MAP_ANONYMOUS, true},
    {SYS_munmap, ENOMEM, 0, false},
    {SYS_mremap, ENOMEM, 0, false},
    {SYS_madvise, EINVAL, 0, false},
    {SYS_process_madvise, EPERM, 0, false},
    {SYS_openat, EACCES, 0, false},
    {SYS_read, EPERM, 0, false},
    {SYS_sched_getaffinity, EPERM, 0, false},
    {SYS_membarrier, ENOSYS, 0, false},
    {SYS_prctl, EPERM, 0, false},
};

static void install(const struct refusal *refusal) {
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)refusal->number, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[3])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, refusal->flags, 0, refusal->flags != 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)refusal->error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {.len = sizeof program / sizeof *program, .filter = program};
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0);
}

static void refuse(const struct refusal *refusal, bool from_the_start) {
    static struct work work;
    alarm(SECONDS);
    if (!from_the_start)
        work_alone(&work);
    install(refusal);
    work.may_fail = refusal->gives_null;
    work_alone(&work);
    work_threads(&work);
    work_fork(&work);
    work_drop_all(&work);
    if (refusal->gives_null) { /* what was mapped before will do for the same work, not for more */
        CHECK(malloc((size_t)64 << 20) == NULL && errno == ENOMEM);
        CHECK_THAT(work.failed > 0 || !from_the_start, "no allocation failed");
    }
}

int main(void) {
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        for (int from_the_start = 0; from_the_start < 2; from_the_start++) {
            pid_t child = fork();
            CHECK(child >= 0);
            if (child == 0) {
                refuse(&refusals[i], from_the_start != 0);
                _exit(0);
            }
            int status = 0;
            CHECK(waitpid(child, &status, 0) == child);
            CHECK_THAT(status == 0, "call %ld refused%s: status 0x%x", refusals[i].number,
                       from_the_start ? " from the start" : "", (unsigned)status);
        }
    }
    return 0;
}
