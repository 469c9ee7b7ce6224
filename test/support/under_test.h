/*
 * The allocator under test, whichever way this program meets it. Each program is built twice from
 * one source:
 *   - plain: it calls the libc names, and ctest runs it with libfallow.so in LD_PRELOAD. What is
 *     Fallow's own (purging, statistics) is looked up at run time; under_test_is_fallow() says
 *     whether it was found, so a program runs under any other malloc as well, for comparison.
 *   - FALLOW_TEST_PREFIXED: it is linked with libfallow-prefixed.a, and the names become fallow_*.
 *     This is the build that the sanitizers and valgrind see.
 */
#ifndef FALLOW_TEST_UNDER_TEST_H
#define FALLOW_TEST_UNDER_TEST_H

#include <dlfcn.h>
#include <fallow/fallow.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

/* A pointer that the optimizer must believe is used: keeps a malloc whose result is dropped. */
#define KEEP(pointer) __asm__ volatile("" : : "g"(pointer) : "memory")

#ifdef FALLOW_TEST_PREFIXED

#define malloc             fallow_malloc
#define calloc             fallow_calloc
#define realloc            fallow_realloc
#define free               fallow_free
#define aligned_alloc      fallow_aligned_alloc
#define posix_memalign     fallow_posix_memalign
#define memalign           fallow_memalign
#define valloc             fallow_valloc
#define pvalloc            fallow_pvalloc
#define reallocarray       fallow_reallocarray
#define malloc_usable_size fallow_usable_size

static inline bool under_test_is_fallow(void) {
    return true;
}

static inline size_t under_test_purge(enum fallow_purge_level level) {
    return fallow_purge(level);
}

static inline bool under_test_rss(struct fallow_rss *rss) {
    return fallow_rss(rss);
}

static inline void under_test_stats(struct fallow_stats *stats) {
    fallow_stats(stats);
}

static inline bool under_test_why(struct fallow_rss_why *why) {
    return fallow_rss_why(why);
}

static inline bool under_test_free_sized(void *pointer, size_t size) {
    fallow_free_sized(pointer, size);
    return true;
}

static inline bool under_test_free_aligned_sized(void *pointer, size_t alignment, size_t size) {
    fallow_free_aligned_sized(pointer, alignment, size);
    return true;
}

#else

/* dlsym's answer is an object pointer; the union turns it into a function's without a cast. */
union under_test_symbol {
    void *object;
    size_t (*purge)(enum fallow_purge_level);
    bool (*rss)(struct fallow_rss *);
    void (*stats)(struct fallow_stats *);
    bool (*why)(struct fallow_rss_why *);
    void (*free_sized)(void *, size_t);
    void (*free_aligned_sized)(void *, size_t, size_t);
};

static inline union under_test_symbol under_test_find(const char *name) {
    union under_test_symbol symbol;
    symbol.object = dlsym(RTLD_DEFAULT, name);
    return symbol;
}

static inline bool under_test_is_fallow(void) {
    return under_test_find("fallow_purge").object != NULL;
}

static inline size_t under_test_purge(enum fallow_purge_level level) {
    union under_test_symbol symbol = under_test_find("fallow_purge");
    return symbol.object ? symbol.purge(level) : 0;
}

static inline bool under_test_rss(struct fallow_rss *rss) {
    union under_test_symbol symbol = under_test_find("fallow_rss");
    return symbol.object && symbol.rss(rss);
}

static inline void under_test_stats(struct fallow_stats *stats) {
    union under_test_symbol symbol = under_test_find("fallow_stats");
    memset(stats, 0, sizeof *stats);
    if (symbol.object) {
        symbol.stats(stats);
    }
}

static inline bool under_test_why(struct fallow_rss_why *why) {
    union under_test_symbol symbol = under_test_find("fallow_rss_why");
    return symbol.object && symbol.why(why);
}

/* The C23 names, absent from this libc's headers. False: the malloc in use does not have them. */
static inline bool under_test_free_sized(void *pointer, size_t size) {
    union under_test_symbol symbol = under_test_find("free_sized");
    if (!symbol.object) {
        free(pointer);
        return false;
    }
    symbol.free_sized(pointer, size);
    return true;
}

static inline bool under_test_free_aligned_sized(void *pointer, size_t alignment, size_t size) {
    union under_test_symbol symbol = under_test_find("free_aligned_sized");
    if (!symbol.object) {
        free(pointer);
        return false;
    }
    symbol.free_aligned_sized(pointer, alignment, size);
    return true;
}

#endif

/* Says why and skips when the malloc in use is not Fallow: what follows asks for Fallow's own. */
static inline void under_test_needs_fallow(void) {
    if (!under_test_is_fallow()) {
        check_say("this test needs Fallow: preload libfallow.so\n");
        _exit(1);
    }
}

/* The accounting law. Call it while no other thread allocates or purges. */
static inline void under_test_check_law(void) {
    struct fallow_stats stats;
    under_test_stats(&stats);
    size_t sum = stats.active_bytes + stats.dirty_bytes + stats.lazy_bytes + stats.busy_bytes +
                 stats.clean_bytes + stats.metadata_bytes;
    CHECK_THAT(stats.mapped_bytes == sum,
               "mapped %zu, but active %zu + dirty %zu + lazy %zu + busy %zu + clean %zu + "
               "metadata %zu = %zu",
               stats.mapped_bytes, stats.active_bytes, stats.dirty_bytes, stats.lazy_bytes,
               stats.busy_bytes, stats.clean_bytes, stats.metadata_bytes, sum);
}

#endif
