/* One sweep at a time, by whoever comes first. `holes_lock` protects the list of slabs that are being swept,
   and is held while one of them is changed, so that a fork finds them whole; no lock is held while the
   kernel is told. A cycle looks at every chunk once; the next begins when the patience is over, if the last
   one found anything that may be due then. How slabs are chosen: holes_choose.c; what is done with them is
   here. */
#include "holes.h"

#include "advise_ranges.h"
#include "counters.h"
#include "holes_choose.h"
#include "look.h"
#include "options.h"
#include "orphans.h"
#include "os_barrier.h"
#include "os_thread.h"
#include "purge.h"
#include "slab.h"
#include "slab_holes.h"
#include "space.h"

enum {
    HOLES_CHUNKS = 256,       /* chunks that the purge thread looks at in one go, */
    HOLES_CHUNKS_CALLER = 16, /* or a thread that has come for something else */
};

/* Between two goes. */
static const uint64_t holes_pause_ns = 20000000;

static _Atomic bool holes_sweeping; /* by one thread; its own are: */
static const char *holes_cursor;    /* the last chunk looked at; NULL: a cycle begins */

static _Atomic uint64_t holes_cycle_ns;             /* when the cycle began */
static _Atomic uint64_t holes_next_ns = UINT64_MAX; /* when the next look is due */
static _Atomic bool holes_news;                     /* something was freed since a cycle began */

/* Gives back what is no orphan; leaves an orphan to whoever wants it, unless frees have emptied it. */
static void holes_put_back(const struct holes_entry *entry) {
    if (entry->heap != NULL) {
        /* Unless its owner, who was at it, has done something else with it meanwhile. */
        struct heap *swept = EXTENT_SWEPT;
        atomic_compare_exchange_strong(&entry->slab->owner, &swept, entry->heap);
        return;
    }
    orphans_unlist(entry->slab); /* in the child of a fork it may be in the list still */
    orphans_settle(entry->slab);
}

/* A thread's mark, read once for the slabs of its heap. */
struct holes_peek {
    const struct heap *heap;
    void *mark;
};

/* Whether the owner's thread is certainly not at the slab. */
static bool holes_is_left_alone(const struct holes_round *round, const struct holes_entry *entry,
                                struct holes_peek *peek) {
    if (entry->heap == round->own)
        return true;
    if (entry->heap == EXTENT_PARKED) {
        peek->mark = NULL;
        peek->heap = NULL;
    } else if (FALLOW_TSAN) {
        peek->mark = atomic_load_explicit(entry->heap->mark, memory_order_acquire);
    } else if (peek->heap != entry->heap) {
        peek->heap = entry->heap;
        if (!os_barrier_peek(entry->heap->mark, &peek->mark))
            peek->mark = NULL; /* its thread has gone unnoticed */
    }
    /* If its owner was at it and has given it up, the flag is another owner's, but then it is not swept. */
    return peek->mark != entry->slab &&
           (atomic_load_explicit(&entry->slab->flags, memory_order_acquire) & EXTENT_PARTIAL) !=
               0 &&
           atomic_load(&entry->slab->owner) == EXTENT_SWEPT;
}

/* Makes the holes of what was taken, but for what its owner is just at. */
static void holes_make(const struct holes_round *round) {
    bool barred = !round->all || os_barrier_all();
    struct holes_peek peek = {0};
    for (size_t i = 0; i < holes_count; i++) {
        struct holes_entry *entry = &holes_entries[i];
        struct extent *slab = entry->slab;
        if (entry->heap == NULL)
            orphans_unlist(slab);
        os_lock_acquire(&holes_lock);
        entry->busy = entry->heap != NULL && (!barred || !holes_is_left_alone(round, entry, &peek));
        if (!entry->busy) {
            slab_collect(slab);
            entry->quarters = entry->give_back ? 0 : slab_make_holes(slab);
            if (entry->give_back || round->clean)
                entry->quarters |= slab_lazy_unneeded(slab);
            entry->lazy = !entry->give_back && !round->clean &&
                          purge_first_stage() == PURGE_STAGE_LAZY &&
                          !chunk_is_from_before_fork(slab->chunk);
        }
        os_lock_release(&holes_lock);
    }
}

/* Adds the ranges of an entry; false if there is no room for all of them. */
static bool holes_add_ranges(const struct holes_entry *entry, struct os_range *ranges,
                             size_t *count, size_t max) {
    size_t n = *count;
    for (uint64_t rest = entry->quarters; rest != 0;) {
        unsigned first = (unsigned)__builtin_ctzll(rest);
        unsigned length = (unsigned)bits_run_from(rest, first);
        if (n == max)
            return false;
        ranges[n++] = (struct os_range){chunk_extent_base(entry->slab) + first * SLAB_QUARTER_BYTES,
                                        length * SLAB_QUARTER_BYTES};
        rest &= ~(uint64_t)bits_range(first, length);
    }
    *count = n;
    return true;
}

/* What the kernel is told in turn. Of a huge page MADV_DONTNEED of a part lowers Rss but not the cgroup's
   usage; MADV_FREE splits it truly. */
enum holes_stage { HOLES_SPLIT, HOLES_LAZY, HOLES_CLEAN };

static bool holes_is_of_stage(const struct holes_entry *entry, enum holes_stage stage) {
    if (entry->busy || stage == HOLES_LAZY)
        return !entry->busy && entry->lazy;
    return !entry->lazy && (stage == HOLES_CLEAN || entry->breaks);
}

/* The ranges of entries [first, end) in one stage. Where the kernel does not make memory lazy, it gets it
   back. */
static void holes_advise_some(const struct holes_round *round, enum holes_stage stage, size_t first,
                              size_t end, size_t count) {
    struct os_range *ranges = round->batch->ranges;
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += ranges[i].bytes;
    size_t done =
        advise_ranges(ranges, count, stage == HOLES_CLEAN ? OS_ADVISE_DONTNEED : OS_ADVISE_FREE);
    if (stage == HOLES_CLEAN)
        counters_add(COUNTER_hole_clean_bytes, done);
    if (stage != HOLES_SPLIT && round->agreed != NULL)
        *round->agreed += done;
    if (stage != HOLES_LAZY)
        return;
    counters_add(COUNTER_hole_lazy_bytes, done);
    for (size_t i = first; done < bytes && i < end; i++)
        holes_entries[i].lazy = false;
}

static void holes_advise(const struct holes_round *round, enum holes_stage stage) {
    for (size_t first = 0, i = 0; i < holes_count; first = i) {
        size_t count = 0;
        for (; i < holes_count; i++)
            if (holes_is_of_stage(&holes_entries[i], stage) &&
                !holes_add_ranges(&holes_entries[i], round->batch->ranges, &count,
                                  round->batch->max_runs))
                break;
        holes_advise_some(round, stage, first, i, count);
    }
}

/* Sweeps what was taken, and gives it back. */
static void holes_flush(const struct holes_round *round) {
    if (holes_count == 0)
        return;
    holes_make(round);
    for (enum holes_stage stage = HOLES_SPLIT; stage <= HOLES_CLEAN; stage++)
        holes_advise(round, stage);
    while (holes_count > 0) {
        os_lock_acquire(&holes_lock);
        struct holes_entry *entry = &holes_entries[--holes_count];
        holes_note_swept(round, entry);
        holes_put_back(entry);
        os_lock_release(&holes_lock);
    }
}

/* Looks at up to `chunks` of them. Returns true at the end of a cycle. */
static bool holes_go(struct holes_round *round, size_t chunks) {
    bool ended = false;
    for (; chunks > 0 && !ended; chunks--) {
        const char *base = space_next(holes_cursor);
        struct chunk *chunk = base != NULL ? space_chunk_at(base) : NULL;
        ended = base == NULL;
        holes_cursor = base;
        if (chunk != NULL)
            holes_look(round, chunk);
        if (holes_are_full())
            holes_flush(round);
    }
    holes_flush(round);
    return ended;
}

static bool holes_are_wanted(void) {
    return options.purge != PURGE_NEVER && options.dirty_decay_ms >= 0;
}

uint64_t holes_due_ns(void) {
    uint64_t next_ns = atomic_load_explicit(&holes_next_ns, memory_order_relaxed);
    if (next_ns != UINT64_MAX || !holes_are_wanted() || !atomic_load(&holes_news))
        return next_ns;
    return atomic_load_explicit(&holes_cycle_ns, memory_order_relaxed) + purge_patience_ns();
}

void holes_note_news(void) {
    if (!atomic_load_explicit(&holes_news, memory_order_relaxed)) {
        atomic_store(&holes_news, true);
        atomic_store(&domain_news, true);
    }
}

static void holes_begin_cycle(uint64_t now_ns) {
    atomic_store_explicit(&holes_cycle_ns, now_ns, memory_order_relaxed);
    atomic_store(&holes_news, false);
    holes_choose_begin();
}

void holes_poll(struct purge_batch *batch, struct heap *own, uint64_t now_ns) {
    if (now_ns < holes_due_ns() || atomic_exchange(&holes_sweeping, true))
        return;
    struct holes_round round = {.batch = batch, .own = own, .now_ns = now_ns};
    round.all = own == NULL && look_is_allowed();
    if (holes_cursor == NULL)
        holes_begin_cycle(now_ns);
    uint64_t next_ns = now_ns + holes_pause_ns;
    if (holes_go(&round, own == NULL ? HOLES_CHUNKS : HOLES_CHUNKS_CALLER))
        next_ns = holes_choose_next_ns(holes_cycle_ns + purge_patience_ns());
    atomic_store_explicit(&holes_next_ns, next_ns, memory_order_relaxed);
    atomic_store(&holes_sweeping, false);
}

size_t holes_sweep_all(struct purge_batch *batch, struct heap *own, uint64_t now_ns, bool clean) {
    size_t agreed = 0;
    struct holes_round round = {.batch = batch,
                                .own = own,
                                .now_ns = now_ns,
                                .at_once = true,
                                .clean = clean,
                                .agreed = &agreed};
    if (atomic_exchange(&holes_sweeping, true))
        return 0;
    round.all = !os_thread_is_single() && look_is_allowed();
    holes_cursor = NULL;
    holes_begin_cycle(now_ns);
    while (!holes_go(&round, SIZE_MAX))
        ;
    atomic_store_explicit(&holes_next_ns, holes_choose_next_ns(now_ns), memory_order_relaxed);
    atomic_store(&holes_sweeping, false);
    return agreed;
}

void holes_lock_for_fork(void) {
    os_lock_acquire(&holes_lock);
}

void holes_unlock_after_fork(bool child) {
    if (!child) {
        os_lock_release(&holes_lock);
        return;
    }
    os_lock_reset(&holes_lock);
    while (holes_count > 0) /* nobody else is left to do it */
        holes_put_back(&holes_entries[--holes_count]);
    holes_cursor = NULL;
    atomic_store(&holes_sweeping, false);
}
