/* The loader finds a function at the image's base plus what its symbol says, modulo 2^64: so a symbol of libc's can say
   the address of a function elsewhere. One word is written, at once, for each name; who looks it up meanwhile gets one
   or the other. The page is writable as long as that takes, and private to the process. */
#include "deepbind.h"

#include <fallow/fallow.h>
#include <link.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "os_image.h"
#include "os_map.h"
#include "os_page.h"

/* What Fallow has of libc's names; a pointer to any function is as good as to another. */
typedef void (*deepbind_function)(void);
#define DEEPBIND_NAMES(NAME)  \
    NAME(malloc)              \
    NAME(calloc)              \
    NAME(realloc)             \
    NAME(reallocarray)        \
    NAME(free)                \
    NAME(cfree)               \
    NAME(aligned_alloc)       \
    NAME(posix_memalign)      \
    NAME(memalign)            \
    NAME(valloc)              \
    NAME(pvalloc)             \
    NAME(malloc_usable_size)  \
    NAME(malloc_trim)         \
    NAME(malloc_stats)        \
    NAME(malloc_info)         \
    NAME(mallinfo)            \
    NAME(mallinfo2)           \
    NAME(mallopt)             \
    NAME(__libc_malloc)       \
    NAME(__libc_calloc)       \
    NAME(__libc_realloc)      \
    NAME(__libc_reallocarray) \
    NAME(__libc_free)         \
    NAME(__libc_memalign)     \
    NAME(__libc_valloc)       \
    NAME(__libc_pvalloc)      \
    NAME(__libc_mallinfo)     \
    NAME(__libc_mallopt)

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

/* Whether the process's malloc is Fallow, at once or behind another that passes calls on. */
static bool deepbind_is_wanted(void) {
    void *p = malloc(1);
    bool is_ours = p != NULL && fallow_usable_size(p) > 0;
    free(p);
    return is_ours;
}

/* Whoever finds it not done does it: twice is as good as once, and the loader calls back one thread at a time. So the
   child of a fork in the middle of it waits for nobody. */
void deepbind_prepare(void) {
    static atomic_bool done;
    if (atomic_load(&done))
        return;
    if (deepbind_is_wanted())
        dl_iterate_phdr(deepbind_look, NULL);
    atomic_store(&done, true);
}
