/*
 * gp#735: one extent is locked in memory (mlock), then all is freed and purged. The kernel refuses the
 * advice on the locked one; that concerns it alone: all the others are purged. What is allocated there
 * next is right, and once unlocked it is purged too.
 */
#include <errno.h>
#include <sys/mman.h>

#include "pattern.h"
#include "resident.h"
#include "under_test.h"

enum { BLOCKS = 80, LOCKED = 37 };

static const size_t size = (size_t)1 << 20;
static unsigned char *blocks[BLOCKS];

static void fill(bool zeroed) {
    for (size_t i = 0; i < BLOCKS; i++) {
        blocks[i] = zeroed ? calloc(1, size) : malloc(size);
        CHECK(blocks[i] != NULL);
        CHECK_THAT(!zeroed || pattern_not_zero_at(blocks[i], size) == size,
                   "calloc: block %zu is not zero", i);
        pattern_fill(blocks[i], size, i);
    }
}

static void drop(void) {
    for (size_t i = 0; i < BLOCKS; i++) {
        CHECK(pattern_holds(blocks[i], size, i));
        free(blocks[i]);
    }
}

static void purge_all_but(size_t kept, enum fallow_purge_level level) {
    struct resident before = resident_now();
    errno = 42;
    under_test_purge(level);
    CHECK(errno == 42);
    struct resident after = resident_now();
    size_t expected = (BLOCKS - kept) * size / 10 * 9;
    if (level == FALLOW_PURGE_LAZY) {
        CHECK_THAT(after.lazy_bytes >= expected, "LazyFree from %zu to %zu", before.lazy_bytes,
                   after.lazy_bytes);
    } else {
        CHECK_THAT(before.rss_bytes - after.rss_bytes >= expected, "Rss from %zu to %zu",
                   before.rss_bytes, after.rss_bytes);
    }
    under_test_check_law();
}

int main(void) {
    under_test_needs_fallow();
    fill(false);
    unsigned char *locked = blocks[LOCKED];
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *first = (unsigned char *)(((uintptr_t)locked + page - 1) / page * page);
    if (mlock(first, size - page) != 0) {
        CHECK_SKIP("mlock is not allowed here");
    }
    drop();
    purge_all_but(4, FALLOW_PURGE_LAZY);
    purge_all_but(4, FALLOW_PURGE_CLEAN);
    CHECK(resident_now().locked_bytes >= size - page); /* it was not moved or unmapped either */
    fill(true);
    drop();
    purge_all_but(4, FALLOW_PURGE_CLEAN);
    CHECK(munlock(first, size - page) == 0);
    fill(true);
    drop();
    purge_all_but(1, FALLOW_PURGE_CLEAN);
    return 0;
}
