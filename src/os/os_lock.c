/* The cold half of the lock, and the order check of debug builds.

   The word is FREE, HELD (nobody waits) or CONTENDED (somebody may sleep on it). Whoever has slept
   takes the lock as CONTENDED, since it cannot know whether others still sleep; the release of a
   CONTENDED lock wakes one sleeper. Thus: a sleeper exists => the word is CONTENDED, or its holder is
   about to wake one.

   The order check keeps 8 bytes a thread: a bit for each rank held and the address of the last lock
   of a RANK_MANY. */
#include "os_lock.h"

#include <linux/futex.h>

#include "os_syscall.h"
#include "os_thread.h"

enum { OS_LOCK_SPINS = 100 };

static _Atomic unsigned os_lock_spins = OS_LOCK_SPINS;

void os_lock_tell_cpus(unsigned usable) {
    atomic_store_explicit(&os_lock_spins, usable > 1 ? OS_LOCK_SPINS : 0, memory_order_relaxed);
}

/* Critical sections are shorter than a sleep and a wake-up, so a short look first pays. */
static bool os_lock_spin(struct os_lock *lock) {
    for (unsigned left = atomic_load_explicit(&os_lock_spins, memory_order_relaxed); left > 0;
         left--) {
        uint32_t word = atomic_load_explicit(&lock->word, memory_order_relaxed);
        if (word == OS_LOCK_FREE && os_lock_take_if_free(lock))
            return true;
        if (word == OS_LOCK_CONTENDED)
            return false; /* others sleep already: queue up */
        os_thread_pause();
    }
    return false;
}

noinline_cold void os_lock_acquire_slow(struct os_lock *lock) {
#if FALLOW_LOCK_TIMES
    os_lock_times_note_wait(lock->rank);
#endif
    if (os_lock_spin(lock))
        return;
    while (atomic_exchange_explicit(&lock->word, OS_LOCK_CONTENDED, memory_order_acquire) !=
           OS_LOCK_FREE) {
        /* Returns at once (EAGAIN) if the word has changed; EINTR and spurious returns loop too. */
        os_syscall4(SYS_futex, (long)&lock->word, FUTEX_WAIT_PRIVATE, OS_LOCK_CONTENDED, 0);
    }
}

noinline_cold void os_lock_release_slow(struct os_lock *lock) {
    /* The memory may be gone by now; the kernel only compares the address. */
    os_syscall3(SYS_futex, (long)&lock->word, FUTEX_WAKE_PRIVATE, 1);
}

const char *os_lock_rank_name(enum os_lock_rank rank) {
    static const char *const names[] = {
        [RANK_none] = "none",
#define RANK(name, protects) [RANK_##name] = #name,
#define RANK_MANY            RANK
#include "lock_ranks.def"
#undef RANK
#undef RANK_MANY
    };
    return names[rank];
}

#if FALLOW_DEBUG

#include "fmt.h"
#include "os_log.h"

enum { ORDER_ADDRESS_BITS = 48 };

/* Top 16 bits: ranks held. Below: the last RANK_MANY lock taken. */
static __thread uint64_t order_state;

_Static_assert(RANK_COUNT <= 64 - ORDER_ADDRESS_BITS, "one bit for each rank");

static uint64_t order_rank_bit(unsigned rank) {
    return rank == RANK_none ? 0 : 1ULL << (ORDER_ADDRESS_BITS + rank);
}

static uint64_t order_address(const struct os_lock *lock) {
    return (uint64_t)lock & ((1ULL << ORDER_ADDRESS_BITS) - 1);
}

static bool order_rank_is_many(unsigned rank) {
    switch (rank) {
#define RANK(name, protects)
#define RANK_MANY(name, protects) case RANK_##name:
#include "lock_ranks.def"
#undef RANK
#undef RANK_MANY
        return true;
    default:
        return false;
    }
}

static _Noreturn noinline_cold void order_violated(unsigned rank) {
    char text[256];
    struct fmt f = fmt_start(text, sizeof text);
    fmt_str(&f, "fallow: lock order: ");
    fmt_str(&f, os_lock_rank_name(rank));
    fmt_str(&f, " taken while holding");
    for (unsigned held = RANK_none + 1; held < RANK_COUNT; held++) {
        if ((order_state & order_rank_bit(held)) == 0)
            continue;
        fmt_char(&f, ' ');
        fmt_str(&f, os_lock_rank_name(held));
    }
    fmt_char(&f, '\n');
    os_log(f.buf, f.len);
    os_abort();
}

void os_lock_order_enter(const struct os_lock *lock) {
    if (lock->rank == RANK_none)
        return;
    bool ascending =
        order_rank_is_many(lock->rank) && order_address(lock) > order_address((void *)order_state);
    uint64_t forbidden_from = order_rank_bit(lock->rank) << (ascending ? 1 : 0);
    if ((order_state >> ORDER_ADDRESS_BITS << ORDER_ADDRESS_BITS) >= forbidden_from)
        order_violated(lock->rank);
}

void os_lock_order_entered(const struct os_lock *lock) {
    order_state |= order_rank_bit(lock->rank);
    if (order_rank_is_many(lock->rank))
        order_state =
            (order_state >> ORDER_ADDRESS_BITS << ORDER_ADDRESS_BITS) | order_address(lock);
}

void os_lock_order_leave(const struct os_lock *lock) {
    order_state &= ~order_rank_bit(lock->rank);
}

#endif
