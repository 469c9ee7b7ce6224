/* Arenas: choosing the chunk, keeping the bins, and the list of arenas. arena_made grows only, under
   arena_list_lock, and is read without it. */
#include "arena.h"

#include "classes.h"
#include "first_touch.h"
#include "metadata.h"
#include "options.h"
#include "os_assert.h"
#include "os_clock.h"
#include "os_cpu.h"
#include "outline.h"
#include "space.h"
#include "survival.h"

enum { ARENA_FIT_LOOKS = 8 }; /* chunks of a bin that are compared for the fullest */

/* Where freed memory is made lazy at once, blocks of more than so many granules get a chunk of their
   own, as long as an arena has fewer such chunks than this: so that a whole huge page is made lazy by
   one cheap operation, and none is split. */
enum { ARENA_LONE_GRANULES = CLASS_MAX_BYTES / GRANULE_BYTES, ARENA_LONE_CHUNKS_MAX = 8 };

/* The CPU quota is read again when it is older. */
static const uint64_t arena_quota_ns = 1000000000;

static struct os_lock arena_list_lock = OS_LOCK_INIT(arena_list);
static struct arena arena_list[ARENA_MAX]; /* by ascending address, as several are locked */
static _Atomic unsigned arena_made;

const struct outline_arenas arena_outline = {
    .first = arena_list,
    .made = &arena_made,
    .bytes = sizeof(struct arena),
    .domain = offsetof(struct arena, domain),
};

unsigned arena_count(void) {
    return atomic_load_explicit(&arena_made, memory_order_acquire);
}

struct arena *arena_at(unsigned i) {
    return &arena_list[i];
}

static struct arena *arena_make_locked(unsigned i) {
    struct arena *arena = &arena_list[i];
    domain_init(&arena->domain, false);
    os_lock_init(&arena->domain.lock, RANK_arena);
    for (unsigned bin = 0; bin <= CHUNK_GRANULES; bin++)
        list_init(&arena->bins[bin]);
    atomic_store_explicit(&arena_made, i + 1, memory_order_release);
    return arena;
}

/* CPUs that the process may use. Affinity and quota change while it runs, but reading the quota opens
   a handful of files, which a process that starts many threads shall not pay each time. */
static unsigned arena_cpus(void) {
    static _Atomic uint64_t next_look_ns;
    static _Atomic unsigned quota;
    uint64_t now_ns = os_clock_coarse_ns();
    uint64_t due_ns = atomic_load_explicit(&next_look_ns, memory_order_acquire);
    if (now_ns >= due_ns) {
        if (due_ns != 0) /* one thread looks; at first, while none is known, each that comes */
            atomic_store_explicit(&next_look_ns, now_ns + arena_quota_ns, memory_order_relaxed);
        atomic_store_explicit(&quota, os_cpu_quota(), memory_order_relaxed);
        atomic_store_explicit(&next_look_ns, now_ns + arena_quota_ns, memory_order_release);
    }
    unsigned cpus = os_cpu_usable();
    unsigned limit = atomic_load_explicit(&quota, memory_order_relaxed);
    return limit != 0 && limit < cpus ? limit : cpus;
}

/* How many arenas there may be now. */
unsigned arena_limit(void) {
    unsigned limit = (unsigned)options.narenas;
    if (limit == 0) {
        limit = arena_cpus();
        os_lock_tell_cpus(limit);
    }
    return limit < ARENA_MAX ? limit : ARENA_MAX;
}

struct arena *arena_attach(bool only_first) {
    unsigned limit = only_first ? 1 : arena_limit();
    struct arena *best = NULL;
    os_lock_acquire(&arena_list_lock);
    unsigned made = arena_count();
    for (unsigned i = 0; i < made && i < limit; i++) {
        struct arena *arena = arena_at(i);
        if (best == NULL || atomic_load(&arena->heaps) < atomic_load(&best->heaps))
            best = arena;
    }
    if (made < limit && (best == NULL || atomic_load(&best->heaps) > 0)) {
        struct arena *made_now = arena_make_locked(made);
        best = made_now != NULL ? made_now : best;
    }
    if (best != NULL) {
        atomic_fetch_add(&best->heaps, 1);
        atomic_fetch_add(&space_heaps, 1);
    }
    os_lock_release(&arena_list_lock);
    return best;
}

void arena_detach(struct arena *arena) {
    atomic_fetch_sub(&arena->heaps, 1);
    atomic_fetch_sub(&space_heaps, 1);
}

static void arena_unbin(struct arena *arena, struct chunk *chunk) {
    list_remove(&chunk->fit_node);
    if (list_is_empty(&arena->bins[chunk->longest]))
        arena->filled[chunk->longest / 64] &= ~((uint64_t)1 << (chunk->longest % 64));
}

static void arena_bin(struct arena *arena, struct chunk *chunk) {
    chunk->longest = chunk->lone ? 0 : (uint8_t)bits_longest(chunk_free(chunk));
    list_push_front(&arena->bins[chunk->longest], &chunk->fit_node);
    arena->filled[chunk->longest / 64] |= (uint64_t)1 << (chunk->longest % 64);
}

void arena_settle_locked(struct arena *arena, struct chunk *chunk) {
    arena_unbin(arena, chunk);
    if (chunk->used == 0 && chunk->busy == 0) {
        arena->lone_chunks -= chunk->lone;
        chunk->lone = false;
        domain_remove_locked(&arena->domain, chunk);
        space_note_held(1);
        space_give(chunk);
    } else {
        arena_bin(arena, chunk);
    }
}

static void arena_add_locked(struct arena *arena, struct chunk *chunk) {
    domain_add_locked(&arena->domain, chunk);
    space_note_held(-1);
    arena_bin(arena, chunk);
}

/* The lowest filled bin from `bin` on, or CHUNK_GRANULES + 1. */
static unsigned arena_next_bin(const struct arena *arena, unsigned bin) {
    for (unsigned word = bin / 64; word < ARENA_BIN_WORDS; word++) {
        uint64_t rest = arena->filled[word];
        if (word == bin / 64)
            rest &= ~(uint64_t)0 << (bin % 64);
        if (rest != 0)
            return word * 64 + (unsigned)__builtin_ctzll(rest);
    }
    return CHUNK_GRANULES + 1;
}

/* The chunk for `n` granules at a multiple of `step`, and where in it; NULL if none has room. */
static struct chunk *arena_fit_locked(struct arena *arena, unsigned n, unsigned step,
                                      unsigned *first) {
    for (unsigned bin = arena_next_bin(arena, n); bin <= CHUNK_GRANULES;
         bin = arena_next_bin(arena, bin + 1)) {
        struct chunk *fullest = NULL;
        unsigned most = 0, looks = 0;
        for (struct list_node *node = arena->bins[bin].next;
             node != &arena->bins[bin] && looks < ARENA_FIT_LOOKS; node = node->next, looks++) {
            struct chunk *chunk = LIST_ENTRY(node, struct chunk, fit_node);
            if (fullest != NULL && chunk->in_use <= most)
                continue;
            unsigned at = chunk_find(chunk, n, step);
            if (at < CHUNK_GRANULES) {
                fullest = chunk;
                most = chunk->in_use;
                *first = at;
            }
        }
        if (fullest != NULL)
            return fullest;
    }
    return NULL;
}

static struct extent *arena_take_from_locked(struct arena *arena, struct chunk *chunk,
                                             unsigned first, unsigned n, bits_t *stale,
                                             bits_t *lazy) {
    struct extent *extent = &chunk->extents[first];
    *lazy = chunk->lazy & bits_range(first, n);
    *stale = domain_take_locked(&arena->domain, chunk, first, n);
    arena_settle_locked(arena, chunk);
    extent->chunk = chunk;
    extent->first = (uint8_t)first;
    extent->granules = n;
    return extent;
}

static bool arena_wants_lone_locked(const struct arena *arena, unsigned n) {
    return options.dirty_decay_ms == 0 && options.purge == PURGE_LAZY && options.thp != THP_NEVER &&
           n > ARENA_LONE_GRANULES && arena->churns && arena->lone_chunks < ARENA_LONE_CHUNKS_MAX;
}

struct extent *arena_take(struct arena *arena, unsigned n, unsigned step, bits_t *stale) {
    struct extent *extent = NULL;
    bits_t lazy = 0;
    unsigned first;
    os_lock_acquire(&arena->domain.lock);
    bool lone = arena_wants_lone_locked(arena, n);
    struct chunk *chunk = lone ? NULL : arena_fit_locked(arena, n, step, &first);
    if (chunk != NULL)
        extent = arena_take_from_locked(arena, chunk, first, n, stale, &lazy);
    os_lock_release(&arena->domain.lock);
    if (extent != NULL) {
        survival_note_reuse(chunk, lazy);
        return extent;
    }
    chunk = space_take(1, 1);
    if (chunk == NULL)
        return NULL;
    if (!chunk_make_extents(chunk)) {
        space_give(chunk);
        return NULL;
    }
    if (lone)
        space_make_huge(chunk);
    if (chunk->huge && (chunk->dirty | chunk->lazy) == 0)
        first_touch_sample(chunk, false);
    os_lock_acquire(&arena->domain.lock);
    chunk->lone = lone && chunk->huge;
    arena->lone_chunks += chunk->lone;
    arena_add_locked(arena, chunk);
    first = chunk_find(chunk, n, step);
    extent = arena_take_from_locked(arena, chunk, first, n, stale, &lazy);
    os_lock_release(&arena->domain.lock);
    survival_note_reuse(chunk, lazy);
    return extent;
}

/* Locks the arena that holds `chunk`. The caller has granules of it in use, so the chunk cannot
   change its arena meanwhile. */
static struct arena *arena_lock_of(struct chunk *chunk) {
    struct arena *arena = container_of(chunk->domain, struct arena, domain);
    os_lock_acquire(&arena->domain.lock);
    fallow_assert(chunk->domain == &arena->domain);
    return arena;
}

void arena_give_at(struct chunk *chunk, unsigned first, unsigned n, bool clean) {
    struct arena *arena = arena_lock_of(chunk);
    domain_give_locked(&arena->domain, chunk, first, n, clean);
    arena->churns |= n > ARENA_LONE_GRANULES;
    arena_settle_locked(arena, chunk);
    os_lock_release(&arena->domain.lock);
}

void arena_give(struct extent *extent) {
    arena_give_at(extent->chunk, extent->first, extent->granules, false);
}

void arena_shrink(struct extent *extent, unsigned n) {
    extent->granules -= n;
    arena_give_at(extent->chunk, extent->first + extent->granules, n, false);
}

bool arena_take_at(struct chunk *chunk, unsigned first, unsigned n) {
    struct arena *arena = arena_lock_of(chunk);
    bits_t run = bits_range(first, n), lazy = 0;
    bool free = first + n <= CHUNK_GRANULES && (run & ~chunk_free(chunk)) == 0;
    if (free) {
        lazy = chunk->lazy & run;
        domain_take_locked(&arena->domain, chunk, first, n);
        arena_settle_locked(arena, chunk);
    }
    os_lock_release(&arena->domain.lock);
    survival_note_reuse(chunk, lazy);
    return free;
}

void arena_add_chunk(struct arena *arena, struct chunk *chunk) {
    os_lock_acquire(&arena->domain.lock);
    arena_add_locked(arena, chunk);
    os_lock_release(&arena->domain.lock);
}

void arena_remove_full_chunk(struct chunk *chunk) {
    struct arena *arena = arena_lock_of(chunk);
    fallow_assert(chunk->used == bits_low(CHUNK_GRANULES));
    arena_unbin(arena, chunk);
    domain_remove_locked(&arena->domain, chunk);
    space_note_held(1);
    os_lock_release(&arena->domain.lock);
}

void arena_lock_for_fork(void) {
    os_lock_acquire(&arena_list_lock);
    for (unsigned i = 0; i < arena_count(); i++)
        os_lock_acquire(&arena_at(i)->domain.lock);
}

/* The thread that was purging exists in the parent only: what it held is dirty in the child. */
static void arena_clear_busy(struct arena *arena) {
    for (unsigned bin = 0; bin <= CHUNK_GRANULES && arena->domain.busy != 0; bin++) {
        struct list_node *node = arena->bins[bin].next;
        while (node != &arena->bins[bin]) {
            struct chunk *chunk = LIST_ENTRY(node, struct chunk, fit_node);
            node = node->next;
            if (chunk->busy == 0)
                continue;
            domain_end_purge_locked(&arena->domain, chunk, chunk->busy, 0, 0);
            arena_settle_locked(arena, chunk);
            node = arena->bins[bin].next; /* settling moves chunks between bins */
        }
    }
}

void arena_unlock_after_fork(bool child) {
    for (unsigned i = arena_count(); i-- > 0;) {
        struct arena *arena = arena_at(i);
        if (child) {
            os_lock_reset(&arena->domain.lock);
            arena_clear_busy(arena);
        } else {
            os_lock_release(&arena->domain.lock);
        }
    }
    if (child)
        os_lock_reset(&arena_list_lock);
    else
        os_lock_release(&arena_list_lock);
}
