/* The only file that maps, unmaps or moves address space. Owns one hint, relaxed, that moves do not work here; takes
   no lock: the kernel serialises. Every result is exactly the range asked for: what is mapped beyond it to get the
   alignment is unmapped before returning. Advice on mapped ranges is os_advise's. */
#include "os_map.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <time.h>

#include "os_page.h"
#include "os_syscall.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif
#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

/* Without MAP_NORESERVE, heuristic overcommit refuses a request for more than all the memory there is,
   which a caller of malloc can handle, instead of granting address space for it. */
enum {
    OS_MAP_PROTECTION = PROT_READ | PROT_WRITE,
    OS_MAP_FLAGS = MAP_PRIVATE | MAP_ANONYMOUS,
};

#if FALLOW_TSAN

/* ThreadSanitizer must see where address space changes hands: it wraps libc's functions. */
static void *os_map_at(void *hint, size_t bytes, int extra_flags) {
    const long arguments[6] = {
        (long)hint, (long)bytes, OS_MAP_PROTECTION, OS_MAP_FLAGS | extra_flags, -1, 0};
    long injected;
    if (os_inject(SYS_mmap, arguments, &injected))
        return os_syscall_failed(injected) ? NULL : (void *)injected;
    int saved_errno = errno;
    void *result = mmap(hint, bytes, OS_MAP_PROTECTION, OS_MAP_FLAGS | extra_flags, -1, 0);
    errno = saved_errno;
    return result == MAP_FAILED ? NULL : result;
}

bool os_unmap(void *addr, size_t bytes) {
    const long arguments[6] = {(long)addr, (long)bytes};
    long injected;
    if (os_inject(SYS_munmap, arguments, &injected))
        return !os_syscall_failed(injected);
    int saved_errno = errno;
    bool ok = munmap(addr, bytes) == 0;
    errno = saved_errno;
    return ok;
}

#else

static void *os_map_at(void *hint, size_t bytes, int extra_flags) {
    long result = os_syscall6(SYS_mmap, (long)hint, (long)bytes, OS_MAP_PROTECTION,
                              OS_MAP_FLAGS | extra_flags, -1, 0);
    return os_syscall_failed(result) ? NULL : (void *)result;
}

bool os_unmap(void *addr, size_t bytes) {
    return !os_syscall_failed(os_syscall2(SYS_munmap, (long)addr, (long)bytes));
}

#endif

bool os_map_protect(void *addr, size_t bytes, bool writable) {
    long protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
    return !os_syscall_failed(os_syscall3(SYS_mprotect, (long)addr, (long)bytes, protection));
}

void *os_map(size_t bytes, void *hint) {
    return os_map_at(hint, bytes, 0);
}

static void os_unmap_gap(char *from, char *to) {
    if (from < to)
        os_unmap(from, (size_t)(to - from));
}

/* Address space is handed out downwards, so what lies below a fresh mapping is usually free: lengthen
   it down to the boundary and cut the surplus off its end. Three calls in all, and no more address
   space than the result needs, which counts under RLIMIT_AS. */
static char *os_map_lengthen_down(char *got, size_t bytes, size_t align) {
    char *start = (char *)align_down((size_t)got, align);
    size_t missing = (size_t)(got - start);
    char *below = os_map(missing, start);
    if (below == NULL) /* start may be NULL too, with an alignment above the address space */
        return NULL;
    if (below == start) {
        os_unmap(start + bytes, missing);
        return start;
    }
    os_unmap(below, missing);
    return NULL;
}

static char *os_map_and_trim(size_t bytes, size_t align) {
    size_t over_bytes;
    if (__builtin_add_overflow(bytes, align - os_page_kernel_size(), &over_bytes))
        return NULL;
    char *got = os_map(over_bytes, NULL);
    if (got == NULL)
        return NULL;
    char *start = (char *)align_up((size_t)got, align);
    os_unmap_gap(got, start);
    os_unmap_gap(start + bytes, got + over_bytes);
    return start;
}

void *os_map_aligned(size_t bytes, size_t align, void *hint) {
    char *got = os_map(bytes, hint);
    if (got == NULL || is_aligned((size_t)got, align))
        return got;
    char *start = os_map_lengthen_down(got, bytes, align);
    if (start != NULL)
        return start;
    os_unmap(got, bytes);
    return os_map_and_trim(bytes, align);
}

bool os_map_fixed_noreplace(void *addr, size_t bytes) {
    /* 4.17 brought the flag; before, it is ignored and the address is a mere hint, hence the look. */
    void *got = os_map_at(addr, bytes, MAP_FIXED_NOREPLACE);
    if (got == addr)
        return true;
    if (got != NULL)
        os_unmap(got, bytes);
    return false;
}

/* qemu-user (7.2) moves, and takes the source for unmapped from then on: its instructions that ask first, and
   system calls, fault there. So the first time one is made that writes to it. */
static bool os_source_is_mapped(void *from) {
    volatile struct timespec *now = from;
    os_syscall2(SYS_clock_gettime, CLOCK_MONOTONIC, (long)from);
    bool mapped = (now->tv_sec | now->tv_nsec) != 0;
    now->tv_sec = now->tv_nsec = 0;
    return mapped;
}

bool os_remap_move(void *from, void *to, size_t bytes) {
    static atomic_bool known, useless;
    long flags = MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP;
    if (atomic_load_explicit(&useless, memory_order_relaxed))
        return false;
    if (!os_syscall_failed(
            os_syscall5(SYS_mremap, (long)from, (long)bytes, (long)bytes, flags, (long)to))) {
        if (!atomic_load_explicit(&known, memory_order_relaxed) && !os_source_is_mapped(from)) {
            atomic_store_explicit(&useless, true, memory_order_relaxed);
            os_map_at(from, bytes, MAP_FIXED);
        }
        atomic_store_explicit(&known, true, memory_order_relaxed);
        return true;
    }
    /* MREMAP_FIXED unmaps the destination before it can still fail (ENOMEM, EFAULT). Map it again;
       if it never was unmapped this does nothing. */
    os_map_fixed_noreplace(to, bytes);
    return false;
}
