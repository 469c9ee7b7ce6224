/* The messages of misuse. A foreign pointer is warned of once a process, since a program that has one
   such free often has thousands; every double free is, since each is a bug of its own. */
#include "misuse.h"

#include <stdatomic.h>

#include "counters.h"
#include "fmt.h"
#include "geometry.h"
#include "options.h"
#include "os_assert.h"
#include "os_log.h"
#include "space.h"

static void misuse_say(const char *before, const void *p, const char *after) {
    char line[128];
    struct fmt f = fmt_start(line, sizeof line);
    fmt_str(&f, before);
    fmt_hex(&f, (uintptr_t)p);
    fmt_str(&f, after);
    os_log(line, f.len);
}

void misuse_double_free(const void *p) {
    counters_add(COUNTER_double_frees, 1);
    misuse_say("fallow: double free of ", p, "; ignored\n");
}

/* Whether a block that was freed may have begun at `p`: where a free granule begins, or a block that is
   kept warm. Looks without a lock: for an honest program the answer is not needed. */
__attribute__((__no_sanitize__("thread"))) static bool misuse_is_freed(const void *p) {
    const struct chunk *chunk = space_chunk_at(p);
    size_t offset = (uintptr_t)p % CHUNK_BYTES;
    size_t granule = offset >> GRANULE_SHIFT;
    if (chunk == NULL || !is_aligned(offset, GRANULE_BYTES))
        return false;
    return (chunk->used >> granule & 1) == 0 ||
           (chunk->extents != NULL && (extent_flags(&chunk->extents[granule]) & EXTENT_WARM) != 0);
}

void misuse_unknown(const void *p) {
    static atomic_flag warned = ATOMIC_FLAG_INIT;
    if (misuse_is_freed(p)) {
        misuse_double_free(p);
        return;
    }
    counters_add(COUNTER_foreign_frees, 1);
    if (options.abort_on_foreign) {
        misuse_say("fallow: free of a pointer that is not Fallow's (", p, "); aborting\n");
        os_abort();
    }
    if (!atomic_flag_test_and_set(&warned))
        misuse_say("fallow: free of a pointer that is not Fallow's (", p, "); ignored\n");
}
