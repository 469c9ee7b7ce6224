/* A thread's cache of free objects: for each class a stack of free ones, from which malloc pops and to
   which free pushes whichever slab, of whichever thread, they belong to. Neither touches a slab's
   descriptor; objects travel between cache and slabs a few dozen at a time (cache_fill.h).

   A bin's room is how many objects it may hold: few to begin with, none where they are large. A bin that
   spills, and then is found empty, gets twice the room, as long as all rooms of the cache together stay small.

   Class c has bin c + 1; bin 0 is for ever closed: "no such class". A bin is closed when `limit` is below
   any address: then malloc and free find it empty and full, and look closer. So others can empty the cache of a thread
   that sleeps (cache_drain.h), without its doing anything:

   - The owner writes the bin's number to `mark` before it looks at the bin, and looks at `bottom` or `limit` before
     it changes anything. The drain closes the bin, passes a barrier in all threads (os_barrier.h), and reads `mark`.
     Unless it is that bin's, whatever the owner does from now on finds the bin closed, and all of it is taken. If it is,
     the owner may be just popping the last object or pushing another, so that one stays. If it is that bin's plus
     CACHE_AT_WORK, the owner is moving many, and all stay.
   - `top` is the owner's alone. The drain takes from below and says how many; the owner opens the bin again when it
     next comes. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classes.h"
#include "compiler.h"

enum {
    CACHE_TABLE_BYTES = 1024, /* up to here a table knows a size's bin */
    CACHE_SLOTS = 96,         /* objects of a class, at most */
    CACHE_LOT = 32,           /* that come and go together, at most */
    CACHE_BINS = CLASS_COUNT + 1,
    CACHE_AT_WORK = 128, /* in `mark`, beside a bin */

    CACHE_ROOM_BYTES = 16 << 10,  /* of a bin, to begin with, */
    CACHE_ROOMS_BYTES = 4 << 20,  /* and of all that have more than that together, at most, */
    CACHE_ROOMS_OF_DIRTY_MAX = 8, /* or this part of dirty_max for the caches of all threads */
};

/* `limit` of a bin: closed, for ever or while it is drained; and of one that was drained. */
#define CACHE_CLOSED  ((void **)0)
#define CACHE_DRAINED ((void **)1)

/* `bottom` of a closed bin. */
#define CACHE_NO_BOTTOM ((void **)UINTPTR_MAX)

struct cache {
    /* Where the next goes; the slots below it hold free objects, down to `bottom`. */
    cache_aligned void **top[CACHE_BINS];
    _Atomic size_t mark;                        /* the bin that the owner is at, or was at last */
    uint8_t bin_of[CACHE_TABLE_BYTES / 16 + 1]; /* by (bytes + 15) / 16 */
    uint8_t fill[CACHE_BINS];                   /* objects to fetch when it is next empty */
    uint8_t room[CACHE_BINS];                   /* where `limit` is while it is open */
    bool spilled[CACHE_BINS];                   /* there was no room, since it was last empty */
    size_t room_bytes;                          /* of the bins that have more than at first */
    /* From here on what a drain writes too, on lines of its own: the owner writes those above at every turn. */
    cache_aligned void **bottom[CACHE_BINS]; /* raised now and then, to see what is never needed */
    void **limit[CACHE_BINS];                /* full when `top` is here */
    uint8_t taken[CACHE_BINS];               /* of a drained bin: objects, from the bottom on */
    _Atomic uint64_t seen; /* what it was like when the drain last looked at it; the drain's */
    cache_aligned void *slots[CLASS_COUNT][1 + CACHE_SLOTS]; /* the first of each stays NULL */
};

/* Of threads without a heap: all closed. */
extern struct cache cache_none;

/* Plain accesses, which compilers fold into comparisons: who may meet here is said above. */
#if FALLOW_TSAN
#define CACHE_READ(word)         __atomic_load_n(&(word), __ATOMIC_ACQUIRE)
#define CACHE_WRITE(word, value) __atomic_store_n(&(word), (value), __ATOMIC_RELEASE)
#else
#define CACHE_READ(word)         (word)
#define CACHE_WRITE(word, value) ((word) = (value))
#endif

static always_inline void cache_mark(struct cache *cache, size_t bin) {
    atomic_store_explicit(&cache->mark, bin, memory_order_release);
    atomic_signal_fence(memory_order_seq_cst);
}

/* `*p` is the last object freed; false if there is none above `bottom`, or the bin is closed. */
static always_inline bool cache_pop(struct cache *cache, size_t bin, void **p) {
    cache_mark(cache, bin);
    void **top = CACHE_READ(cache->top[bin]);
    forget_pointer(cache);
    if (unlikely(top <= CACHE_READ(cache->bottom[bin])))
        return false;
    forget_pointer(cache);
    CACHE_WRITE(cache->top[bin], CACHE_READ(cache->top[bin]) - 1);
    *p = top[-1];
    return true;
}

/* False if it is full or closed, or `p` is the object freed last. */
static always_inline bool cache_push(struct cache *cache, size_t bin, void *p) {
    cache_mark(cache, bin);
    void **top = CACHE_READ(cache->top[bin]);
    forget_pointer(cache);
    if (unlikely(top >= CACHE_READ(cache->limit[bin])) || unlikely(top[-1] == p))
        return false;
    *top = p;
    forget_pointer(cache);
    CACHE_WRITE(cache->top[bin], CACHE_READ(cache->top[bin]) + 1);
    return true;
}

/* Where the stack of a bin that is not bin 0 begins. */
static inline void **cache_base(struct cache *cache, size_t bin) {
    return &cache->slots[bin - 1][1];
}

static always_inline unsigned cache_bin_of_class(unsigned class) {
    return class + 1;
}

/* The room that a bin begins with. */
static inline unsigned cache_first_room(unsigned bin) {
    return (unsigned)min_size(CACHE_ROOM_BYTES / class_bytes(bin - 1), CACHE_SLOTS);
}

/* Empty and open. */
void cache_init(struct cache *cache);

/* Adds how many objects of each class are in it. By anyone: numbers that are a little old. */
void cache_count(struct cache *cache, size_t counts[CLASS_COUNT]);

/* Lets a bin be used. */
void cache_open(struct cache *cache, unsigned bin);
