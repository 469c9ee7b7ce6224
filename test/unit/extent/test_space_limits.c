/* The space at its limits: when there is no address space or no memory for descriptors, in a forked
   child, and in several threads at once. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../environment.h"
#include "../random.h"
#include "counters.h"
#include "metadata.h"
#include "picture.h"
#include "space_by_hand.h"

enum { THREADS = 4, ROUNDS = 300 };

TestSuite(space_limits, .init = start_space);

/* --- no address space --- */

Test(space_limits, what_no_machine_has_is_refused) {
    struct chunk *chunk = space_take(1, 1);
    size_t most = SIZE_MAX >> CHUNK_SHIFT;
    cr_assert_null(space_take(most, 1));
    cr_assert_null(space_take(most + 2, 1)); /* no count of bytes */
    cr_assert_null(space_take(SIZE_MAX, 1));
    cr_assert_null(space_take((size_t)1 << (47 - CHUNK_SHIFT), 1));
    cr_assert_null(space_take(1, (size_t)1 << (48 - CHUNK_SHIFT)));
    cr_assert_eq(mapped(), 1u);
    cr_assert_eq(held(), 1u);
    space_give(chunk);
    expect_law();
}

Test(space_limits, a_refusal_by_the_kernel_is_counted) {
    skip_under_tools();
    space_take(1, 1);
    address_space_limit(CHUNK_BYTES / 2);
    struct chunk *chunk = space_take(1, 1);
    address_space_free();
    cr_assert_null(chunk);
    cr_assert_geq(counters_read(COUNTER_map_failures), 1u);
    cr_assert_eq(mapped(), 1u);
    expect_law();
}

Test(space_limits, free_pieces_are_given_up_to_make_room_for_a_larger_run) {
    skip_under_tools();
    struct chunk *run = space_take(8, 1);
    give_run(run, 3);
    give_run(neighbour(run, 4), 4);
    address_space_limit(CHUNK_BYTES / 2);
    struct chunk *six = space_take(6, 1);
    address_space_free();
    cr_assert_not_null(six);
    cr_assert_eq(mapped(), 7u);
    cr_assert_eq(counters_read(COUNTER_chunks_unmapped), 7u);
    expect_law();
}

static void *end_the_purge_later(void *arg) {
    struct chunk *chunk = arg;
    usleep(50000); /* as long as a purge of a few GiB */
    os_lock_acquire(&space_domain.lock);
    domain_end_purge_locked(&space_domain, chunk, chunk->busy, 0, chunk->busy);
    space_settle_locked(chunk);
    os_lock_release(&space_domain.lock);
    return NULL;
}

Test(space_limits, out_of_address_space_it_waits_for_a_purge_in_flight) {
    skip_under_tools();
    pthread_t purger;
    struct chunk *chunk = space_take(1, 1);
    give_dirty(chunk);
    domain_start_purge_locked(&space_domain, chunk, bits_low(CHUNK_GRANULES));
    space_settle_locked(chunk);
    cr_assert_eq(pthread_create(&purger, NULL, end_the_purge_later, chunk), 0);
    address_space_limit(CHUNK_BYTES - os_page_size()); /* enough to align another */
    struct chunk *got = space_take(1, 1);
    address_space_free();
    pthread_join(purger, NULL);
    cr_assert_not_null(got, "gave up while a purge was in flight");
}

/* Room for `n` more chunks that lie aligned where the next mapping is asked for, and for nothing else;
   one chunk header is left. */
static void leave_room_for(size_t n) {
    struct chunk *run = space_take(8, 8);
    char *base = run->base;
    give_run(run, 8);
    cr_assert_eq(space_unmap_free(), 8u);
    for (size_t i = 0; i < 7; i++) /* takes the headers, but one */
        cr_assert_not_null(chunk_create(base));
    cr_assert_not_null(space_take_at(base + 6 * CHUNK_BYTES, 1)); /* the next goes below this */
    space_forget(space_chunk_at(base + 6 * CHUNK_BYTES));
    exhaust_metadata();
    address_space_limit(n * CHUNK_BYTES);
}

Test(space_limits, without_memory_for_headers_nothing_stays_mapped) {
    skip_under_tools();
    leave_room_for(2);
    size_t before = address_space_bytes();
    struct chunk *two = space_take(2, 1), *one = space_take(1, 1);
    address_space_free();
    cr_assert_null(two);
    cr_assert_not_null(one);
    cr_assert_eq(address_space_bytes(), before + CHUNK_BYTES);
    cr_assert_eq(mapped(), 1u);
    cr_assert_eq(held(), 1u);
    expect_law();
}

Test(space_limits, without_memory_for_the_page_map_nothing_stays_mapped) {
    skip_under_tools();
    struct chunk *far = take_at_a_border();
    if (far == NULL)
        cr_skip_test("no border is free");
    char *farther = far->base + ((size_t)3 << 32); /* in a section without entries */
    exhaust_metadata();
    address_space_limit(CHUNK_BYTES);
    size_t before = address_space_bytes();
    struct chunk *refused = space_take_at(farther, 1);
    size_t after = address_space_bytes();
    address_space_free();
    cr_assert_null(refused);
    cr_assert_eq(after, before);
    cr_assert_eq(mapped(), 2u);
    expect_law();
}

/* --- fork --- */

Test(space_limits, in_a_forked_child_a_purge_of_the_parents_is_undone) {
    struct chunk *chunk = space_take(1, 1);
    give_dirty(chunk);
    domain_start_purge_locked(&space_domain, chunk, bits_low(7));
    space_settle_locked(chunk);
    space_lock_for_fork();
    pid_t child = fork();
    if (child == 0) {
        space_unlock_after_fork(true);
        cr_assert_eq(space_domain.busy, 0u);
        cr_assert_eq(space_domain.dirty, (size_t)CHUNK_GRANULES);
        cr_assert_eq(space_take(1, 1), chunk);
        expect_picture(chunk, "d");
        expect_law();
        leave_child(0);
    }
    space_unlock_after_fork(false);
    int status = -1;
    waitpid(child, &status, 0);
    cr_assert_eq(status, 0);
    cr_assert_eq(space_domain.busy, 7u);
    expect_picture(chunk, "bbbbbbbd");
}

/* --- threads --- */

static void *take_and_give(void *arg) {
    struct random r = {(uintptr_t)arg + 1};
    struct chunk *runs[4] = {NULL};
    size_t lengths[4] = {0};
    for (unsigned round = 0; round < ROUNDS; round++) {
        unsigned i = random_below(&r, ARRAY_COUNT(runs));
        if (runs[i] != NULL) {
            for (size_t k = 0; k < lengths[i]; k++)
                cr_assert_null(neighbour(runs[i], k)->domain);
            give_run(runs[i], lengths[i]);
            runs[i] = NULL;
        } else {
            lengths[i] = 1 + random_below(&r, 5);
            runs[i] = space_take(lengths[i], 1);
            cr_assert_not_null(runs[i]);
        }
        if (round % 64 == 0)
            space_unmap_free();
    }
    for (size_t i = 0; i < ARRAY_COUNT(runs); i++)
        if (runs[i] != NULL)
            give_run(runs[i], lengths[i]);
    return NULL;
}

Test(space_limits, threads_take_and_give_at_once) {
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, take_and_give, (void *)i), 0);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    cr_assert_eq(held(), 0u);
    cr_assert_eq(space_domain.chunks, mapped());
    expect_law();
}
