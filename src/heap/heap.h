/* A heap: one thread's private state. A cache of free objects, and the slabs they come from and go back to: for
   each size class a list of partial slabs, of which one is current while objects are taken from it, without lock
   or atomic read-modify-write. In a shared heap, which has no cache, it stays current. A full slab is in no list and belongs to nobody; the thread that next
   frees one of its objects adopts it. A slab that falls empty waits in the heap for a while, so that
   a thread that goes up and down does not go to and fro to the arena; how much waits is bounded.

   Owned by the thread in whose thread_heap it is, or, the two shared ones, by the holder of
   shared_heap_lock. slab_none stands for "no current slab": it is full for ever. */
#pragma once

#include "arena.h"
#include "cache.h"
#include "classes.h"
#include "extent.h"
#include "warm.h"

/* The epoch in which what is never used is idle. */
static const uint64_t heap_epoch_ns = 50000000;

enum {
    HEAP_PARKED_MAX = 256 << 10, /* bytes of empty slabs that wait in `parked` */
};

struct heap {
    cache_aligned struct extent *current[CLASS_COUNT];
    struct list_node partial[CLASS_COUNT]; /* most recently used first; hardly ever an empty one */
    struct list_node parked;               /* empty slabs of all classes, most recent first */
    size_t parked_bytes;                   /* in them; at most HEAP_PARKED_MAX */
    struct warm warm;                      /* large blocks; unused in a shared heap */
    struct arena *arena;                   /* constant while the heap is in use */
    uint64_t epoch_end_ns;
    bool touched;                   /* extents were taken or given since the last poll for purges */
    bool shared;                    /* used under shared_heap_lock */
    unsigned turn;                  /* slow calls, counted */
    unsigned claims;                /* full slabs that became the heap's by a free */
    _Atomic(struct extent *) *mark; /* its thread's, see thread.h; NULL: used by many threads */
    struct list_node node; /* under heap_list_lock: heaps in use, or waiting for a thread */
    struct heap *older;    /* constant once listed: the next one in thread_newest, */
    unsigned listed;       /* in the process after so many forks, plus one */
    long process_id;       /* whose it is: a thread of this process, */
    long thread_id;        /* this one */
    struct cache cache;    /* closed in a shared heap */
};

extern struct extent slab_none;

/* `shared`: its cache stays closed. */
void heap_init(struct heap *heap, struct arena *arena, bool shared);

/* An object of class `class` when the current slab has none; NULL when out of memory. With `zero`
   set on entry an object is preferred whose memory is known to read as zero; on return `zero` says
   whether this one's does. */
void *heap_malloc_slow(struct heap *heap, unsigned class, bool *zero);

/* An object from a partial slab that has just this one left, which is not worth making it current; NULL
   if that is not so. */
void *heap_malloc_single(struct heap *heap, unsigned class);

/* The class has no current slab then: what it has left waits among the partial ones, where a sweep can reach it. */
void heap_put_current_back(struct heap *heap, unsigned class);

/* The owner freed an object, not yet pushed, and `used` fell to 0: the slab is empty, or, if it is
   a current one, the free was a second one. */
void heap_emptied(struct heap *heap, struct extent *slab, void *p);

/* Frees an object of a slab that this heap does not own; may make this heap its owner. */
void heap_free_remote(struct heap *heap, struct extent *slab, void *p);

/* Gives all empty slabs and warm blocks back to their arenas. */
void heap_flush(struct heap *heap);

/* At the end of each of the heap's epochs: gives back what has been empty for a whole one, and says
   true. */
bool heap_tick(struct heap *heap, uint64_t now_ns);

/* Leaves everything the heap holds to others: its thread ends. */
void heap_retire(struct heap *heap);
