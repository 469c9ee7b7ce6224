/* The heap's sums: the law at any moment, what each term counts, and purging on request. */
#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "../environment.h"
#include "../random.h"
#include "alloc.h"
#include "options.h"
#include "os_advise.h"
#include "os_cgroup.h"
#include "stats.h"

enum { KIB = 1024, MIB = 1024 * KIB, THREADS = 3, LOOKS = 2000 };

static void quiet(void) {
    options.thp = THP_NEVER;
    options.dirty_decay_ms = -1; /* nothing changes by itself */
}

TestSuite(stats, .init = quiet);

static struct fallow_stats look(void) {
    struct fallow_stats stats;
    fallow_stats(&stats);
    cr_assert_eq(stats.mapped_bytes, stats.active_bytes + stats.dirty_bytes + stats.lazy_bytes +
                                         stats.busy_bytes + stats.clean_bytes +
                                         stats.metadata_bytes);
    return stats;
}

Test(stats, a_process_that_has_done_nothing_has_nothing) {
    struct fallow_stats stats = look();
    cr_assert_eq(stats.active_bytes, 0u);
    cr_assert_eq(stats.dirty_bytes + stats.lazy_bytes + stats.busy_bytes + stats.clean_bytes, 0u);
    cr_assert_eq(stats.mapped_bytes, stats.metadata_bytes);
    cr_assert_eq(stats.arenas, 1u);
}

Test(stats, a_block_is_active_then_dirty_then_lazy_then_clean) {
    struct fallow_stats before = look();
    void *p = alloc_malloc(1 * MIB);
    memset(p, 1, 1 * MIB);
    struct fallow_stats now = look();
    cr_assert_eq(now.active_bytes, before.active_bytes + MIB);
    cr_assert_eq(now.clean_bytes, before.clean_bytes + MIB); /* the rest of its chunk */
    alloc_free(p);
    now = look();
    cr_assert_eq(now.active_bytes, before.active_bytes);
    cr_assert_eq(now.dirty_bytes, before.dirty_bytes + MIB);
    cr_assert_eq(fallow_purge(FALLOW_PURGE_LAZY), (size_t)MIB);
    now = look();
    cr_assert_eq(now.dirty_bytes, 0u);
    cr_assert_eq(now.lazy_bytes, (size_t)MIB);
    cr_assert_eq(fallow_purge(FALLOW_PURGE_CLEAN), (size_t)MIB);
    now = look();
    cr_assert_eq(now.lazy_bytes, 0u);
    cr_assert_eq(now.clean_bytes, 2u * MIB);
    cr_assert_eq(fallow_purge(FALLOW_PURGE_CLEAN), 0u);
}

Test(stats, a_huge_block_is_active_to_its_last_granule) {
    struct fallow_stats before = look();
    void *p = alloc_malloc(5 * MIB);
    struct fallow_stats now = look();
    cr_assert_eq(now.active_bytes, before.active_bytes + 5 * MIB);
    cr_assert_eq(now.clean_bytes, before.clean_bytes + MIB);
    alloc_free(p);
    now = look();
    cr_assert_eq(now.active_bytes, before.active_bytes);
    cr_assert_eq(now.dirty_bytes, before.dirty_bytes + 5 * MIB);
}

Test(stats, a_purge_takes_what_the_own_heap_keeps_empty) {
    void *blocks[100];
    for (size_t i = 0; i < ARRAY_COUNT(blocks); i++)
        blocks[i] = memset(alloc_malloc(2000), 1, 2000);
    for (size_t i = 0; i < ARRAY_COUNT(blocks); i++)
        alloc_free(blocks[i]);
    cr_assert_gt(look().active_bytes, 0u);
    cr_assert_geq(fallow_purge(FALLOW_PURGE_CLEAN), 200000u);
    struct fallow_stats now = look();
    cr_assert_eq(now.active_bytes, 0u);
    cr_assert_eq(now.dirty_bytes + now.lazy_bytes, 0u);
}

Test(stats, metadata_is_a_small_part) {
    static void *blocks[64 * KIB];
    for (size_t i = 0; i < ARRAY_COUNT(blocks); i++)
        blocks[i] = alloc_malloc(1000);
    struct fallow_stats now = look();
    cr_assert_geq(now.active_bytes, 64u * KIB * 1000);
    /* Address space: 2 MiB of it for each leaf of the page map, of which there may be two. */
    cr_assert_leq(now.metadata_bytes, 5u * MIB);
    for (size_t i = 0; i < ARRAY_COUNT(blocks); i++)
        alloc_free(blocks[i]);
}

Test(stats, the_resident_set_is_as_the_kernel_says) {
    skip_under_tools();
    struct fallow_rss before, dirty, lazy, clean;
    char *p = alloc_malloc(32 * MIB);
    cr_assert(fallow_rss(&before));
    memset(p, 1, 32 * MIB);
    cr_assert(fallow_rss(&dirty));
    cr_assert_geq(dirty.kernel_bytes, before.kernel_bytes + 31 * MIB);
    cr_assert_eq(dirty.honest_bytes, dirty.kernel_bytes - dirty.lazy_bytes);
    alloc_free(p);
    fallow_purge(FALLOW_PURGE_LAZY);
    cr_assert(fallow_rss(&lazy));
    cr_assert_geq(lazy.lazy_bytes, dirty.lazy_bytes + 31 * MIB);
    cr_assert_leq(lazy.honest_bytes, before.honest_bytes + MIB);
    cr_assert_eq(lazy.lazy_taken_bytes, 0u);
    fallow_purge(FALLOW_PURGE_CLEAN);
    cr_assert(fallow_rss(&clean));
    cr_assert_leq(clean.kernel_bytes, before.kernel_bytes + MIB);
}

Test(stats, lazy_memory_that_the_kernel_took_is_not_resident_but_counted) {
    skip_under_tools();
    struct fallow_rss lazy, taken;
    char *p = alloc_malloc(8 * MIB);
    memset(p, 1, 8 * MIB);
    alloc_free(p);
    fallow_purge(FALLOW_PURGE_LAZY);
    cr_assert(fallow_rss(&lazy));
    /* as if the kernel had taken a part */
    cr_assert_eq(os_advise(p, 3 * MIB, OS_ADVISE_DONTNEED), 0);
    errno = EXDEV;
    cr_assert(fallow_rss(&taken));
    cr_assert_eq(errno, EXDEV);
    cr_assert_eq(lazy.lazy_taken_bytes, 0u);
    cr_assert_eq(taken.lazy_taken_bytes, 3u * MIB);
    cr_assert_leq(taken.lazy_bytes, 5u * MIB); /* before, some pages were not on a list yet */
    fallow_purge(FALLOW_PURGE_CLEAN);
    cr_assert(fallow_rss(&taken));
    cr_assert_eq(taken.lazy_taken_bytes, 0u);
}

Test(stats, the_cgroup_is_charged_for_what_is_resident) {
    struct fallow_rss rss;
    size_t alone = os_cgroup_memory_bytes();
    skip_under_tools();
    cr_assert(fallow_rss(&rss));
    cr_assert_eq(rss.cgroup_bytes > 0, alone > 0);
}

/* --- at any moment --- */

static _Atomic bool stop;

static void *alloc_at_random(void *arg) {
    struct random r = {(uintptr_t)arg};
    void *blocks[64] = {NULL};
    while (!atomic_load(&stop)) {
        size_t i = random_below(&r, ARRAY_COUNT(blocks));
        if (blocks[i] == NULL) {
            blocks[i] = alloc_malloc(1 + (random_below(&r, 6 * MIB) >> random_below(&r, 18)));
            *(char *)blocks[i] = 1;
        } else if (random_below(&r, 4) == 0) {
            blocks[i] = alloc_realloc(blocks[i], 1 + random_below(&r, 3 * MIB));
        } else {
            alloc_free(blocks[i]);
            blocks[i] = NULL;
        }
        if (random_below(&r, 500) == 0)
            fallow_purge(random_below(&r, 2) == 0 ? FALLOW_PURGE_LAZY : FALLOW_PURGE_CLEAN);
    }
    for (size_t i = 0; i < ARRAY_COUNT(blocks); i++)
        alloc_free(blocks[i]);
    return NULL;
}

Test(stats, the_law_holds_while_threads_allocate_and_purge) {
    pthread_t threads[THREADS];
    unsigned looks = under_valgrind() ? LOOKS / 20 : LOOKS;
    options.dirty_decay_ms = 1;
    options.lazy_decay_ms = 1;
    for (uintptr_t i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, alloc_at_random, (void *)(i + 1)), 0);
    for (unsigned i = 0; i < looks; i++)
        look();
    atomic_store(&stop, true);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    fallow_purge(FALLOW_PURGE_CLEAN);
    struct fallow_stats now = look();
    cr_assert_eq(now.busy_bytes + now.dirty_bytes + now.lazy_bytes, 0u);
}
