/* Many ranges with few system calls: what the kernel agreed to of each, when the call is not made, and
   the second advice to what it may have missed. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "os_status.h"
#include "purge_by_hand.h"

enum { RUNS = 24 };

/* Free granules with ones in use between them, in a process that is not small. */
static struct chunk *chunk_with_runs(void) {
    char drawing[2 * RUNS + 2] = "";
    for (unsigned i = 0; i < RUNS; i++)
        strcat(drawing, "ad");
    strcat(drawing, "a");
    return chunk_like(drawing);
}

static void start_many(void) {
    start_purge();
    arena_attach(false); /* a second heap */
}

TestSuite(purge_many, .init = start_many);

static void skip_without_vectors(const struct chunk *chunk) {
    struct os_range range = {chunk->base, GRANULE_BYTES};
    if (!os_status_is_unfiltered())
        cr_skip_test("this process is in a sandbox already");
    if (os_advise_ranges(&range, 1, OS_ADVISE_FREE) != (long)GRANULE_BYTES)
        cr_skip_test("this kernel does not advise the own process by process_madvise");
    memset(chunk->base, BYTE, GRANULE_BYTES);
}

static void expect_each(const struct chunk *chunk, char odd) {
    char drawing[2 * RUNS + 3] = "";
    for (unsigned i = 0; i < RUNS; i++)
        strncat(strcat(drawing, "a"), &odd, 1);
    expect_picture(chunk, strcat(drawing, "a."));
}

Test(purge_many, one_call_makes_them_lazy_and_one_gives_them_back) {
    struct chunk *chunk = chunk_with_runs();
    skip_without_vectors(chunk);
    cr_assert_eq(purge_all(false), RUNS * GRANULE_BYTES);
    expect_each(chunk, '~');
    cr_assert_eq(counters_read(COUNTER_lazy_advise_calls), 1u);
    cr_assert_eq(counters_read(COUNTER_lazy_advised_bytes), RUNS * GRANULE_BYTES);
    cr_assert_eq(counters_read(COUNTER_vector_calls), 1u);
    cr_assert_eq(purge_all(true), RUNS * GRANULE_BYTES);
    expect_each(chunk, '.');
    cr_assert_eq(counters_read(COUNTER_clean_advise_calls), 1u);
    cr_assert_eq(counters_read(COUNTER_vector_calls), 2u);
    for (unsigned i = 0; i <= 2 * RUNS; i++)
        cr_assert(granule_is(chunk, i, i % 2 == 0 ? BYTE : 0), "granule %u", i);
    expect_law();
}

Test(purge_many, a_range_that_is_refused_stops_no_other) {
    struct chunk *chunk = chunk_with_runs();
    skip_without_vectors(chunk);
    lock_granule(chunk, 1);
    lock_granule(chunk, 21);
    cr_assert_eq(purge_all(false), (RUNS - 2) * GRANULE_BYTES);
    cr_assert_eq(bits_count(chunk->dirty), 2u);
    cr_assert_eq(chunk->dirty, (bits_t)1 << 1 | (bits_t)1 << 21);
    cr_assert_eq(counters_read(COUNTER_lazy_advise_calls), 2u); /* 3 to 19, 23 to the end */
    cr_assert_eq(counters_read(COUNTER_lazy_refused), 2u);
    cr_assert_eq(counters_read(COUNTER_clean_refused), 2u);
    cr_assert(granule_is(chunk, 1, BYTE));
    cr_assert(granule_is(chunk, 21, BYTE));
    expect_law();
}

Test(purge_many, a_few_ranges_are_advised_one_by_one) {
    chunk_like("adadad");
    purge_all(false);
    cr_assert_eq(counters_read(COUNTER_lazy_advise_calls), 3u);
    cr_assert_eq(counters_read(COUNTER_vector_calls), 0u);
}

Test(purge_many, a_small_process_makes_no_such_call) {
    atomic_store(&space_heaps, 1);
    chunk_with_runs();
    purge_all(false);
    cr_assert_eq(counters_read(COUNTER_lazy_advise_calls), (uint64_t)RUNS);
    cr_assert_eq(counters_read(COUNTER_vector_calls), 0u);
}

/* Whatever is neither of the ordinary calls nor openat and its like ends the process. */
static void enter_sandbox(void) {
    static const unsigned allowed[] = {SYS_madvise,    SYS_mmap,  SYS_munmap,
                                       SYS_openat,     SYS_read,  SYS_close,
                                       SYS_exit_group, SYS_write, SYS_futex};
    struct sock_filter program[2 * ARRAY_COUNT(allowed) + 2];
    size_t n = 0;
    program[n++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < ARRAY_COUNT(allowed); i++) {
        program[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, allowed[i], 0, 1);
        program[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }
    program[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    struct sock_fprog filter = {.len = (unsigned short)n, .filter = program};
    cr_assert_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    cr_assert_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), 0);
}

Test(purge_many, a_process_in_a_sandbox_makes_no_such_call) {
    skip_under_tools();
    struct chunk *chunk = chunk_with_runs();
    pid_t child = fork();
    if (child == 0) {
        enter_sandbox();
        purge_all(false);
        purge_all(true);
        syscall(SYS_exit_group, chunk->dirty == 0 && chunk->lazy == 0 ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %#x", (unsigned)status);
}

/* --- a second time --- */

Test(purge_many, what_became_lazy_is_advised_once_more) {
    struct chunk *chunk = chunk_like("adda");
    poll_after(0);
    poll_after(EPOCH);
    expect_picture(chunk, "a~~a.");
    cr_assert_eq(bits_count(chunk->once), 2u);
    now = chunk->once_since_ns; /* the real time */
    poll_after(2 * EPOCH - 1);
    cr_assert_eq(counters_read(COUNTER_lazy_again_bytes), 0u);
    poll_after(EPOCH);
    expect_picture(chunk, "a~~a.");
    cr_assert_eq(chunk->once, (bits_t)0);
    cr_assert_eq(counters_read(COUNTER_lazy_again_bytes), 2 * GRANULE_BYTES);
    for (unsigned i = 0; i < 5; i++)
        poll_after(EPOCH);
    cr_assert_eq(counters_read(COUNTER_lazy_again_bytes), 2 * GRANULE_BYTES);
    cr_assert_eq(counters_read(COUNTER_lazy_advised_bytes), 2 * GRANULE_BYTES);
}

Test(purge_many, what_was_taken_meanwhile_is_not) {
    struct chunk *chunk = chunk_like("adda");
    purge_all(false);
    cr_assert(arena_take_at(chunk, 1, 2));
    cr_assert_eq(chunk->once, (bits_t)0);
    for (unsigned i = 0; i < 5; i++)
        poll_after(EPOCH);
    cr_assert_eq(counters_read(COUNTER_lazy_again_bytes), 0u);
}

Test(purge_many, with_one_heap_there_is_no_second_time) {
    atomic_store(&space_heaps, 1);
    struct chunk *chunk = chunk_like("adda");
    purge_all(false);
    cr_assert_eq(chunk->once, (bits_t)0);
}
