/* dlopen and dlmopen, to know of RTLD_DEEPBIND in time. They end in a jump to libc's, which so find their caller's return address: the
   loader looks for the library where the caller's own headers say. */
#include <dlfcn.h>
#include <stdatomic.h>

#include "compiler.h"
#include "deepbind.h"

typedef void *(*dlopen_function)(const char *file, int mode);
typedef void *(*dlmopen_function)(Lmid_t space, const char *file, int mode);

static _Atomic(dlopen_function) dlopen_next;
static _Atomic(dlmopen_function) dlmopen_next;

static noinline_cold void dlopen_prepare(int mode) {
    union {
        void *object;
        dlopen_function open;
        dlmopen_function open_in;
    } next;
    next.object = dlsym(RTLD_NEXT, "dlopen");
    atomic_store_explicit(&dlopen_next, next.open, memory_order_relaxed);
    next.object = dlsym(RTLD_NEXT, "dlmopen");
    atomic_store_explicit(&dlmopen_next, next.open_in, memory_order_relaxed);
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

#define PUBLIC __attribute__((__visibility__("default")))

PUBLIC jumps void *dlopen(const char *file, int mode) {
    if (unlikely((mode & RTLD_DEEPBIND) != 0) ||
        unlikely(atomic_load_explicit(&dlopen_next, memory_order_relaxed) == NULL))
        dlopen_prepare(mode);
    jump_to atomic_load_explicit(&dlopen_next, memory_order_relaxed)(file, mode);
}

/* In a new namespace there is another libc: nothing changes that here. */
PUBLIC jumps void *dlmopen(Lmid_t nsid, const char *file, int mode) {
    if (unlikely((mode & RTLD_DEEPBIND) != 0) ||
        unlikely(atomic_load_explicit(&dlmopen_next, memory_order_relaxed) == NULL))
        dlopen_prepare(mode);
    jump_to atomic_load_explicit(&dlmopen_next, memory_order_relaxed)(nsid, file, mode);
}
