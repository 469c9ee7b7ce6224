/* Memory that a forked process has too: MADV_FREE would say yes there and free nothing. */
#include <signal.h>
#include <sys/wait.h>

#include "os_file.h"
#include "os_shared.h"
#include "purge_by_hand.h"

static void start_fork(void) {
    start_purge();
    arena_attach(false); /* a second heap: no small process */
}

TestSuite(purge_fork, .init = start_fork);

/* A child that has everything and does nothing. */
static pid_t fork_sleeper(void) {
    chunk_note_fork();
    pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    cr_assert_gt(child, 0);
    return child;
}

static void end_sleeper(pid_t child) {
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

Test(purge_fork, before_a_fork_memory_is_made_lazy) {
    struct chunk *chunk = chunk_like("ad");
    cr_assert_not(chunk_is_from_before_fork(chunk));
    purge_all(false);
    expect_picture(chunk, "a~.");
}

Test(purge_fork, shared_memory_is_given_back_instead) {
    struct chunk *chunk = chunk_like("add");
    pid_t child = fork_sleeper();
    cr_assert(chunk_is_from_before_fork(chunk));
    cr_assert_eq(purge_all(false), 2 * GRANULE_BYTES);
    expect_picture(chunk, "a.");
    cr_assert_eq(counters_read(COUNTER_shared_bytes), 2 * GRANULE_BYTES);
    cr_assert_eq(counters_read(COUNTER_lazy_advised_bytes), 0u);
    cr_assert(granule_is(chunk, 0, BYTE));
    end_sleeper(child);
}

Test(purge_fork, what_was_written_since_is_made_lazy) {
    skip_under_tools(); /* valgrind has no pagemap of the program */
    struct chunk *chunk = chunk_like("add");
    pid_t child = fork_sleeper();
    memset(chunk->base, BYTE, 3 * GRANULE_BYTES);
    purge_all(false);
    expect_picture(chunk, "a~~.");
    cr_assert_eq(counters_read(COUNTER_shared_bytes), 0u);
    end_sleeper(child);
}

Test(purge_fork, when_the_other_has_gone_memory_is_made_lazy_again) {
    skip_under_tools();
    struct chunk *chunk = chunk_like("add");
    end_sleeper(fork_sleeper());
    purge_all(false);
    expect_picture(chunk, "a~~.");
}

Test(purge_fork, a_chunk_made_after_the_fork_is_not_looked_at) {
    pid_t child = fork_sleeper();
    struct chunk *chunk = chunk_like("ad");
    cr_assert_not(chunk_is_from_before_fork(chunk));
    purge_all(false);
    expect_picture(chunk, "a~.");
    end_sleeper(child);
}

Test(purge_fork, a_small_process_does_not_look_and_gives_back) {
    atomic_store(&space_heaps, 1);
    struct chunk *chunk = chunk_like("ad");
    end_sleeper(fork_sleeper());
    purge_all(false);
    expect_picture(chunk, "a.");
}

Test(purge_fork, what_was_in_flight_at_the_fork_is_dirty_after_it) {
    struct chunk *chunk = chunk_like("ad");
    PURGE_BATCH_ON_STACK(batch);
    os_lock_acquire(&arena->domain.lock);
    purge_batch_add_locked(&batch, &arena->domain, chunk, chunk->dirty);
    os_lock_release(&arena->domain.lock);
    batch.forks = chunk_fork_count() - 1; /* as if it had been advised before the fork */
    batch.items[0].lazy = batch.items[0].taken;
    cr_assert_eq(purge_batch_settle(&batch, &arena->domain), 1u);
    expect_picture(chunk, "ad.");
}

/* --- what the kernel says of sharing --- */

Test(purge_fork, shared_until_written_or_the_other_gone) {
    skip_under_tools();
    int file = os_shared_open();
    cr_assert_geq(file, 0);
    struct chunk *chunk = chunk_like("aaaa");
    cr_assert_not(os_shared_is(file, chunk->base, CHUNK_BYTES));
    pid_t child = fork_sleeper();
    cr_assert(os_shared_is(file, chunk->base, CHUNK_BYTES));
    memset(chunk->base, BYTE, 2 * GRANULE_BYTES);
    cr_assert_not(os_shared_is(file, chunk->base, 2 * GRANULE_BYTES));
    cr_assert(os_shared_is(file, chunk->base + GRANULE_BYTES, 2 * GRANULE_BYTES));
    end_sleeper(child);
    cr_assert_not(os_shared_is(file, chunk->base, CHUNK_BYTES));
    os_file_close(file);
}

Test(purge_fork, what_cannot_be_read_counts_as_shared) {
    struct chunk *chunk = chunk_like("a");
    cr_assert(os_shared_is(-1, chunk->base, GRANULE_BYTES));
}
