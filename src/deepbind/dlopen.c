/* dlopen, to know of RTLD_DEEPBIND in time. It ends in a jump to libc's, which so finds its caller's return address: the
   loader looks for the library where the caller's own headers say. */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "compiler.h"
#include "deepbind.h"

typedef void *(*dlopen_function)(const char *file, int mode);

static _Atomic(dlopen_function) dlopen_next;

static noinline_cold void dlopen_prepare(int mode) {
    union {
        void *object;
        dlopen_function function;
    } next = {.object = dlsym(RTLD_NEXT, "dlopen")};
    if (next.object == NULL)
        abort(); /* no libc has none */
    atomic_store_explicit(&dlopen_next, next.function, memory_order_relaxed);
    if ((mode & RTLD_DEEPBIND) != 0)
        deepbind_prepare();
}

#if defined(__clang__)
#define jump_to __attribute__((__musttail__)) return
#define jumps
#else
#define jump_to return
#define jumps   __attribute__((__optimize__("O2")))
#endif

__attribute__((__visibility__("default"))) jumps void *dlopen(const char *file, int mode) {
    if (unlikely((mode & RTLD_DEEPBIND) != 0) ||
        unlikely(atomic_load_explicit(&dlopen_next, memory_order_relaxed) == NULL))
        dlopen_prepare(mode);
    jump_to atomic_load_explicit(&dlopen_next, memory_order_relaxed)(file, mode);
}
