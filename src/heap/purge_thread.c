/* The life of the purge thread. It is no thread of libc's (os_clone.h): libc may call free with its own
   locks held, and a thread that libc counts would keep a process alive whose main thread has left by
   pthread_exit().

   Who frees memory and who is about to sleep or end must not miss each other: the thread publishes when
   it will look next (`due_ns`), then looks once more; the other side frees, then reads `due_ns`.

   Starting a thread, naming it and waiting are calls that a sandbox may kill for, so it is started only
   where the caller certainly has no seccomp filter (docs/decisions/0007). */
#include "purge_thread.h"

#include "arena.h"
#include "cache_drain.h"
#include "chaos.h"
#include "compiler.h"
#include "counters.h"
#include "holes.h"
#include "options.h"
#include "os_clock.h"
#include "os_clone.h"
#include "os_memcheck.h"
#include "os_status.h"
#include "os_thread.h"
#include "purge.h"
#include "space.h"
#include "thread.h"

enum {
    PURGE_THREAD_ITEMS = 256,
    PURGE_THREAD_IDLE_LOOKS = 20, /* with nothing to do, before it ends: a second */
    PURGE_THREAD_YIELDS = 1000,   /* waiting for one to end */
    PURGE_THREAD_ALONE = 8,       /* answers that there is no other thread, before it pauses */
};

/* How often it looks while it knows of nothing, and how far ahead "soon" is. */
static const uint64_t purge_thread_look_ns = 50000000;

/* The longest sleep: the process may have one thread again meanwhile. */
static const uint64_t purge_thread_nap_ns = 1000000000;

/* Where no thread could be started, it is tried again after this long. Where there was no other thread
   yet, the first times at once, then after a pause that doubles: the first slow call of a process with
   threads is often one of pthread_create()'s own, and the program may sleep soon after. */
static const uint64_t purge_thread_retry_ns = 1000000000;
static const uint64_t purge_thread_alone_ns = 1000000;

static const uint64_t purge_thread_ending = UINT64_MAX;

_Atomic bool purge_thread_looks_soon;

static struct os_clone purge_clone;
static _Atomic bool purge_thread_starting;   /* by one thread at a time */
static _Atomic uint64_t purge_thread_due_ns; /* when it looks next, or purge_thread_ending */
static _Atomic uint32_t purge_thread_word;   /* futex: 1 wakes it */
static _Atomic uint64_t purge_thread_try_ns; /* not started before this time */
static _Atomic unsigned purge_thread_alone;  /* times in a row that there was no other thread */
static _Atomic long purge_thread_process_id; /* 0: not asked yet */

/* The thread's own. */
static struct purge_item purge_thread_items[PURGE_THREAD_ITEMS];
static struct purge_run purge_thread_runs[OS_RANGES_MAX];
static struct os_range purge_thread_ranges[OS_RANGES_MAX];

/* As far as one can tell without a system call. Under memcheck each call of the allocator is a slow one. */
static bool purge_thread_may_be_wanted(void) {
    if (options.purge == PURGE_NEVER || options.purge_thread == PURGE_THREAD_NEVER ||
        os_memcheck_is_on())
        return false;
    return options.purge_thread == PURGE_THREAD_ALWAYS || !os_thread_is_single();
}

/* Whether the process has so many threads, or shall not be asked. */
static bool purge_thread_has_company(unsigned threads) {
    return options.purge_thread == PURGE_THREAD_ALWAYS || os_status_threads() >= threads;
}

/* --- in the thread --- */

static void purge_thread_look(struct purge_batch *batch, uint64_t now_ns) {
    thread_drain(now_ns, SIZE_MAX);
    for (unsigned i = 0; i < arena_count(); i++)
        purge_poll_with(batch, &arena_at(i)->domain, now_ns);
    purge_poll_with(batch, &space_domain, now_ns);
    purge_to_bounds(batch, now_ns);
    cache_drain_poll(now_ns);
    holes_poll(batch, NULL, now_ns);
    chaos_pageout();
}

static uint64_t purge_thread_next_ns(uint64_t now_ns) {
    uint64_t due_ns = thread_has_warm() ? now_ns + purge_thread_look_ns : UINT64_MAX;
    for (unsigned i = 0; i < arena_count(); i++)
        due_ns = min_u64(due_ns, purge_due_ns(&arena_at(i)->domain, now_ns));
    uint64_t holes_ns = min_u64(holes_due_ns(), cache_drain_due_ns());
    if (holes_ns != UINT64_MAX)
        due_ns = min_u64(due_ns, max_u64(holes_ns, now_ns + 1000000));
    return min_u64(due_ns, purge_due_ns(&space_domain, now_ns));
}

static void purge_thread_publish(uint64_t due_ns, uint64_t now_ns) {
    bool soon = due_ns <= now_ns + 2 * purge_thread_look_ns;
    atomic_store(&purge_thread_due_ns, due_ns);
    atomic_store(&purge_thread_looks_soon, soon);
}

/* Not when the process has become another user's: it ends, and so that nothing is left undone if nobody
   calls the allocator after it, it gives back all there is. */
static bool purge_thread_may_stay(void) {
    if (os_status_has_process_credentials())
        return true;
    thread_flush_warm();
    purge_all(true);
    return false;
}

/* Until it is due, which is looked at once more: what was freed before it was published is seen here,
   what is freed later wakes it. */
static void purge_thread_sleep(uint64_t now_ns) {
    uint64_t due_ns = min_u64(atomic_load(&purge_thread_due_ns), purge_thread_next_ns(now_ns));
    due_ns = min_u64(due_ns, now_ns + purge_thread_nap_ns);
    os_thread_wait(&purge_thread_word, 0, due_ns > now_ns ? due_ns - now_ns : 0);
    atomic_store(&purge_thread_word, 0);
}

static void purge_thread_body(void) {
    struct purge_batch batch = {
        .max_items = PURGE_THREAD_ITEMS,
        .max_runs = OS_RANGES_MAX,
        .items = purge_thread_items,
        .runs = purge_thread_runs,
        .ranges = purge_thread_ranges,
    };
    unsigned idle_looks = 0;
    uint64_t asked_ns = os_clock_coarse_ns();
    bool wanted = true;
    os_clone_set_name("fallow-purge");
    for (;;) {
        uint64_t now_ns = os_clock_coarse_ns();
        purge_thread_look(&batch, now_ns);
        uint64_t due_ns = purge_thread_next_ns(now_ns);
        if (now_ns - asked_ns >= purge_thread_nap_ns) {
            wanted = purge_thread_has_company(3) && purge_thread_may_stay();
            asked_ns = now_ns;
        }
        idle_looks = due_ns == UINT64_MAX ? idle_looks + 1 : 0;
        if (!wanted || idle_looks >= PURGE_THREAD_IDLE_LOOKS) {
            purge_thread_publish(purge_thread_ending, now_ns);
            if (!wanted || purge_thread_next_ns(now_ns) == UINT64_MAX)
                return;
        }
        purge_thread_publish(due_ns == UINT64_MAX ? now_ns + purge_thread_look_ns : due_ns, now_ns);
        purge_thread_sleep(now_ns);
    }
}

/* --- in other threads --- */

/* How long what is freed now can wait for the thread. Where dirty memory is purged at once, its owners see
   to that, and the thread has the second stage only: to wake it at every free would cost more than the purge. */
static uint64_t purge_thread_patience_ns(void) {
    if (options.dirty_decay_ms != 0)
        return 2 * purge_thread_look_ns;
    return options.lazy_decay_ms < 0
               ? UINT64_MAX / 2
               : max_u64((uint64_t)options.lazy_decay_ms * 1000000, 2 * purge_thread_look_ns);
}

/* Whether something came up since somebody was told so: waking the thread at every call that may have
   left something would be dearer than what it has to do. */
static bool purge_thread_take_news(void) {
    return atomic_load(&domain_news) && atomic_exchange(&domain_news, false);
}

/* The same for too much memory, which it may not be able to purge: not more often than it would look. */
static bool purge_thread_is_over(uint64_t now_ns) {
    static _Atomic uint64_t next_ns;
    if (!purge_is_over() || now_ns < atomic_load_explicit(&next_ns, memory_order_relaxed))
        return false;
    atomic_store_explicit(&next_ns, now_ns + purge_thread_look_ns / 5, memory_order_relaxed);
    return true;
}

/* Whether there is anything for a thread to do. */
static bool purge_thread_has_work(void) {
    unsigned pending = atomic_load_explicit(&space_domain.pending, memory_order_relaxed);
    for (unsigned i = 0; i < arena_count(); i++)
        pending |= atomic_load_explicit(&arena_at(i)->domain.pending, memory_order_relaxed);
    return pending != 0 || atomic_load(&domain_news) || holes_due_ns() != UINT64_MAX ||
           cache_drain_due_ns() != UINT64_MAX || purge_is_over();
}

/* It sleeps for longer than what there is to purge now can wait. */
static void purge_thread_wake(uint64_t due_ns, uint64_t now_ns) {
    if (atomic_compare_exchange_strong(&purge_thread_due_ns, &due_ns, now_ns)) {
        atomic_store(&purge_thread_word, 1);
        os_thread_wake(&purge_thread_word);
    }
}

/* Not so in the child of a vfork, which shares this memory but is a process of its own. */
static bool purge_thread_is_at_home(void) {
    long id = os_process_id(), none = 0;
    return atomic_compare_exchange_strong(&purge_thread_process_id, &none, id) || none == id;
}

static uint64_t purge_thread_pause_ns(unsigned alone) {
    if (alone < PURGE_THREAD_ALONE)
        return 0;
    unsigned doublings = alone - PURGE_THREAD_ALONE;
    return doublings < 10 ? purge_thread_alone_ns << doublings : purge_thread_retry_ns;
}

static bool purge_thread_start(uint64_t now_ns) {
    if (now_ns < atomic_load_explicit(&purge_thread_try_ns, memory_order_relaxed) ||
        atomic_exchange(&purge_thread_starting, true))
        return false;
    bool started = atomic_load(&purge_clone.thread_id) != 0; /* by another thread, just now */
    uint64_t pause_ns = purge_thread_retry_ns;
    if (!started && purge_thread_is_at_home() && os_status_is_unfiltered()) {
        if (!purge_thread_has_company(2)) {
            pause_ns = purge_thread_pause_ns(atomic_fetch_add(&purge_thread_alone, 1));
        } else {
            purge_thread_publish(now_ns, now_ns);
            started = os_clone_start(&purge_clone, purge_thread_body, &thread_self.heap) > 0;
            if (started)
                counters_add(COUNTER_purge_threads, 1);
        }
    }
    if (!started) {
        atomic_store(&purge_thread_looks_soon, false);
        atomic_store(&purge_thread_try_ns, now_ns + pause_ns);
    }
    atomic_store(&purge_thread_starting, false);
    return started;
}

bool purge_thread_tend(uint64_t now_ns) {
    for (unsigned tries = 0; atomic_load(&purge_clone.thread_id) != 0; tries++) {
        uint64_t due_ns = atomic_load(&purge_thread_due_ns);
        if (due_ns != purge_thread_ending) {
            bool late = due_ns > now_ns + purge_thread_patience_ns();
            if ((late && purge_thread_take_news()) ||
                (due_ns > now_ns && purge_thread_is_over(now_ns)))
                purge_thread_wake(due_ns, now_ns);
            return true;
        }
        if (tries == PURGE_THREAD_YIELDS)
            return false;
        os_thread_yield();
    }
    return purge_thread_may_be_wanted() && purge_thread_has_work() && purge_thread_start(now_ns);
}

void purge_thread_note_warm(void) {
    atomic_store(&domain_news, true);
}

void purge_thread_reconsider(void) {
    atomic_store_explicit(&purge_thread_alone, 0, memory_order_relaxed);
    atomic_store_explicit(&purge_thread_try_ns, 0, memory_order_relaxed);
}

void purge_thread_after_fork(void) {
    atomic_store(&purge_thread_process_id, 0);
    atomic_store(&purge_thread_alone, 0);
    atomic_store(&domain_news, true);
    atomic_store(&purge_clone.thread_id, 0);
    atomic_store(&purge_thread_starting, false);
    atomic_store(&purge_thread_looks_soon, false);
    atomic_store(&purge_thread_due_ns, 0);
    atomic_store(&purge_thread_word, 0);
    atomic_store(&purge_thread_try_ns, 0);
}
