/* Birth and death of thread heaps. Heaps of ended threads wait in heap_spares for the next thread,
   empty: what they held was left to others. The end of a thread is noticed through a pthread key,
   whose destructor asks to be called again as long as the standard allows, so that other keys'
   destructors still find the thread's heap. Everything else a dying thread does is served by
   heap_late. */
#include "thread.h"

#include <limits.h>
#include <pthread.h>

#include "counters.h"
#include "metadata.h"
#include "space.h"

__thread struct heap *thread_heap __attribute__((__tls_model__("initial-exec")));
static __thread unsigned char thread_rounds __attribute__((__tls_model__("initial-exec")));

enum { THREAD_RETIRED = 0xff }; /* thread_rounds: this thread's heap is gone for good */

static struct os_lock shared_heap_lock = OS_LOCK_INIT(shared_heap);
static struct heap heap_boot, heap_late; /* under shared_heap_lock; the first until thread_start */
static _Atomic bool thread_started;      /* changes under shared_heap_lock */
static bool thread_key_made;
static pthread_key_t thread_key;

static struct os_lock heap_list_lock = OS_LOCK_INIT(heap_list);
static struct heap *heap_spares;

static void thread_end(void *value);

static void heap_put_spare(struct heap *heap) {
    os_lock_acquire(&heap_list_lock);
    heap->next_spare = heap_spares;
    heap_spares = heap;
    os_lock_release(&heap_list_lock);
}

static struct heap *heap_get(void) {
    os_lock_acquire(&heap_list_lock);
    struct heap *heap = heap_spares;
    if (heap != NULL)
        heap_spares = heap->next_spare;
    os_lock_release(&heap_list_lock);
    if (heap != NULL) {
        counters_add(COUNTER_heaps_reused, 1);
        return heap;
    }
    heap = metadata_alloc(sizeof *heap);
    if (heap != NULL)
        counters_add(COUNTER_heaps_created, 1);
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
    heap_init(heap, arena);
    thread_heap = heap;
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
        heap_init(heap, arena);
        heap->shared = true;
        counters_add(COUNTER_heaps_created, 1);
    }
    return heap;
}

struct heap *thread_enter(void) {
    struct heap *heap = thread_heap;
    if (heap != NULL)
        return heap;
    if (atomic_load_explicit(&thread_started, memory_order_acquire) &&
        thread_rounds != THREAD_RETIRED && (heap = thread_birth()) != NULL)
        return heap;
    os_lock_acquire(&shared_heap_lock);
    heap = thread_shared_locked();
    if (heap == NULL)
        os_lock_release(&shared_heap_lock);
    return heap;
}

void thread_leave(struct heap *heap) {
    if (heap->shared)
        os_lock_release(&shared_heap_lock);
}

void thread_start(void) {
    thread_key_made = pthread_key_create(&thread_key, thread_end) == 0;
    os_lock_acquire(&shared_heap_lock);
    if (thread_key_made && thread_shared_locked() != NULL && thread_heap == NULL) {
        heap_boot.shared = false;
        thread_heap = &heap_boot;
    }
    atomic_store_explicit(&thread_started, true, memory_order_release);
    os_lock_release(&shared_heap_lock);
    if (thread_heap == &heap_boot)
        pthread_setspecific(thread_key, thread_heap);
}

static void thread_end(void *value) {
    struct heap *heap = value;
    if (++thread_rounds < PTHREAD_DESTRUCTOR_ITERATIONS &&
        pthread_setspecific(thread_key, heap) == 0)
        return;
    thread_rounds = THREAD_RETIRED;
    thread_heap = NULL;
    heap_retire(heap);
    arena_detach(heap->arena);
    heap_put_spare(heap);
}

void thread_lock_for_fork(void) {
    os_lock_acquire(&shared_heap_lock);
    os_lock_acquire(&heap_list_lock);
}

void thread_unlock_after_fork(bool child) {
    if (child) {
        os_lock_reset(&heap_list_lock);
        os_lock_reset(&shared_heap_lock);
    } else {
        os_lock_release(&heap_list_lock);
        os_lock_release(&shared_heap_lock);
    }
}
