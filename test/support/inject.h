/*
 * Answers Fallow's own system calls in the kernel's place (debug builds ask: src/os/os_inject.h). One
 * kind of call is refused: the one with a given number, counted from when it was armed, or all from that
 * number on. What libc calls for itself goes to the kernel as ever. Include it in one file of a program.
 */
#ifndef FALLOW_TEST_INJECT_H
#define FALLOW_TEST_INJECT_H

#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>

#include "check.h"

struct inject_kind {
    const char *name;
    long number;
    int error;
    bool gives_null; /* an allocation may fail for it */
    long operation;  /* its second argument, if that matters; or 0 */
    struct { /* another call that is refused as well, so that this one is made; or nothing */
        int error;
        long number;
        size_t from; /* from this one on */
    } also;
};

/* Every call by which src/os asks for something that it may be refused. No errno makes a difference to
   Fallow but those here. A wake that is refused is a thread that sleeps for ever: the kernel refuses none
   (FUTEX_WAKE of an address that is there), and a sandbox that does ends every program. */
static const struct inject_kind inject_kinds[] = {
    {"mmap", SYS_mmap, ENOMEM, true, 0, {0}},
    {"munmap", SYS_munmap, ENOMEM, false, 0, {0}},
    {"munmap-of-the-free", SYS_munmap, ENOMEM, true, 0, {ENOMEM, SYS_mmap, 9}},
    {"mremap", SYS_mremap, EFAULT, false, 0, {0}},
    {"madvise", SYS_madvise, EINVAL, false, 0, {0}},
    {"process_madvise", SYS_process_madvise, EPERM, false, 0, {0}},
    {"pidfd_open", SYS_pidfd_open, EMFILE, false, 0, {EBADF, SYS_process_madvise, 1}},
    {"openat", SYS_openat, EMFILE, false, 0, {0}},
    {"read", SYS_read, EIO, false, 0, {0}},
    {"pread64", SYS_pread64, EIO, false, 0, {ENOTTY, SYS_ioctl, 1}},
    {"ioctl", SYS_ioctl, ENOTTY, false, 0, {0}},
    {"sched_getaffinity", SYS_sched_getaffinity, EPERM, false, 0, {0}},
    {"membarrier", SYS_membarrier, ENOSYS, false, 0, {0}},
    {"process_vm_readv", SYS_process_vm_readv, EPERM, false, 0, {0}},
    {"clone", SYS_clone, EAGAIN, false, 0, {0}},
    {"prctl", SYS_prctl, EPERM, false, 0, {0}},
    {"rt_sigprocmask", SYS_rt_sigprocmask, EPERM, false, 0, {0}},
    {"tgkill", SYS_tgkill, EPERM, false, 0, {0}},
    {"futex-wait", SYS_futex, EPERM, false, FUTEX_WAIT_PRIVATE, {0}},
    {"sched_yield", SYS_sched_yield, EPERM, false, 0, {0}},
    {"nanosleep", SYS_nanosleep, EPERM, false, 0, {0}},
};

enum { INJECT_KINDS = sizeof inject_kinds / sizeof *inject_kinds };

static struct {
    const struct inject_kind *_Atomic kind; /* NULL: nothing is looked at */
    _Atomic size_t seen, seen_also;         /* calls of the kind since it was armed */
    _Atomic size_t refused;
    size_t first, last; /* which of them are refused, from 1 on; constant while armed */
} inject;

/* From now on. `first` of SIZE_MAX: counts, and refuses none. */
static inline void inject_arm(const struct inject_kind *kind, size_t first, size_t last) {
    inject.first = first;
    inject.last = last;
    inject.seen = inject.seen_also = inject.refused = 0;
    inject.kind = kind;
}

static inline void inject_disarm(void) {
    inject.kind = NULL;
}

static inline const struct inject_kind *inject_find(const char *name) {
    for (size_t i = 0; i < INJECT_KINDS; i++)
        if (strcmp(inject_kinds[i].name, name) == 0)
            return &inject_kinds[i];
    return NULL;
}

/* INJECT_VARIABLE=KIND in the environment: all calls of that kind, from the first that the process makes,
   before main and before any constructor. Not by getenv, which may not be ready yet. */
#define INJECT_VARIABLE "FALLOW_TEST_REFUSED"

static inline void inject_arm_from_environment(void) {
    static atomic_bool asked;
    if (environ == NULL || asked)
        return;
    asked = true;
    size_t length = strlen(INJECT_VARIABLE);
    for (char **entry = environ; *entry != NULL; entry++)
        if (strncmp(*entry, INJECT_VARIABLE, length) == 0 && (*entry)[length] == '=')
            inject_arm(inject_find(*entry + length + 1), 1, SIZE_MAX);
}

bool fallow_test_call(long number, const long arguments[6], long *result);

bool fallow_test_call(long number, const long arguments[6], long *result) {
    inject_arm_from_environment();
    const struct inject_kind *kind = inject.kind;
    if (kind == NULL)
        return false;
    if (kind->also.error != 0 && number == kind->also.number &&
        ++inject.seen_also >= kind->also.from) {
        *result = -kind->also.error;
        return true;
    }
    if (number != kind->number || (kind->operation != 0 && arguments[1] != kind->operation))
        return false;
    size_t n = ++inject.seen;
    if (n < inject.first || n > inject.last)
        return false;
    inject.refused++;
    *result = -kind->error;
    return true;
}

#endif
