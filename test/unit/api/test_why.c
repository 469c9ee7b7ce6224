/* Why the resident set is as it is: the terms, their sum, and the public function. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "../environment.h"
#include "alloc.h"
#include "os_lock.h"
#include "why.h"

enum { KIB = 1024, MIB = 1024 * KIB, OBJECTS = 20000 };

static struct fallow_rss_why why;

/* Reads it, and checks that it adds up. */
static void read_why(void) {
    skip_under_tools();
    cr_assert(fallow_rss_why(&why));
    int64_t residual = why_residual(&why);
    int64_t most = (int64_t)max_size(why.kernel_bytes / 50, 300 * KIB);
    cr_assert(residual <= most && residual >= -most, "%lld of %zu bytes are not explained",
              (long long)residual, why.kernel_bytes);
}

Test(why, small_objects_are_live_and_then_free_in_their_slabs) {
    static char *objects[OBJECTS];
    read_why();
    size_t live = why.live_bytes, free_before = why.slab_free_bytes;
    for (size_t i = 0; i < OBJECTS; i++)
        memset(objects[i] = alloc_malloc(100), 1, 100);
    read_why();
    size_t gained = why.live_bytes - live;
    cr_assert_geq(gained, OBJECTS * 112u - 64 * KIB);
    cr_assert_leq(gained, OBJECTS * 112u + 64 * KIB);
    for (size_t i = 0; i < OBJECTS; i++)
        if (i % 8 != 0)
            alloc_free(objects[i]);
    read_why();
    cr_assert_geq(why.slab_free_bytes - free_before, OBJECTS * 112u / 8 * 7 - 300 * KIB);
    cr_assert_leq(why.live_bytes - live, OBJECTS * 112u / 8 + 64 * KIB);
}

Test(why, large_blocks_are_live_and_then_dirty) {
    read_why();
    size_t live = why.live_bytes;
    char *block = alloc_malloc(3 * MIB);
    memset(block, 1, 3 * MIB);
    read_why();
    cr_assert_eq(why.live_bytes - live, 3u * MIB);
    alloc_free(block);
    read_why();
    cr_assert_geq(why.dirty_bytes, 3u * MIB);
    cr_assert_eq(why.live_bytes, live);
}

Test(why, errno_is_left_alone_when_it_is_known) {
    skip_under_tools();
    errno = EXDEV;
    cr_assert(fallow_rss_why(&why));
    cr_assert_eq(errno, EXDEV);
}
