/*
 * A shared object that stands before everything in LD_PRELOAD and has the functions of libc that an allocator is likely
 * to call, as tracers, faketime and sanitizers do: each of them allocates, large and small, before it does what it is
 * for, and fails the process if it is called from within itself. An allocator that calls them never comes to an end.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static _Thread_local int within;

static void work(const char *name) {
    if (within) {
        static const char said[] = "failed: an allocator calls what allocates: ";
        (void)!write(2, said, sizeof said - 1);
        (void)!write(2, name, strlen(name));
        (void)!write(2, "\n", 1);
        _exit(9);
    }
    within = 1;
    for (size_t size = 10; size < 20 << 20; size *= 7) {
        char *p = malloc(size);
        if (p)
            p[size - 1] = 1;
        free(p);
    }
    within = 0;
}

static void *next(const char *name) {
    static void *(*next_dlsym)(void *, const char *);
    if (!next_dlsym) {
        void *symbol = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
        symbol = symbol ? symbol : dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
        memcpy(&next_dlsym, &symbol, sizeof symbol);
    }
    return next_dlsym(RTLD_NEXT, name);
}

int clock_gettime(clockid_t clock_id, struct timespec *tp) {
    work("clock_gettime");
    return (int)syscall(SYS_clock_gettime, clock_id, tp);
}

void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset) {
    work("mmap");
    return (void *)syscall(SYS_mmap, addr, len, prot, flags, fd, offset);
}

int munmap(void *addr, size_t len) {
    work("munmap");
    return (int)syscall(SYS_munmap, addr, len);
}

int madvise(void *addr, size_t len, int advice) {
    work("madvise");
    return (int)syscall(SYS_madvise, addr, len, advice);
}

int open(const char *file, int oflag, ...) {
    va_list rest;
    va_start(rest, oflag);
    int mode = oflag & O_CREAT ? va_arg(rest, int) : 0;
    va_end(rest);
    work("open");
    return (int)syscall(SYS_openat, AT_FDCWD, file, oflag, mode);
}

ssize_t read(int fd, void *buf, size_t nbytes) {
    work("read");
    return syscall(SYS_read, fd, buf, nbytes);
}

int sched_yield(void) {
    work("sched_yield");
    return (int)syscall(SYS_sched_yield);
}

long sysconf(int name) {
    static long (*next_sysconf)(int);
    work("sysconf");
    if (!next_sysconf) {
        void *symbol = next("sysconf");
        memcpy(&next_sysconf, &symbol, sizeof symbol);
    }
    return next_sysconf(name);
}

char *getenv(const char *name) {
    static char *(*next_getenv)(const char *);
    work("getenv");
    if (!next_getenv) {
        void *symbol = next("getenv");
        memcpy(&next_getenv, &symbol, sizeof symbol);
    }
    return next_getenv(name);
}

int pthread_create(pthread_t *newthread, const pthread_attr_t *attr, void *(*start_routine)(void *),
                   void *arg) {
    static int (*next_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    work("pthread_create");
    if (!next_create) {
        void *symbol = next("pthread_create");
        memcpy(&next_create, &symbol, sizeof symbol);
    }
    return next_create(newthread, attr, start_routine, arg);
}

void *dlsym(void *handle, const char *name) {
    static void *(*next_dlsym)(void *, const char *);
    work("dlsym");
    if (!next_dlsym) {
        void *symbol = next("dlsym");
        memcpy(&next_dlsym, &symbol, sizeof symbol);
    }
    return next_dlsym(handle, name);
}
