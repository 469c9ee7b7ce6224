/* clone(2) with the flags of a thread, as pthread_create gives them (sandboxes look at them), on a stack
   and with a thread pointer of its own, behind which initial-exec variables of this library, and the
   head of libc's descriptor, read as zero. */
#include "os_clone.h"

#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>

#include "os_syscall.h"
#include "os_thread.h"

static const unsigned long clone_flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SYSVSEM |
                                         CLONE_SIGHAND | CLONE_THREAD | CLONE_SETTLS |
                                         CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;

enum { CLONE_SIGSET_BYTES = 8 }; /* of the kernel's set of signals */

#if defined(__x86_64__)

static char *clone_thread_pointer(void) {
    char *pointer;
    __asm__("mov %%fs:0, %0" : "=r"(pointer));
    return pointer;
}

static long clone_call(const char *stack_top, _Atomic int *thread_id, void *tls,
                       void (*body)(void)) {
    register long r10 __asm__("r10") = (long)thread_id;
    register long r8 __asm__("r8") = (long)tls;
    register long r9 __asm__("r9") = (long)body;
    long result;
    __asm__ volatile("syscall\n\t"
                     "test %%rax, %%rax\n\t"
                     "jnz 1f\n\t"
                     "xor %%ebp, %%ebp\n\t"
                     "call *%%r9\n\t"
                     "mov %[exit], %%eax\n\t"
                     "xor %%edi, %%edi\n\t"
                     "syscall\n\t"
                     "hlt\n"
                     "1:"
                     : "=a"(result)
                     : "0"((long)SYS_clone), "D"(clone_flags), "S"(stack_top), "d"(thread_id),
                       "r"(r10), "r"(r8), "r"(r9), [exit] "i"(SYS_exit)
                     : "rcx", "r11", "memory");
    return result;
}

#elif defined(__aarch64__)

static char *clone_thread_pointer(void) {
    return __builtin_thread_pointer();
}

static long clone_call(const char *stack_top, _Atomic int *thread_id, void *tls,
                       void (*body)(void)) {
    register long x8 __asm__("x8") = SYS_clone;
    register long x0 __asm__("x0") = (long)clone_flags;
    register long x1 __asm__("x1") = (long)stack_top;
    register long x2 __asm__("x2") = (long)thread_id;
    register long x3 __asm__("x3") = (long)tls;
    register long x4 __asm__("x4") = (long)thread_id;
    register long x10 __asm__("x10") = (long)body;
    __asm__ volatile("svc #0\n\t"
                     "cbnz x0, 1f\n\t"
                     "mov x29, xzr\n\t"
                     "blr x10\n\t"
                     "mov x8, %[exit]\n\t"
                     "mov x0, xzr\n\t"
                     "svc #0\n"
                     "1:"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x10), [exit] "i"(SYS_exit)
                     : "memory");
    return x0;
}

#elif defined(__riscv) && __riscv_xlen == 64

static char *clone_thread_pointer(void) {
    char *pointer;
    __asm__("mv %0, tp" : "=r"(pointer));
    return pointer;
}

static long clone_call(const char *stack_top, _Atomic int *thread_id, void *tls,
                       void (*body)(void)) {
    register long a7 __asm__("a7") = SYS_clone;
    register long a0 __asm__("a0") = (long)clone_flags;
    register long a1 __asm__("a1") = (long)stack_top;
    register long a2 __asm__("a2") = (long)thread_id;
    register long a3 __asm__("a3") = (long)tls;
    register long a4 __asm__("a4") = (long)thread_id;
    register long t1 __asm__("t1") = (long)body;
    __asm__ volatile("ecall\n\t"
                     "bnez a0, 1f\n\t"
                     "li s0, 0\n\t"
                     "jalr t1\n\t"
                     "li a7, %[exit]\n\t"
                     "li a0, 0\n\t"
                     "ecall\n"
                     "1:"
                     : "+r"(a0)
                     : "r"(a7), "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(t1), [exit] "i"(SYS_exit)
                     : "memory");
    return a0;
}

#else
#error "no clone known for this machine"
#endif

/* Blocks the signals of `mask`, or sets that mask; the old one in `old` if that is not NULL. */
static long clone_mask(int how, const uint64_t *mask, uint64_t *old) {
    return os_syscall4(SYS_rt_sigprocmask, how, (long)mask, (long)old, CLONE_SIGSET_BYTES);
}

bool os_thread_has_cloned;

long os_clone_start(struct os_clone *clone, void (*body)(void), const void *far) {
    if (FALLOW_TSAN)
        return -ENOSYS; /* it has to know of every thread */
    char *pointer = clone->tls + OS_CLONE_TLS_BYTES;
    ptrdiff_t distance = (const char *)far - clone_thread_pointer();
    if (distance < -OS_CLONE_TLS_BYTES || distance > OS_CLONE_TLS_BYTES - CACHE_LINE)
        return -ENOSPC;
    os_thread_has_cloned = true; /* before there can be anybody else */
    memset(clone->tls, 0, sizeof clone->tls);
    *(char **)(void *)pointer = pointer; /* x86-64: it points at itself */
    uint64_t all = UINT64_MAX, before = 0;
    const long arguments[6] = {(long)clone_flags};
    long result = clone_mask(SIG_BLOCK, &all, &before);
    if (os_syscall_failed(result))
        return result; /* a sandbox; and `before` is not known */
    if (!os_inject(SYS_clone, arguments, &result))
        result = clone_call(clone->stack + sizeof clone->stack, &clone->thread_id, pointer, body);
    clone_mask(SIG_SETMASK, &before, NULL);
    return result;
}

void os_clone_set_name(const char *name) {
    os_syscall5(SYS_prctl, PR_SET_NAME, (long)name, 0, 0, 0);
}
