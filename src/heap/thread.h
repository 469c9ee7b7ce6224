/* Which heap a thread uses. Each thread has its own from its first call to its end; before the
   library's constructor has run, and after a thread's last destructor, calls are served by a shared
   heap under a lock. The one used before the constructor becomes the main thread's own. */
#pragma once

#include "heap.h"

struct thread_self {
    struct heap *heap; /* NULL in a thread that has none yet, or none any more */
    /* Its heap's cache, by its distance from cache_none: so zero, which it is as long as nobody has written
       it (and before the loader has filled in initial values), means that one. */
    ptrdiff_t cache;
    /* The slab that it last freed into, or is just freeing into: see holes.h. */
    _Atomic(struct extent *) mark;
};

extern __thread struct thread_self thread_self __attribute__((__tls_model__("initial-exec")));

/* The caller's, or cache_none. */
static always_inline struct cache *thread_cache(void) {
    return (struct cache *)(void *)((uintptr_t)&cache_none + (uintptr_t)thread_self.cache);
}

/* Before the thread looks whether it owns `slab`, to free into it. */
static always_inline void thread_mark(struct extent *slab) {
    atomic_store_explicit(&thread_self.mark, slab, memory_order_release);
    atomic_signal_fence(memory_order_seq_cst);
}

/* The rest of the two functions below: of a thread without a heap, and of a shared heap. */
struct heap *thread_enter_without(void);
void thread_leave_shared(void);

/* The heap the calling thread may use now: its own, or a shared one, with its lock held until
   thread_leave(). NULL only when out of memory. */
static inline struct heap *thread_enter(void) {
    struct heap *heap = thread_self.heap;
    return likely(heap != NULL) ? heap : thread_enter_without();
}

static inline void thread_leave(struct heap *heap) {
    if (unlikely(heap->shared))
        thread_leave_shared();
}

/* From the library's constructor: threads may have heaps of their own from now on. */
void thread_start(void);

/* Gives back the warm blocks that other threads do not use: the main thread's and those of so many
   others, in turn. With no lock held. */
void thread_drain(uint64_t now_ns, size_t threads);

/* Whether any thread has some. */
bool thread_has_warm(void);

/* Calls visit(heap) for the main thread's heap and those of so many others, in turn, under the lock of the
   list. */
void thread_visit(void (*visit)(struct heap *heap), size_t threads);

/* Threads that have heaps, but for the main one. */
size_t thread_count(void);

/* Objects of each class in the caches of all threads, roughly: they are in use by the account of their slabs. */
void thread_cached_objects(size_t counts[CLASS_COUNT]);

/* Gives back the warm blocks of all threads. */
void thread_flush_warm(void);

/* Bytes of them. Under the lock that thread_lock_list() takes, and those of all domains: then they are
   part of what is in use there. */
void thread_lock_list(void);
void thread_unlock_list(void);
size_t thread_warm_bytes_locked(void);

void thread_lock_for_fork(void);
void thread_unlock_after_fork(bool child);
