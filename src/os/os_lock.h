/* A lock of one word that sleeps on a futex. Not recursive. In debug builds every acquisition is
   checked against lock_ranks.def; a lock of zeroes is a free lock without a rank, never checked.
   While the process has one thread it is taken and freed by plain stores. */
#pragma once

#include <stdatomic.h>

#include "os_assert.h"
#include "os_lock_times.h"
#include "os_thread.h"

enum os_lock_rank {
    RANK_none,
#define RANK(name, protects)      RANK_##name,
#define RANK_MANY(name, protects) RANK_##name,
#include "lock_ranks.def"
#undef RANK
#undef RANK_MANY
    RANK_COUNT
};

enum os_lock_word { OS_LOCK_FREE, OS_LOCK_HELD, OS_LOCK_CONTENDED };

struct os_lock {
    _Atomic uint32_t word; /* enum os_lock_word; acquire on taking it, release on freeing it */
    uint32_t rank;         /* constant after init */
#if FALLOW_LOCK_TIMES
    uint64_t since; /* os_lock_cycles() when it was taken; the holder's */
#endif
};

/* static struct os_lock lock = OS_LOCK_INIT(arena); */
#define OS_LOCK_INIT(rank_name) \
    { .rank = RANK_##rank_name }

static inline void os_lock_init(struct os_lock *lock, enum os_lock_rank rank) {
    atomic_init(&lock->word, OS_LOCK_FREE);
    lock->rank = rank;
}

void os_lock_acquire_slow(struct os_lock *lock);
void os_lock_release_slow(struct os_lock *lock);

#if FALLOW_DEBUG
void os_lock_order_enter(const struct os_lock *lock);
void os_lock_order_entered(const struct os_lock *lock);
void os_lock_order_leave(const struct os_lock *lock);
#else
static inline void os_lock_order_enter(const struct os_lock *lock) {
    (void)lock;
}
static inline void os_lock_order_entered(const struct os_lock *lock) {
    (void)lock;
}
static inline void os_lock_order_leave(const struct os_lock *lock) {
    (void)lock;
}
#endif

static inline void os_lock_begin(struct os_lock *lock) {
    os_lock_order_entered(lock);
#if FALLOW_LOCK_TIMES
    lock->since = os_lock_cycles();
#endif
}

static inline void os_lock_end(const struct os_lock *lock) {
    os_lock_order_leave(lock);
#if FALLOW_LOCK_TIMES
    os_lock_times_note(lock->rank, os_lock_cycles() - lock->since);
#endif
}

/* By anyone: a `_locked` function asserts it. */
static inline bool os_lock_is_held(struct os_lock *lock) {
    return atomic_load_explicit(&lock->word, memory_order_relaxed) != OS_LOCK_FREE;
}

static inline bool os_lock_take_if_free(struct os_lock *lock) {
    uint32_t free_word = OS_LOCK_FREE;
    if (os_thread_is_alone() && !os_lock_is_held(lock)) {
        atomic_store_explicit(&lock->word, OS_LOCK_HELD, memory_order_relaxed);
        return true;
    }
    return atomic_compare_exchange_strong_explicit(&lock->word, &free_word, OS_LOCK_HELD,
                                                   memory_order_acquire, memory_order_relaxed);
}

static inline void os_lock_acquire(struct os_lock *lock) {
    os_lock_order_enter(lock);
    if (unlikely(!os_lock_take_if_free(lock)))
        os_lock_acquire_slow(lock);
    os_lock_begin(lock);
}

/* Cannot deadlock, so it may be tried out of order. */
static inline bool os_lock_try(struct os_lock *lock) {
    if (!os_lock_take_if_free(lock))
        return false;
    os_lock_begin(lock);
    return true;
}

static inline void os_lock_release(struct os_lock *lock) {
    os_lock_end(lock);
    if (os_thread_is_alone()) {
        atomic_store_explicit(&lock->word, OS_LOCK_FREE, memory_order_release);
        return;
    }
    uint32_t was = atomic_exchange_explicit(&lock->word, OS_LOCK_FREE, memory_order_release);
    if (unlikely(was == OS_LOCK_CONTENDED))
        os_lock_release_slow(lock);
}

/* In a forked child, for a lock that the fork handler holds: free, and no waiter is left to wake. */
static inline void os_lock_reset(struct os_lock *lock) {
    os_lock_order_leave(lock);
    atomic_store_explicit(&lock->word, OS_LOCK_FREE, memory_order_relaxed);
}

/* How many CPUs this process may use: with one, waiting by spinning is pointless. Until told, a
   contended lock spins briefly. Any time, any thread. */
void os_lock_tell_cpus(unsigned usable);

/* "arena"; "none" for RANK_none. */
const char *os_lock_rank_name(enum os_lock_rank rank);
