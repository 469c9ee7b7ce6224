/* The instruction that enters the kernel, for the three machines this runs on. A result in
   [-4095, -1] is a negated errno. Raw, and not through libc, for two reasons: the caller's errno is
   left alone, and nobody's wrapper around mmap or madvise runs (and allocates) underneath us. */
#pragma once

#include <sys/syscall.h>

#include "compiler.h"
#include "os_inject.h"

static always_inline bool os_syscall_failed(long result) {
    return (unsigned long)result > -4096UL;
}

#if defined(__x86_64__)

static always_inline long os_syscall_enter(long number, long a, long b, long c, long d, long e,
                                           long f) {
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

#elif defined(__aarch64__)

static always_inline long os_syscall_enter(long number, long a, long b, long c, long d, long e,
                                           long f) {
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc #0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return x0;
}

#elif defined(__riscv) && __riscv_xlen == 64

static always_inline long os_syscall_enter(long number, long a, long b, long c, long d, long e,
                                           long f) {
    register long a7 __asm__("a7") = number;
    register long a0 __asm__("a0") = a;
    register long a1 __asm__("a1") = b;
    register long a2 __asm__("a2") = c;
    register long a3 __asm__("a3") = d;
    register long a4 __asm__("a4") = e;
    register long a5 __asm__("a5") = f;
    __asm__ volatile("ecall"
                     : "+r"(a0)
                     : "r"(a7), "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5)
                     : "memory");
    return a0;
}

#else
#error "no system call instruction known for this machine"
#endif

static always_inline long os_syscall6(long number, long a, long b, long c, long d, long e, long f) {
    const long arguments[6] = {a, b, c, d, e, f};
    long result;
    if (os_inject(number, arguments, &result))
        return result;
    return os_syscall_enter(number, a, b, c, d, e, f);
}

static always_inline long os_syscall0(long number) {
    return os_syscall6(number, 0, 0, 0, 0, 0, 0);
}

static always_inline long os_syscall1(long number, long a) {
    return os_syscall6(number, a, 0, 0, 0, 0, 0);
}

static always_inline long os_syscall2(long number, long a, long b) {
    return os_syscall6(number, a, b, 0, 0, 0, 0);
}

static always_inline long os_syscall3(long number, long a, long b, long c) {
    return os_syscall6(number, a, b, c, 0, 0, 0);
}

static always_inline long os_syscall4(long number, long a, long b, long c, long d) {
    return os_syscall6(number, a, b, c, d, 0, 0);
}

static always_inline long os_syscall5(long number, long a, long b, long c, long d, long e) {
    return os_syscall6(number, a, b, c, d, e, 0);
}
