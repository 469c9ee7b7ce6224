/* A thread without libc: it runs, on its own stack, with its own thread-local variables, all signals
   blocked, and says when it has gone. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../environment.h"
#include "os_clone.h"
#include "os_file.h"
#include "os_thread.h"

static struct os_clone clone_memory;
static __thread int mine = 7;
static _Atomic int seen_mine, seen_id;
static char status[4096], name[32];

static void look(void) {
    os_clone_set_name("fallow-test");
    atomic_store(&seen_mine, mine);
    mine = 9;
    os_file_read_all("/proc/thread-self/status", status, sizeof status);
    os_file_read_all("/proc/thread-self/comm", name, sizeof name);
    atomic_store(&seen_id, (int)os_thread_id());
}

static void wait_for_end(void) {
    while (atomic_load(&clone_memory.thread_id) != 0)
        os_thread_nap();
}

static void skip_where_threads_are_watched(void) {
    if (FALLOW_TSAN)
        cr_skip_test("the thread sanitizer has to know of every thread");
}

Test(clone, runs_apart_and_ends) {
    skip_where_threads_are_watched();
    for (int i = 0; i < 20; i++) {
        atomic_store(&seen_mine, -1);
        long id = os_clone_start(&clone_memory, look, &mine);
        cr_assert_gt(id, 0);
        cr_assert_not(os_thread_is_alone(), "libc does not know, but this library has to");
        wait_for_end();
        cr_assert_eq(atomic_load(&seen_mine), 0); /* not this thread's 7, nor the last one's 9 */
        cr_assert_eq(mine, 7);
        cr_assert_eq(atomic_load(&seen_id), (int)id);
        cr_assert_str_eq(name, "fallow-test\n");
    }
}

Test(clone, blocks_all_signals_there_and_none_here) {
    skip_where_threads_are_watched();
    skip_under_tools(); /* valgrind keeps some for itself */
    cr_assert_gt(os_clone_start(&clone_memory, look, &mine), 0);
    wait_for_end();
    const char *blocked = strstr(status, "\nSigBlk:\t");
    cr_assert_not_null(blocked);
    /* KILL and STOP cannot be */
    cr_assert_eq(strtoull(blocked + 9, NULL, 16), ~((1ULL << 8) | (1ULL << 18)));
    os_file_read_all("/proc/thread-self/status", status, sizeof status);
    cr_assert_not_null(strstr(status, "\nSigBlk:\t0000000000000000"));
}

Test(clone, thread_local_memory_out_of_reach_is_refused) {
    skip_where_threads_are_watched();
    static int far;
    cr_assert_eq(os_clone_start(&clone_memory, look, &far), -ENOSPC);
    cr_assert_eq(atomic_load(&clone_memory.thread_id), 0);
}
