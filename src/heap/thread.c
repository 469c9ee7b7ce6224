/* Birth and death of thread heaps. Heaps of ended threads wait in heap_spares for the next thread,
   empty: what they held was left to others. The end of a thread is noticed through a pthread key,
   whose destructor asks to be called again as long as the standard allows, so that other keys'
   destructors still find the thread's heap. Everything else a dying thread does is served by
   heap_late. A heap that was born so late that its thread's end went unnoticed is found by asking
   the kernel for the thread, when a new heap would have to be made. */
#include "thread.h"

#include <limits.h>
#include <pthread.h>

#include "cache_fill.h"
#include "counters.h"
#include "large.h"
#include "metadata.h"
#include "os_memcheck.h"
#include "os_thread.h"
#include "outline.h"
#include "purge_thread.h"
#include "space.h"

__thread struct thread_self thread_self __attribute__((__tls_model__("initial-exec")));
static __thread unsigned char thread_rounds __attribute__((__tls_model__("initial-exec")));

enum { THREAD_RETIRED = 0xff }; /* thread_rounds: this thread's heap is gone for good */

/* Calls of thread_end() for one thread. ThreadSanitizer takes its own state down in the last round, and
   a heap may be born in the first. */
#ifdef __SANITIZE_THREAD__
enum { THREAD_ROUNDS = PTHREAD_DESTRUCTOR_ITERATIONS - 2 };
#else
enum { THREAD_ROUNDS = PTHREAD_DESTRUCTOR_ITERATIONS };
#endif

enum { THREAD_ASKS = 4 }; /* heaps in use whose threads are asked for before a new one is made */

static struct os_lock shared_heap_lock = OS_LOCK_INIT(shared_heap);
static struct heap heap_boot, heap_late; /* under shared_heap_lock; the first until thread_start */
static _Atomic bool thread_started;      /* changes under shared_heap_lock */
static bool thread_key_made;
static bool thread_main_is_gone; /* in the child of another thread's fork; under heap_list_lock */
static pthread_key_t thread_key;

static struct os_lock heap_list_lock = OS_LOCK_INIT(heap_list);
static struct list_node heap_spares = LIST_HEAD_INIT(heap_spares);
static struct list_node heap_used = LIST_HEAD_INIT(heap_used); /* but for the two shared ones */
static _Atomic unsigned thread_heaps; /* in heap_used; changes under heap_list_lock */

/* For readers outside, who can follow a list that only grows: every heap that a thread of this process has or had. Grows
   under heap_list_lock; begins anew in a child after fork. */
static _Atomic(struct heap *) thread_newest;
static unsigned thread_generation = 1; /* under heap_list_lock */

const struct outline_heaps thread_outline = {
    .newest = &thread_newest,
    .next = offsetof(struct heap, older),
    .warm_granules = offsetof(struct heap, warm.granules),
    .cache_top = offsetof(struct heap, cache.top),
    .cache_limit = offsetof(struct heap, cache.limit),
    .cache_slots = offsetof(struct heap, cache.slots),
    .cache_bins = CACHE_BINS,
    .cache_bin_slots = 1 + CACHE_SLOTS,
    .cache_drained = (uint64_t)CACHE_DRAINED,
};

static void heap_enter_outline_locked(struct heap *heap) {
    if (heap->listed == thread_generation)
        return;
    heap->listed = thread_generation;
    heap->older = atomic_load_explicit(&thread_newest, memory_order_relaxed);
    atomic_store_explicit(&thread_newest, heap, memory_order_release);
}

static void thread_end(void *value);

/* Under memcheck the cache stays closed, so that each call is a slow one. */
static void thread_adopt(struct heap *heap) {
    bool cached = heap != NULL && !os_memcheck_is_on();
    uintptr_t cache = (uintptr_t)(cached ? &heap->cache : &cache_none);
    thread_self.heap = heap;
    thread_self.cache = (ptrdiff_t)(cache - (uintptr_t)&cache_none);
}

static void heap_enter_used_locked(struct heap *heap) {
    list_push_back(&heap_used, &heap->node);
    atomic_fetch_add_explicit(&thread_heaps, 1, memory_order_relaxed);
}

static void heap_leave_used_locked(struct heap *heap) {
    if (!list_is_empty(&heap->node)) {
        list_remove(&heap->node);
        atomic_fetch_sub_explicit(&thread_heaps, 1, memory_order_relaxed);
    }
}

/* An empty heap waits for a thread. */
static void heap_put_spare(struct heap *heap) {
    os_lock_acquire(&heap_list_lock);
    heap_leave_used_locked(heap);
    list_push_front(&heap_spares, &heap->node);
    os_lock_release(&heap_list_lock);
}

/* A heap in use whose thread has ended; it is in no list then. Heaps that were born in another process
   (in the child of a vfork, which shares this memory) are not judged. */
static struct heap *heap_find_left_locked(void) {
    long process_id = os_process_id();
    for (unsigned i = 0; i < THREAD_ASKS && !list_is_empty(&heap_used); i++) {
        struct heap *heap = LIST_ENTRY(heap_used.next, struct heap, node);
        list_remove(&heap->node);
        if (heap->process_id == process_id && !os_thread_exists(process_id, heap->thread_id)) {
            atomic_fetch_sub_explicit(&thread_heaps, 1, memory_order_relaxed);
            return heap;
        }
        list_push_back(&heap_used, &heap->node);
    }
    return NULL;
}

static struct heap *heap_get(void) {
    struct heap *left = NULL;
    os_lock_acquire(&heap_list_lock);
    struct heap *heap = NULL;
    if (!list_is_empty(&heap_spares)) {
        heap = LIST_ENTRY(heap_spares.next, struct heap, node);
        list_remove(&heap->node);
    } else {
        heap = left = heap_find_left_locked();
    }
    os_lock_release(&heap_list_lock);
    if (left != NULL) {
        left->mark = &thread_self.mark; /* its own is gone */
        os_memcheck_mute();
        cache_flush(left);
        heap_retire(left);
        os_memcheck_unmute();
        arena_detach(left->arena);
    }
    if (heap != NULL) {
        counters_add(COUNTER_heaps_reused, 1);
        return heap;
    }
    heap = metadata_alloc(sizeof *heap);
    if (heap != NULL) {
        list_init(&heap->node);
        counters_add(COUNTER_heaps_created, 1);
    }
    return heap;
}

/* A heap of its own for the calling thread, or NULL: the shared one will do. */
static struct heap *thread_birth(void) {
    if (!thread_key_made)
        return NULL;
    struct heap *heap = heap_get();
    if (heap == NULL)
        return NULL;
    struct arena *arena = arena_attach(false);
    if (arena == NULL) {
        heap_put_spare(heap);
        return NULL;
    }
    heap_init(heap, arena, false);
    heap->process_id = os_process_id();
    heap->thread_id = os_thread_id();
    heap->mark = &thread_self.mark;
    os_lock_acquire(&heap_list_lock);
    heap_enter_used_locked(heap);
    heap_enter_outline_locked(heap);
    os_lock_release(&heap_list_lock);
    thread_adopt(heap);
    purge_thread_reconsider();
    /* May allocate; the heap is in place. Should it fail, the thread's end goes unnoticed. */
    pthread_setspecific(thread_key, heap);
    return heap;
}

/* The shared heap in use now, ready. Under shared_heap_lock. */
static struct heap *thread_shared_locked(void) {
    bool started = atomic_load_explicit(&thread_started, memory_order_relaxed);
    struct heap *heap = started ? &heap_late : &heap_boot;
    if (heap->arena == NULL) {
        if (space_domain.dirty_chunks.next == NULL)
            space_init();
        struct arena *arena = arena_attach(true);
        if (arena == NULL)
            return NULL;
        heap_init(heap, arena, true);
        list_init(&heap->node);
        counters_add(COUNTER_heaps_created, 1);
    }
    return heap;
}

noinline_cold struct heap *thread_enter_without(void) {
    struct heap *heap;
    if (atomic_load_explicit(&thread_started, memory_order_acquire) &&
        thread_rounds != THREAD_RETIRED && (heap = thread_birth()) != NULL)
        return heap;
    os_lock_acquire(&shared_heap_lock);
    heap = thread_shared_locked();
    if (heap == NULL)
        os_lock_release(&shared_heap_lock);
    return heap;
}

noinline_cold void thread_leave_shared(void) {
    os_lock_release(&shared_heap_lock);
}

void thread_start(void) {
    thread_key_made = pthread_key_create(&thread_key, thread_end) == 0;
    os_lock_acquire(&shared_heap_lock);
    if (thread_key_made && thread_shared_locked() != NULL && thread_self.heap == NULL) {
        heap_boot.shared = false;
        heap_boot.mark = &thread_self.mark;
        cache_init(&heap_boot.cache);
        os_lock_acquire(&heap_list_lock);
        heap_enter_outline_locked(&heap_boot);
        os_lock_release(&heap_list_lock);
        thread_adopt(&heap_boot);
    }
    atomic_store_explicit(&thread_started, true, memory_order_release);
    os_lock_release(&shared_heap_lock);
    if (thread_self.heap == &heap_boot)
        pthread_setspecific(thread_key, thread_self.heap);
}

static void thread_end(void *value) {
    struct heap *heap = value;
    if (++thread_rounds < THREAD_ROUNDS && pthread_setspecific(thread_key, heap) == 0)
        return;
    thread_rounds = THREAD_RETIRED;
    thread_adopt(NULL);
    os_memcheck_mute();
    cache_flush(heap);
    heap_retire(heap);
    os_memcheck_unmute();
    arena_detach(heap->arena);
    heap_put_spare(heap);
}

/* The main thread's heap, which is in no list until that thread ends, or NULL. */
static struct heap *thread_main_heap_locked(void) {
    return atomic_load_explicit(&thread_started, memory_order_acquire) && !heap_boot.shared &&
                   heap_boot.arena != NULL && !thread_main_is_gone && list_is_empty(&heap_boot.node)
               ? &heap_boot
               : NULL;
}

/* The used heap that has waited for longest, now the last of the list. */
static struct heap *thread_turn_locked(void) {
    struct heap *heap = LIST_ENTRY(heap_used.next, struct heap, node);
    list_remove(&heap->node);
    list_push_back(&heap_used, &heap->node);
    return heap;
}

void thread_drain(uint64_t now_ns, size_t threads) {
    os_lock_acquire(&heap_list_lock);
    struct heap *main_heap = thread_main_heap_locked();
    if (main_heap != NULL)
        large_drain(main_heap, now_ns);
    threads = min_size(threads, thread_heaps);
    for (size_t i = 0; i < threads; i++)
        large_drain(thread_turn_locked(), now_ns);
    os_lock_release(&heap_list_lock);
}

void thread_visit(void (*visit)(struct heap *heap), size_t threads) {
    os_lock_acquire(&heap_list_lock);
    struct heap *main_heap = thread_main_heap_locked();
    if (main_heap != NULL)
        visit(main_heap);
    threads = min_size(threads, thread_heaps);
    for (size_t i = 0; i < threads; i++)
        visit(thread_turn_locked());
    os_lock_release(&heap_list_lock);
}

size_t thread_count(void) {
    return atomic_load_explicit(&thread_heaps, memory_order_relaxed);
}

void thread_flush_warm(void) {
    os_lock_acquire(&heap_list_lock);
    struct heap *main_heap = thread_main_heap_locked();
    if (main_heap != NULL)
        large_flush(main_heap);
    LIST_FOR_EACH (node, &heap_used)
        large_flush(LIST_ENTRY(node, struct heap, node));
    os_lock_release(&heap_list_lock);
}

static size_t heap_warm_bytes(const struct heap *heap) {
    return bytes_of_granules(atomic_load_explicit(&heap->warm.granules, memory_order_relaxed));
}

void thread_cached_objects(size_t counts[CLASS_COUNT]) {
    for (unsigned class = 0; class < CLASS_COUNT; class ++)
        counts[class] = 0;
    thread_lock_list();
    struct heap *main_heap = thread_main_heap_locked();
    if (main_heap != NULL)
        cache_count(&main_heap->cache, counts);
    LIST_FOR_EACH (node, &heap_used)
        cache_count(&LIST_ENTRY(node, struct heap, node)->cache, counts);
    thread_unlock_list();
}

bool thread_has_warm(void) {
    thread_lock_list();
    size_t bytes = thread_warm_bytes_locked();
    thread_unlock_list();
    return bytes > 0;
}

void thread_lock_list(void) {
    os_lock_acquire(&heap_list_lock);
}

void thread_unlock_list(void) {
    os_lock_release(&heap_list_lock);
}

size_t thread_warm_bytes_locked(void) {
    struct heap *main_heap = thread_main_heap_locked();
    size_t bytes = main_heap != NULL ? heap_warm_bytes(main_heap) : 0;
    LIST_FOR_EACH (node, &heap_used)
        bytes += heap_warm_bytes(LIST_ENTRY(node, struct heap, node));
    return bytes;
}

void thread_lock_for_fork(void) {
    os_lock_acquire(&shared_heap_lock);
    os_lock_acquire(&heap_list_lock);
}

void thread_unlock_after_fork(bool child) {
    if (child) {
        /* Heaps of threads that the child has not may be in the middle of something: let them be. */
        list_init(&heap_used);
        thread_main_is_gone |= thread_self.heap != &heap_boot;
        atomic_store_explicit(&thread_heaps, 0, memory_order_relaxed);
        thread_generation++;
        atomic_store_explicit(&thread_newest, NULL, memory_order_relaxed);
        if (thread_self.heap != NULL)
            heap_enter_outline_locked(thread_self.heap);
        if (thread_self.heap != NULL && thread_self.heap != &heap_boot) {
            thread_self.heap->process_id = os_process_id();
            thread_self.heap->thread_id = os_thread_id();
            heap_enter_used_locked(thread_self.heap);
        }
        os_lock_reset(&heap_list_lock);
        os_lock_reset(&shared_heap_lock);
    } else {
        os_lock_release(&heap_list_lock);
        os_lock_release(&shared_heap_lock);
    }
}
