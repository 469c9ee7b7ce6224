/* The end of the process, in one line of text and one signal. Uses nothing of libc that could take a
   lock or allocate. No state. */
#include "os_assert.h"

#include <signal.h>

#include "fmt.h"
#include "os_log.h"
#include "os_syscall.h"
#include "os_thread.h"

enum {
    PANIC_LINE_BYTES = 512,
    PANIC_EXIT_STATUS = 128 + SIGABRT,
    PANIC_SIGSET_BYTES = 8,
};

static void os_abort_raise(void) {
    long pid = os_syscall0(SYS_getpid);
    os_syscall3(SYS_tgkill, pid, os_thread_id(), SIGABRT);
}

void os_abort(void) {
    uint64_t abort_only = 1ULL << (SIGABRT - 1);
    os_syscall4(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&abort_only, 0, PANIC_SIGSET_BYTES);
    os_abort_raise();
    /* A handler returned, or the signal is ignored: once more with the default action. All zeroes is
       SIG_DFL with no flags in every machine's layout of the kernel's sigaction. */
    uint64_t default_action[4] = {0};
    os_syscall4(SYS_rt_sigaction, SIGABRT, (long)default_action, 0, PANIC_SIGSET_BYTES);
    os_abort_raise();
    os_exit(PANIC_EXIT_STATUS);
}

void os_exit(int status) {
    os_syscall1(SYS_exit_group, status);
    __builtin_trap();
}

void os_panic(const char *message, const char *file, unsigned line) {
    char text[PANIC_LINE_BYTES];
    struct fmt f = fmt_start(text, sizeof text - 1);
    fmt_str(&f, "fallow: ");
    fmt_str(&f, file);
    fmt_char(&f, ':');
    fmt_u64(&f, line);
    fmt_str(&f, ": ");
    fmt_str(&f, message);
    f.cap = sizeof text; /* the byte kept back for the newline */
    fmt_char(&f, '\n');
    os_log(f.buf, f.len);
    os_abort();
}
