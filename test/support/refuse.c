/*
 * refuse WAY COMMAND [ARGUMENT...]: runs the command under a seccomp filter that refuses madvise, and
 * process_madvise with it, in one of the ways that sandboxes and old kernels do:
 *   enosys  every advice, with ENOSYS (a filter that does not know the call)
 *   eperm   every advice, with EPERM  (a filter that forbids it)
 *   einval  every advice, with EINVAL
 *   nofree  MADV_FREE alone, with EINVAL (Linux before 4.5); process_madvise with ENOSYS, as it was
 *   novec   process_madvise alone, with ENOSYS (Linux before 5.10)
 *   lies    says yes to every advice and does nothing, as qemu-user has; process_madvise with ENOSYS
 *   none    nothing: the filter is there and lets all pass
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "check.h"

#define ALL_ADVICE 0xffffffffu
#define LIE        (-1)

struct way {
    const char *name;
    unsigned advice;   /* which advice of madvise is refused; 0: none */
    int madvise_error; /* or LIE */
    int vector_error;  /* of process_madvise; 0: let it pass */
};

static const struct way ways[] = {
    {"enosys", ALL_ADVICE, ENOSYS, ENOSYS},
    {"eperm", ALL_ADVICE, EPERM, EPERM},
    {"einval", ALL_ADVICE, EINVAL, EINVAL},
    {"nofree", MADV_FREE, EINVAL, ENOSYS},
    {"novec", 0, 0, ENOSYS},
    {"lies", ALL_ADVICE, LIE, ENOSYS},
    {"none", 0, 0, 0},
};

static struct sock_filter load(unsigned offset) {
    struct sock_filter statement = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset);
    return statement;
}

/* Goes on when equal, and jumps over `otherwise` statements when not. */
static struct sock_filter when_equal(unsigned value, unsigned char otherwise) {
    struct sock_filter statement = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, otherwise);
    return statement;
}

static struct sock_filter answer(unsigned value) {
    struct sock_filter statement = BPF_STMT(BPF_RET | BPF_K, value);
    return statement;
}

static unsigned refusal(int error) {
    if (error == LIE) {
        return SECCOMP_RET_ERRNO; /* with the error 0: the call is not made, and succeeds */
    }
    return error ? SECCOMP_RET_ERRNO | (unsigned)error : SECCOMP_RET_ALLOW;
}

static void install(const struct way *way) {
    struct sock_filter program[16];
    unsigned short count = 0;
    program[count++] = load(offsetof(struct seccomp_data, nr));
    program[count++] = when_equal(SYS_process_madvise, 1);
    program[count++] = answer(refusal(way->vector_error));
    if (way->advice == ALL_ADVICE) {
        program[count++] = when_equal(SYS_madvise, 1);
        program[count++] = answer(refusal(way->madvise_error));
    } else if (way->advice) {
        program[count++] = when_equal(SYS_madvise, 3);
        program[count++] = load(offsetof(struct seccomp_data, args[2])); /* its low half */
        program[count++] = when_equal(way->advice, 1);
        program[count++] = answer(refusal(way->madvise_error));
    }
    program[count++] = answer(SECCOMP_RET_ALLOW);
    struct sock_fprog filter = {.len = count, .filter = program};
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0);
}

int main(int count, char **arguments) {
    CHECK_THAT(count >= 3, "usage: refuse enosys|eperm|einval|nofree|novec|lies|none command...");
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (strcmp(ways[i].name, arguments[1]) == 0) {
            install(&ways[i]);
            execvp(arguments[2], arguments + 2);
            CHECK_THAT(0, "cannot run %s: %s", arguments[2], strerror(errno));
        }
    }
    CHECK_THAT(0, "no such way: %s", arguments[1]);
}
