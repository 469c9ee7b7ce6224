/* The C library's allocation functions, by the names programs call. */
#include <errno.h>

#include "alloc.h"

#define PUBLIC __attribute__((__visibility__("default")))

/* Not folded into a jump to the function that is the same. */
#if defined(__has_attribute) && __has_attribute(__no_icf__)
#define own_code __attribute__((__no_icf__))
#else
#define own_code
#endif

/* An alias says no less of itself than what it is an alias of. */
#if defined(__has_attribute) && __has_attribute(__copy__)
#define own_alias(name) __attribute__((__alias__(#name), __visibility__("hidden"), __copy__(name)))
#else
#define own_alias(name) __attribute__((__alias__(#name), __visibility__("hidden")))
#endif

PUBLIC void own_code *malloc(size_t size);
PUBLIC void *calloc(size_t count, size_t size);
PUBLIC void *realloc(void *p, size_t size);
PUBLIC void *reallocarray(void *p, size_t count, size_t size);
PUBLIC void *aligned_alloc(size_t alignment, size_t size);
PUBLIC int posix_memalign(void **out, size_t alignment, size_t size);
PUBLIC void *memalign(size_t alignment, size_t size);
PUBLIC void *valloc(size_t size);
PUBLIC void *pvalloc(size_t size);
PUBLIC void own_code free(void *p);
PUBLIC void free_sized(void *p, size_t size);
PUBLIC void free_aligned_sized(void *p, size_t alignment, size_t size);
PUBLIC size_t malloc_usable_size(void *p);

/* This library's malloc, whichever the process uses. */
extern void *libc_own_malloc(size_t size) own_alias(malloc);

/* Calls of functions that valgrind puts its own in the place of, for those of which it has none: the compiler shall not
   put the code there instead. */
static void *libc_call_realloc(void *p, size_t size) {
    void *(*function)(void *, size_t) = realloc;
    __asm__("" : "+r"(function));
    return function(p, size);
}

static void libc_call_free(void *p) {
    void (*function)(void *) = free;
    __asm__("" : "+r"(function));
    function(p);
}

void *malloc(size_t size) {
    return alloc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    return alloc_calloc(count, size);
}

void *realloc(void *p, size_t size) {
    return alloc_realloc(p, size);
}

void *reallocarray(void *p, size_t count, size_t size) {
    size_t total;
    if (__builtin_mul_overflow(count, size, &total)) {
        errno = ENOMEM;
        return NULL;
    }
    return libc_call_realloc(p, total);
}

void *aligned_alloc(size_t alignment, size_t size) {
    return alloc_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size) {
    return alloc_posix_memalign(out, alignment, size);
}

void *memalign(size_t alignment, size_t size) {
    return alloc_memalign(alignment, size);
}

void *valloc(size_t size) {
    return alloc_valloc(size);
}

void *pvalloc(size_t size) {
    return alloc_pvalloc(size);
}

void free(void *p) {
    alloc_free(p);
}

void free_sized(void *p, size_t size) {
    (void)size;
    libc_call_free(p);
}

void free_aligned_sized(void *p, size_t alignment, size_t size) {
    (void)alignment, (void)size;
    libc_call_free(p);
}

size_t malloc_usable_size(void *p) {
    return alloc_usable_size(p);
}
