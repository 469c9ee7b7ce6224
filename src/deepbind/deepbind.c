/* The loader finds a function at the image's base plus what its symbol says, modulo 2^64: so a symbol of libc's can say
   the address of a function elsewhere. One word is written, at once, for each name; who looks it up meanwhile gets one
   or the other. The page is writable as long as that takes, and private to the process. */
#include "deepbind.h"

#include <link.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "os_image.h"
#include "os_map.h"
#include "os_page.h"
#include "os_thread.h"

extern void *libc_own_malloc(size_t size);

/* What Fallow has of libc's names; a pointer to any function is as good as to another. */
typedef void (*deepbind_function)(void);
#define DEEPBIND_NAMES(NAME) \
    NAME(malloc)             \
    NAME(calloc)             \
    NAME(realloc)            \
    NAME(reallocarray)       \
    NAME(free)               \
    NAME(cfree)              \
    NAME(aligned_alloc)      \
    NAME(posix_memalign)     \
    NAME(memalign)           \
    NAME(valloc)             \
    NAME(pvalloc)            \
    NAME(malloc_usable_size) \
    NAME(malloc_trim)        \
    NAME(malloc_stats)       \
    NAME(malloc_info)        \
    NAME(mallinfo2)          \
    NAME(mallopt)            \
    NAME(__libc_malloc)      \
    NAME(__libc_calloc)      \
    NAME(__libc_realloc)     \
    NAME(__libc_free)        \
    NAME(__libc_memalign)

#define DEEPBIND_DECLARE(name) extern void deepbind_##name(void) __asm__(#name);
DEEPBIND_NAMES(DEEPBIND_DECLARE)

static const struct deepbind_row {
    const char *name;
    deepbind_function ours;
} deepbind_rows[] = {
#define DEEPBIND_ROW(name) {#name, deepbind_##name},
    DEEPBIND_NAMES(DEEPBIND_ROW)};

static deepbind_function deepbind_find(const char *name) {
    for (size_t i = 0; i < ARRAY_COUNT(deepbind_rows); i++)
        if (strcmp(name, deepbind_rows[i].name) == 0)
            return deepbind_rows[i].ours;
    return NULL;
}

/* Points the symbols of the image that have a row at ours. */
static void deepbind_point(const struct os_image *image) {
    size_t page = os_page_size();
    char *from = (char *)align_down((uintptr_t)image->symbols, page);
    char *to = (char *)align_up((uintptr_t)(image->symbols + image->count), page);
    if (!os_map_protect(from, (size_t)(to - from), true))
        return;
    for (uint32_t i = 0; i < image->count; i++) {
        const char *name = os_image_function(image, i);
        deepbind_function ours = name != NULL ? deepbind_find(name) : NULL;
        if (ours == NULL)
            continue;
        Elf64_Addr *value = (Elf64_Addr *)(uintptr_t)&image->symbols[i].st_value;
        __atomic_store_n(value, (uintptr_t)ours - image->shift, __ATOMIC_RELAXED);
    }
    (void)os_map_protect(from, (size_t)(to - from), false);
}

static bool deepbind_is_libc(const char *path) {
    const char *name = strrchr(path, '/');
    name = name != NULL ? name + 1 : path;
    return strncmp(name, "libc.so.", 8) == 0 || strncmp(name, "libc-2.", 7) == 0;
}

static int deepbind_look(struct dl_phdr_info *info, size_t size, void *unused) {
    (void)size, (void)unused;
    struct os_image image;
    if (info->dlpi_name == NULL || !deepbind_is_libc(info->dlpi_name))
        return 0;
    for (unsigned i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC &&
            os_image_read(&image, info->dlpi_addr,
                          (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr)))
            deepbind_point(&image);
    return 1;
}

void deepbind_prepare(void) {
    enum { NOT_YET, BEGUN, DONE };
    static _Atomic unsigned state;
    unsigned found = NOT_YET;
    /* Compilers, who may see that the two are one here, shall not compare them. */
    void *(*volatile used)(size_t) = malloc;
    if (used != libc_own_malloc)
        return;
    if (atomic_compare_exchange_strong(&state, &found, BEGUN)) {
        dl_iterate_phdr(deepbind_look, NULL);
        atomic_store(&state, DONE);
    }
    while (atomic_load(&state) != DONE)
        os_thread_yield();
}
