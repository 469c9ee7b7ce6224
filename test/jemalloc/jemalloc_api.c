/*
 * jemalloc's interface, by jemalloc's own header: what is checked here holds for jemalloc and for Fallow in its place.
 * Built once, and run against either.
 */
#include <errno.h>
#include <jemalloc/jemalloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check.h"

static bool is_zero(const unsigned char *p, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        if (p[i] != 0)
            return false;
    return true;
}

static void sizes(void) {
    for (size_t size = 1; size < 100 << 20; size += size / 3 + 1) {
        size_t good = nallocx(size, 0);
        void *p = mallocx(size, 0);
        CHECK(p && good >= size && sallocx(p, 0) == good && malloc_usable_size(p) == good);
        sdallocx(p, size, 0);
    }
    volatile size_t most = PTRDIFF_MAX;
    CHECK(nallocx(most + 1, 0) == 0);
    CHECK(mallocx(most + 1, 0) == NULL);
}

static void alignments(void) {
    for (int lg = 0; lg <= 22; lg++) {
        int flags = MALLOCX_LG_ALIGN(lg);
        CHECK(flags == MALLOCX_ALIGN((size_t)1 << lg));
        for (size_t size = 1; size <= 5 << 20; size = size * 7 + 1) {
            unsigned char *p = mallocx(size, flags | MALLOCX_ZERO);
            CHECK(p && (uintptr_t)p % ((size_t)1 << lg) == 0 && is_zero(p, size));
            CHECK(nallocx(size, flags) == sallocx(p, flags));
            memset(p, 0x55, size);
            p = rallocx(p, size * 2, flags | MALLOCX_ZERO);
            CHECK(p && (uintptr_t)p % ((size_t)1 << lg) == 0);
            CHECK(p[0] == 0x55 && p[size - 1] == 0x55 && sallocx(p, 0) >= size * 2);
            dallocx(p, flags);
        }
    }
}

static void growing_reads_as_zero(void) {
    unsigned char *p = mallocx(100, MALLOCX_ZERO);
    CHECK(p && is_zero(p, sallocx(p, 0)));
    for (size_t size = 100; size < 40 << 20; size = size * 3 / 2) {
        size_t old = sallocx(p, 0);
        memset(p, 0x55, old);
        p = rallocx(p, size, MALLOCX_ZERO);
        CHECK(p != NULL);
        size_t now = sallocx(p, 0);
        CHECK(now >= size && p[0] == 0x55);
        if (now > old)
            CHECK_THAT(is_zero(p + old, now - old), "%zu of %zu bytes", now - old, now);
    }
    dallocx(p, MALLOCX_TCACHE_NONE);
}

static void in_place(void) {
    void *p = mallocx(100, 0);
    CHECK(p && xallocx(p, 100, 0, 0) >= 100);
    CHECK(xallocx(p, 1 << 20, 0, 0) < 1 << 20); /* a small block cannot */
    dallocx(p, 0);
    unsigned char *large = mallocx(10 << 20, 0);
    CHECK(large != NULL);
    memset(large, 0x55, 10 << 20);
    size_t got = xallocx(large, 11 << 20, SIZE_MAX - (11 << 20), 0);
    CHECK(got >= 10 << 20 && got == sallocx(large, 0));
    got = xallocx(large, 5 << 20, 0, 0);
    CHECK(got >= 5 << 20 && got == sallocx(large, 0));
    CHECK(large[0] == 0x55 && large[(5 << 20) - 1] == 0x55);
    dallocx(large, 0);
    /* What cannot grow does not shrink either. */
    large = mallocx(1 << 20, 0);
    CHECK(large != NULL);
    CHECK(xallocx(large, 300 << 10, (size_t)16 << 40, 0) == sallocx(large, 0));
    CHECK(sallocx(large, 0) >= 1 << 20);
    dallocx(large, 0);
}

/* What lies between the size asked for and the real one is kept, too: zeroes stay so. */
static void up_and_down_reads_as_zero(void) {
    for (int lg = 0; lg <= 8; lg += 4) {
        int flags = MALLOCX_ZERO | MALLOCX_LG_ALIGN(lg);
        unsigned char *p = mallocx(1000, flags);
        static const size_t sizes[] = {400, 800, 100, 5000, 3000, 300000, 200000, 400000};
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            p = rallocx(p, sizes[i], flags);
            CHECK(p && is_zero(p, sallocx(p, 0)));
        }
        dallocx(p, 0);
    }
}

#define READ(name, type)                                                                           \
    __extension__({                                                                                \
        type read_value;                                                                           \
        size_t read_size = sizeof read_value;                                                      \
        int read_error = mallctl(name, &read_value, &read_size, NULL, 0);                          \
        CHECK_THAT(read_error == 0 && read_size == sizeof read_value, "%s: %d", name, read_error); \
        read_value;                                                                                \
    })

static void refresh(void) {
    uint64_t epoch = 1, before = READ("epoch", uint64_t);
    size_t size = sizeof epoch;
    CHECK(mallctl("epoch", &epoch, &size, &epoch, sizeof epoch) == 0);
    CHECK(epoch == before + 1);
}

static void errors(void) {
    size_t value, size = sizeof value;
    unsigned half;
    CHECK(mallctl("no.such.name", &value, &size, NULL, 0) == ENOENT);
    CHECK(mallctl("stats", &value, &size, NULL, 0) == ENOENT);
    CHECK(mallctl("arenas.bin.100000.size", &value, &size, NULL, 0) == ENOENT);
    CHECK(mallctl("stats.allocated", &value, &size, &value, sizeof value) == EPERM);
    size = sizeof half;
    CHECK(mallctl("stats.allocated", &half, &size, NULL, 0) == EINVAL);
    size = sizeof value;
    CHECK(mallctl("epoch", NULL, NULL, &half, sizeof half) == EINVAL);
    size_t mib[8], length = 8;
    CHECK(mallctlnametomib("no.such.name", mib, &length) == ENOENT);
}

static void classes(void) {
    unsigned count = READ("arenas.nbins", unsigned);
    size_t mib[4], depth = 4, before = 0;
    CHECK(count > 10 && READ("arenas.page", size_t) >= 4096);
    CHECK(mallctlnametomib("arenas.bin.0.size", mib, &depth) == 0 && depth == 4);
    for (unsigned i = 0; i < count; i++) {
        size_t bytes, size = sizeof bytes;
        mib[2] = i;
        CHECK(mallctlbymib(mib, depth, &bytes, &size, NULL, 0) == 0);
        CHECK(bytes > before && nallocx(bytes, 0) == bytes && nallocx(before + 1, 0) == bytes);
        before = bytes;
    }
    mib[2] = count + 1; /* count is let through by jemalloc 5.3 */
    size_t bytes, size = sizeof bytes;
    CHECK(mallctlbymib(mib, depth, &bytes, &size, NULL, 0) != 0);
    CHECK(READ("arenas.bin.0.nregs", uint32_t) > 0);
}

/* All arenas' objects of the class, by mib. */
static size_t objects_of(size_t bin) {
    static size_t mib[6], depth;
    if (depth == 0) {
        depth = 6;
        CHECK(mallctlnametomib("stats.arenas.0.bins.0.curregs", mib, &depth) == 0 && depth == 6);
    }
    size_t count, size = sizeof count;
    mib[2] = MALLCTL_ARENAS_ALL;
    mib[4] = bin;
    CHECK(mallctlbymib(mib, depth, &count, &size, NULL, 0) == 0);
    return count;
}

static void statistics(void) {
    enum { COUNT = 5000, BYTES = 2048 };
    static void *blocks[COUNT];
    unsigned bin = 0;
    char name[64];
    for (;; bin++) {
        snprintf(name, sizeof name, "arenas.bin.%u.size", bin);
        if (READ(name, size_t) == BYTES)
            break;
    }
    refresh();
    size_t allocated = READ("stats.allocated", size_t), objects = objects_of(bin);
    for (int i = 0; i < COUNT; i++) {
        CHECK((blocks[i] = mallocx(BYTES, 0)) != NULL);
        memset(blocks[i], 1, BYTES);
    }
    void *large = mallocx(32 << 20, 0);
    CHECK(large != NULL);
    memset(large, 1, 32 << 20);
    CHECK(READ("stats.allocated", size_t) == allocated); /* a snapshot */
    struct timespec nap = {0, 300000000};
    nanosleep(&nap, NULL);
    refresh();
    size_t now = READ("stats.allocated", size_t), least = (size_t)COUNT * BYTES + (32 << 20);
    /* Either may count what is in a thread's cache. */
    CHECK_THAT(now - allocated > least - (1 << 20) && now - allocated < least + (1 << 20), "%zu",
               now - allocated);
    CHECK(objects_of(bin) - objects > COUNT - 300 && objects_of(bin) - objects < COUNT + 300);
    CHECK(READ("stats.active", size_t) >= now);
    CHECK(READ("stats.resident", size_t) >= now);
    CHECK(READ("stats.mapped", size_t) >= READ("stats.active", size_t));
    CHECK(READ("stats.metadata", size_t) > 0);
    snprintf(name, sizeof name, "stats.arenas.%d.pactive", MALLCTL_ARENAS_ALL);
    CHECK(READ(name, size_t) * READ("arenas.page", size_t) == READ("stats.active", size_t));
    for (int i = 0; i < COUNT; i++)
        dallocx(blocks[i], 0);
    dallocx(large, 0);
    CHECK(mallctl("thread.tcache.flush", NULL, NULL, NULL, 0) == 0);
    snprintf(name, sizeof name, "arena.%d.purge", MALLCTL_ARENAS_ALL);
    CHECK(mallctl(name, NULL, NULL, NULL, 0) == 0);
    nanosleep(&nap, NULL);
    refresh();
    CHECK(READ("stats.allocated", size_t) < allocated + (1 << 20));
    snprintf(name, sizeof name, "stats.arenas.%d.pdirty", MALLCTL_ARENAS_ALL);
    CHECK(READ(name, size_t) == 0);
    CHECK(READ("stats.resident", size_t) < READ("stats.mapped", size_t) + (1 << 20));
}

static void purging_one_arena(void) {
    size_t mib[3], depth = 3;
    CHECK(READ("arenas.narenas", unsigned) >= 1);
    CHECK(mallctlnametomib("arena.0.purge", mib, &depth) == 0);
    CHECK(mallctlbymib(mib, depth, NULL, NULL, NULL, 0) == 0);
    mib[1] = READ("arenas.narenas", unsigned); /* all, by its older name */
    CHECK(mallctlbymib(mib, depth, NULL, NULL, NULL, 0) == 0);
    CHECK(mallctl("arena.0.decay", NULL, NULL, NULL, 0) == 0);
    CHECK(READ("arenas.dirty_decay_ms", ssize_t) >= -1);
    unsigned own = READ("thread.arena", unsigned);
    CHECK(own < READ("arenas.narenas", unsigned));
    CHECK(mallctl("thread.arena", NULL, NULL, &own, sizeof own) == 0);
}

static void thread_caches(void) {
    unsigned cache = READ("tcache.create", unsigned);
    void *p = mallocx(100, MALLOCX_TCACHE(cache)), *q = mallocx(100, MALLOCX_TCACHE_NONE);
    CHECK(p && q && p != q);
    dallocx(p, MALLOCX_TCACHE(cache));
    dallocx(q, MALLOCX_TCACHE_NONE);
    CHECK(mallctl("tcache.flush", NULL, NULL, &cache, sizeof cache) == 0);
    CHECK(mallctl("tcache.destroy", NULL, NULL, &cache, sizeof cache) == 0);
    CHECK(READ("thread.tcache.enabled", bool));
}

static void constants(void) {
    CHECK(strlen(READ("version", const char *)) > 0);
    CHECK(READ("config.stats", bool));
    CHECK(READ("opt.narenas", unsigned) < 10000);
    CHECK(strlen(READ("opt.thp", const char *)) > 0);
    CHECK(strcmp(READ("config.malloc_conf", const char *), "") == 0);
    CHECK(READ("opt.dirty_decay_ms", ssize_t) >= -1);
    CHECK(!READ("opt.zero", bool) && strcmp(READ("opt.junk", const char *), "false") == 0);
    bool on = READ("background_thread", bool);
    CHECK(mallctl("background_thread", NULL, NULL, &on, sizeof on) == 0);
}

static size_t printed;

static void count(void *opaque, const char *text) {
    CHECK(opaque == &printed);
    printed += strlen(text);
}

static void json(void *opaque, const char *text) {
    (void)opaque;
    fputs(text, stdout);
}

static void printing(void) {
    malloc_stats_print(count, &printed, NULL);
    CHECK(printed > 500);
    malloc_stats_print(json, NULL, "J");
}

int main(void) {
    sizes();
    alignments();
    growing_reads_as_zero();
    in_place();
    up_and_down_reads_as_zero();
    errors();
    classes();
    statistics();
    purging_one_arena();
    thread_caches();
    constants();
    printing();
    return 0;
}
