/* jemalloc's own names, with and without its prefix, for programs that were built for it. What stands behind each is in
   docs/compatibility.md. */
#include <stdbool.h>
#include <string.h>

#include "alloc.h"
#include "allocx.h"
#include "ctl.h"
#include "options_jemalloc.h"
#include "os_env.h"
#include "os_log.h"
#include "stats_print.h"

#define PUBLIC __attribute__((__visibility__("default")))

/* The program's, if it has them. */
PUBLIC extern void (*malloc_message)(void *opaque, const char *text);
PUBLIC extern void (*je_malloc_message)(void *opaque, const char *text);
PUBLIC __attribute__((__weak__)) void (*malloc_message)(void *opaque, const char *text);
PUBLIC __attribute__((__weak__)) void (*je_malloc_message)(void *opaque, const char *text);

PUBLIC extern const char *malloc_conf;
PUBLIC extern const char *je_malloc_conf;
PUBLIC __attribute__((__weak__)) const char *malloc_conf;
PUBLIC __attribute__((__weak__)) const char *je_malloc_conf;

__attribute__((constructor(101))) static void jemalloc_init(void) {
    options_parse_jemalloc("malloc_conf", malloc_conf != NULL ? malloc_conf : je_malloc_conf);
    options_parse_jemalloc("MALLOC_CONF", os_env("MALLOC_CONF"));
}

/* Defines name and je_name alike. */
#define BOTH(result, name, parameters, ...)                           \
    PUBLIC result name parameters;                                    \
    PUBLIC result je_##name parameters;                               \
    result name parameters{__VA_ARGS__} result je_##name parameters { \
        __VA_ARGS__                                                   \
    }

BOTH(void *, mallocx, (size_t size, int flags), return allocx_malloc(size, flags);)

BOTH(void *, rallocx, (void *p, size_t size, int flags), return allocx_realloc(p, size, flags);)

BOTH(size_t, xallocx, (void *p, size_t size, size_t extra, int flags),
     return allocx_resize(p, size, extra, flags);)

BOTH(size_t, sallocx, (const void *p, int flags), (void)flags; return alloc_usable_size(p);)

BOTH(size_t, nallocx, (size_t size, int flags), return allocx_good_size(size, flags);)

BOTH(void, dallocx, (void *p, int flags), (void)flags; alloc_free(p);)

BOTH(void, sdallocx, (void *p, size_t size, int flags), (void)size; (void)flags; alloc_free(p);)

BOTH(int, mallctl, (const char *name, void *oldp, size_t *oldlenp, void *newp, size_t newlen),
     return ctl_by_name(name, oldp, oldlenp, newp, newlen);)

BOTH(int, mallctlnametomib, (const char *name, size_t *mibp, size_t *miblenp),
     return ctl_mib_of_name(name, mibp, miblenp);)

BOTH(int, mallctlbymib,
     (const size_t *mib, size_t miblen, void *oldp, size_t *oldlenp, void *newp, size_t newlen),
     return ctl_by_mib(mib, miblen, oldp, oldlenp, newp, newlen);)

static void jemalloc_write(void *opaque, const char *text) {
    (void)opaque;
    os_log(text, strlen(text));
}

static void jemalloc_stats_print(void (*write)(void *, const char *), void *opaque,
                                 const char *opts) {
    if (write == NULL)
        write = malloc_message != NULL      ? malloc_message
                : je_malloc_message != NULL ? je_malloc_message
                                            : jemalloc_write;
    stats_print(write, opaque, opts);
}

BOTH(void, malloc_stats_print,
     (void (*write)(void *, const char *), void *opaque, const char *opts),
     jemalloc_stats_print(write, opaque, opts);)

/* The standard names with the prefix. */
PUBLIC void *je_malloc(size_t size);
PUBLIC void *je_calloc(size_t count, size_t size);
PUBLIC void *je_realloc(void *p, size_t size);
PUBLIC void je_free(void *p);
PUBLIC void *je_aligned_alloc(size_t alignment, size_t size);
PUBLIC int je_posix_memalign(void **out, size_t alignment, size_t size);
PUBLIC void *je_memalign(size_t alignment, size_t size);
PUBLIC void *je_valloc(size_t size);
PUBLIC size_t je_malloc_usable_size(void *p);

void *je_malloc(size_t size) {
    return alloc_malloc(size);
}

void *je_calloc(size_t count, size_t size) {
    return alloc_calloc(count, size);
}

void *je_realloc(void *p, size_t size) {
    return alloc_realloc(p, size);
}

void je_free(void *p) {
    alloc_free(p);
}

void *je_aligned_alloc(size_t alignment, size_t size) {
    return alloc_memalign(alignment, size);
}

int je_posix_memalign(void **out, size_t alignment, size_t size) {
    return alloc_posix_memalign(out, alignment, size);
}

void *je_memalign(size_t alignment, size_t size) {
    return alloc_memalign(alignment, size);
}

void *je_valloc(size_t size) {
    return alloc_valloc(size);
}

size_t je_malloc_usable_size(void *p) {
    return alloc_usable_size(p);
}
