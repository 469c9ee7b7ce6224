/* Warm blocks: what is found again, in which order, how much is kept, and who takes it back when. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <string.h>

#include "by_hand.h"
#include "counters.h"
#include "large.h"
#include "misuse.h"
#include "thread.h"
#include "warm.h"

enum { KIB = 1024, MIB = 1024 * KIB };

TestSuite(warm, .init = start_heaps);

static char *alloc(struct heap *heap, size_t bytes) {
    char *p = large_alloc(heap, bytes, GRANULE_BYTES, false);
    cr_assert_not_null(p);
    return p;
}

static void release(struct heap *heap, void *p) {
    struct extent *extent = pagemap_take(p);
    cr_assert_not_null(extent);
    large_free(heap, extent);
}

/* The invariants of warm.h. */
static void expect_warm(const struct warm *warm, unsigned count, size_t bytes) {
    size_t granules = 0;
    for (unsigned i = 0; i < warm->count; i++) {
        granules += warm->blocks[i]->granules;
        cr_assert_eq(warm->blocks[i]->flags, EXTENT_WARM);
        cr_assert_null(pagemap_get(chunk_extent_base(warm->blocks[i])));
    }
    cr_assert_eq(atomic_load(&warm->granules), granules);
    cr_assert_eq(warm->count, count);
    cr_assert_eq(bytes_of_granules(granules), bytes);
}

Test(warm, the_most_recently_freed_of_a_size_comes_back_first) {
    char *a = alloc(&heap_a, 512 * KIB), *b = alloc(&heap_a, 512 * KIB);
    char *other = alloc(&heap_a, 528 * KIB);
    release(&heap_a, a);
    release(&heap_a, b);
    release(&heap_a, other);
    expect_warm(&heap_a.warm, 3, 1552 * KIB);
    cr_assert_eq(alloc(&heap_a, 512 * KIB), b);
    cr_assert_eq(alloc(&heap_a, 500 * KIB), a);
    cr_assert_eq(pagemap_get(a)->bytes, 500u * KIB);
    expect_warm(&heap_a.warm, 1, 528 * KIB);
    cr_assert_neq(alloc(&heap_a, 512 * KIB), other);
}

Test(warm, another_heap_does_not_find_it) {
    char *a = alloc(&heap_a, 512 * KIB);
    release(&heap_a, a);
    cr_assert_neq(alloc(&heap_b, 512 * KIB), a);
}

Test(warm, an_alignment_that_it_has_not_is_not_found_in_it) {
    char *first = alloc(&heap_a, 512 * KIB), *second = alloc(&heap_a, 512 * KIB);
    cr_assert_not(is_aligned_address(second, MIB));
    release(&heap_a, second);
    char *p = large_alloc(&heap_a, 512 * KIB, MIB, false);
    cr_assert(is_aligned_address(p, MIB));
    expect_warm(&heap_a.warm, 1, 512 * KIB);
    release(&heap_a, first);
}

Test(warm, zero_is_zero_over_it) {
    static const char zeroes[300 * KIB];
    char *p = alloc(&heap_a, sizeof zeroes);
    memset(p, 0x5a, sizeof zeroes);
    release(&heap_a, p);
    cr_assert_eq(large_alloc(&heap_a, sizeof zeroes, GRANULE_BYTES, true), p);
    cr_assert_eq(memcmp(p, zeroes, sizeof zeroes), 0);
}

Test(warm, so_many_blocks_are_kept_and_the_oldest_goes) {
    char *blocks[WARM_BLOCKS_MAX + 1];
    for (size_t i = 0; i < ARRAY_COUNT(blocks); i++)
        blocks[i] = alloc(&heap_a, 272 * KIB);
    size_t used = arena->domain.used;
    for (size_t i = 0; i < ARRAY_COUNT(blocks); i++)
        release(&heap_a, blocks[i]);
    expect_warm(&heap_a.warm, WARM_BLOCKS_MAX, (size_t)WARM_BLOCKS_MAX * 272 * KIB);
    cr_assert_eq(used - arena->domain.used, granules_of_bytes(272 * KIB));
    for (size_t i = WARM_BLOCKS_MAX; i > 0; i--)
        cr_assert_eq(alloc(&heap_a, 272 * KIB), blocks[i]);
}

Test(warm, so_many_bytes_are_kept) {
    char *a = alloc(&heap_a, 3 * MIB), *b = alloc(&heap_a, MIB), *c = alloc(&heap_a, 2 * MIB);
    char *all = alloc(&heap_a, WARM_BYTES_MAX), *more = alloc(&heap_a, WARM_BYTES_MAX + 1);
    release(&heap_a, a);
    release(&heap_a, b);
    expect_warm(&heap_a.warm, 2, 4 * MIB);
    release(&heap_a, c);
    expect_warm(&heap_a.warm, 2, 3 * MIB);
    release(&heap_a, more);
    expect_warm(&heap_a.warm, 2, 3 * MIB);
    release(&heap_a, all);
    expect_warm(&heap_a.warm, 1, 4 * MIB);
    expect_all_given_back();
}

Test(warm, what_was_idle_for_two_epochs_goes_back) {
    const uint64_t epoch = heap_epoch_ns, start = 10 * heap_epoch_ns;
    release(&heap_a, alloc(&heap_a, 512 * KIB));
    release(&heap_a, alloc(&heap_a, 528 * KIB));
    large_drain(&heap_a, start);
    large_drain(&heap_a, start + epoch - 1); /* the same epoch */
    expect_warm(&heap_a.warm, 2, 1040 * KIB);
    release(&heap_a, alloc(&heap_a, 528 * KIB)); /* it was wanted */
    large_drain(&heap_a, start + epoch);
    expect_warm(&heap_a.warm, 1, 528 * KIB);
    large_drain(&heap_a, start + 2 * epoch);
    expect_warm(&heap_a.warm, 0, 0);
    cr_assert_eq(arena->domain.used, 0u);
}

Test(warm, nobody_waits_for_a_heap_at_work) {
    release(&heap_a, alloc(&heap_a, 512 * KIB));
    os_lock_acquire(&heap_a.warm.lock);
    large_drain(&heap_a, heap_epoch_ns);
    large_drain(&heap_a, 2 * heap_epoch_ns);
    os_lock_release(&heap_a.warm.lock);
    expect_warm(&heap_a.warm, 1, 512 * KIB);
}

Test(warm, nothing_is_kept_with_immediate_purging) {
    options.dirty_decay_ms = 0;
    release(&heap_a, alloc(&heap_a, 512 * KIB));
    expect_warm(&heap_a.warm, 0, 0);
    cr_assert_eq(arena->domain.used, 0u);
}

Test(warm, nothing_is_kept_in_a_shared_heap) {
    heap_a.shared = true;
    release(&heap_a, alloc(&heap_a, 512 * KIB));
    expect_warm(&heap_a.warm, 0, 0);
}

Test(warm, a_second_free_of_it_is_known_for_one) {
    char *p = alloc(&heap_a, 512 * KIB), *inside = p + 256 * KIB;
    release(&heap_a, p);
    misuse_unknown(p);
    cr_assert_eq(counters_read(COUNTER_double_frees), 1u);
    misuse_unknown(inside);
    cr_assert_eq(counters_read(COUNTER_double_frees), 1u);
    cr_assert_eq(counters_read(COUNTER_foreign_frees), 1u);
}

/* --- with threads --- */

static pthread_barrier_t barrier;

static void *free_and_sleep(void *arg) {
    struct heap *heap = thread_enter();
    release(heap, alloc(heap, 512 * KIB));
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    return arg;
}

Test(warm, others_take_it_from_a_thread_that_sleeps) {
    enum { THREADS = 10 };
    pthread_t threads[THREADS];
    thread_start();
    release(thread_enter(), alloc(thread_enter(), 512 * KIB)); /* the main thread's */
    pthread_barrier_init(&barrier, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, free_and_sleep, NULL), 0);
    pthread_barrier_wait(&barrier);
    thread_lock_list();
    cr_assert_eq(thread_warm_bytes_locked(), (THREADS + 1) * 512u * KIB);
    thread_unlock_list();
    for (uint64_t now_ns = heap_epoch_ns; now_ns < 10 * heap_epoch_ns; now_ns += heap_epoch_ns)
        thread_drain(now_ns, 4);
    thread_lock_list();
    cr_assert_eq(thread_warm_bytes_locked(), 0u);
    thread_unlock_list();
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

Test(warm, a_thread_that_ends_leaves_none) {
    pthread_t thread;
    thread_start();
    pthread_barrier_init(&barrier, NULL, 1);
    cr_assert_eq(pthread_create(&thread, NULL, free_and_sleep, NULL), 0);
    pthread_join(thread, NULL);
    thread_lock_list();
    cr_assert_eq(thread_warm_bytes_locked(), 0u);
    thread_unlock_list();
}
