/* What else glibc lets a replacement of its malloc define: statistics and options, and the second names of its
   functions. Were one of them left to glibc, it would answer for a heap of its own, or begin one. */
#include <fallow/fallow.h>

#include "alloc.h"
#include "mallinfo.h"
#include "report.h"

#define PUBLIC __attribute__((__visibility__("default")))

/* Its header's name for the flags is taken here. */
PUBLIC int glibc_malloc_info(int flags, FILE *stream) __asm__("malloc_info");

/* Not in any header. */
PUBLIC void cfree(void *p);
PUBLIC void *__libc_malloc(size_t size);
PUBLIC void *__libc_calloc(size_t count, size_t size);
PUBLIC void *__libc_realloc(void *p, size_t size);
PUBLIC void *__libc_reallocarray(void *p, size_t count, size_t size);
PUBLIC void *__libc_memalign(size_t alignment, size_t size);
PUBLIC void *__libc_valloc(size_t size);
PUBLIC void *__libc_pvalloc(size_t size);
PUBLIC int __posix_memalign(void **out, size_t alignment, size_t size);
PUBLIC void __libc_free(void *p);
PUBLIC struct mallinfo __libc_mallinfo(void);
PUBLIC int __libc_mallopt(int parameter, int value);

PUBLIC struct mallinfo2 mallinfo2(void) {
    return mallinfo_read();
}

PUBLIC struct mallinfo mallinfo(void) {
    return mallinfo_read_int();
}

PUBLIC int mallopt(int param, int val) {
    return mallinfo_set_option(param, val);
}

/* `pad` bytes may stay, glibc says: none do. 1 if memory was given back. */
PUBLIC int malloc_trim(size_t pad) {
    (void)pad;
    return fallow_purge(FALLOW_PURGE_CLEAN) > 0;
}

PUBLIC void malloc_stats(void) {
    report_print();
}

int glibc_malloc_info(int flags, FILE *stream) {
    return mallinfo_write(flags, stream);
}

void cfree(void *p) {
    alloc_free(p);
}

void *__libc_malloc(size_t size) {
    return alloc_malloc(size);
}

void *__libc_calloc(size_t count, size_t size) {
    return alloc_calloc(count, size);
}

void *__libc_realloc(void *p, size_t size) {
    return alloc_realloc(p, size);
}

void *__libc_reallocarray(void *p, size_t count, size_t size) {
    return alloc_reallocarray(p, count, size);
}

void *__libc_memalign(size_t alignment, size_t size) {
    return alloc_memalign(alignment, size);
}

void *__libc_valloc(size_t size) {
    return alloc_valloc(size);
}

void *__libc_pvalloc(size_t size) {
    return alloc_pvalloc(size);
}

int __posix_memalign(void **out, size_t alignment, size_t size) {
    return alloc_posix_memalign(out, alignment, size);
}

void __libc_free(void *p) {
    alloc_free(p);
}

struct mallinfo __libc_mallinfo(void) {
    return mallinfo_read_int();
}

int __libc_mallopt(int parameter, int value) {
    return mallinfo_set_option(parameter, value);
}
