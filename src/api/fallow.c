/* The native interface's allocation functions, by name; see fallow/fallow.h. */
#include <fallow/fallow.h>

#include "alloc.h"

#define PUBLIC __attribute__((__visibility__("default")))

PUBLIC void *fallow_malloc(size_t size) {
    return alloc_malloc(size);
}

PUBLIC void *fallow_calloc(size_t count, size_t size) {
    return alloc_calloc(count, size);
}

PUBLIC void *fallow_realloc(void *p, size_t size) {
    return alloc_realloc(p, size);
}

PUBLIC void *fallow_reallocarray(void *p, size_t count, size_t size) {
    return alloc_reallocarray(p, count, size);
}

PUBLIC void *fallow_aligned_alloc(size_t alignment, size_t size) {
    return alloc_memalign(alignment, size);
}

PUBLIC int fallow_posix_memalign(void **out, size_t alignment, size_t size) {
    return alloc_posix_memalign(out, alignment, size);
}

PUBLIC void *fallow_memalign(size_t alignment, size_t size) {
    return alloc_memalign(alignment, size);
}

PUBLIC void *fallow_valloc(size_t size) {
    return alloc_valloc(size);
}

PUBLIC void *fallow_pvalloc(size_t size) {
    return alloc_pvalloc(size);
}

PUBLIC void fallow_free(void *p) {
    alloc_free(p);
}

PUBLIC void fallow_free_sized(void *p, size_t size) {
    (void)size;
    alloc_free(p);
}

PUBLIC void fallow_free_aligned_sized(void *p, size_t alignment, size_t size) {
    (void)alignment, (void)size;
    alloc_free(p);
}

PUBLIC size_t fallow_usable_size(const void *p) {
    return alloc_usable_size(p);
}
