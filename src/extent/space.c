/* Sections of 4 GiB of address space record the chunks that Fallow has mapped in them, in two
   bitmaps: free (in the space, not busy) and resident (free, with dirty or lazy granules).
   Sections are made once, kept for good, and linked in address order, so that a run of free
   chunks may cross from one into the next. All under space_domain.lock, but for the section
   list and its chunk pointers, which are read without it by whoever holds the chunk. */
#include "space.h"

#include "chaos.h"
#include "counters.h"
#include "metadata.h"
#include "options.h"
#include "os_advise.h"
#include "os_assert.h"
#include "os_clock.h"
#include "os_map.h"
#include "os_memcheck.h"
#include "os_thp.h"
#include "os_thread.h"
#include "outline.h"
#include "pagemap.h"
#include "small_pages.h"
#include "survival.h"

enum { SECTION_SHIFT = 32, SECTION_CHUNKS = 1 << (SECTION_SHIFT - CHUNK_SHIFT) };
enum { SECTION_WORDS = SECTION_CHUNKS / 64 };

/* Naps of a millisecond that a caller without memory waits for others' purges. */
enum { SPACE_NAPS_MAX = 5000 };

struct section {
    _Atomic(struct section *) next; /* higher addresses */
    uintptr_t index;                /* address >> SECTION_SHIFT */
    uint64_t free[SECTION_WORDS];
    uint64_t resident[SECTION_WORDS];
    _Atomic(struct chunk *) chunks[SECTION_CHUNKS];
};

_Atomic size_t space_held_chunks, space_mapped_chunks, space_heaps;
struct domain space_domain = {.lock = OS_LOCK_INIT(space), .is_space = true};
static _Atomic(struct section *) space_sections;
/* The chunk below which the next mapping is asked for, by its number: a leak search would take an address for a pointer. */
static _Atomic uintptr_t space_hint;

const struct outline_space space_outline = {&space_domain,
                                            &space_held_chunks,
                                            &space_mapped_chunks,
                                            &space_sections,
                                            offsetof(struct section, next),
                                            offsetof(struct section, index),
                                            offsetof(struct section, chunks),
                                            SECTION_CHUNKS};

void space_init(void) {
    domain_init(&space_domain, true);
}

static struct section *section_find(uintptr_t index) {
    struct section *section = atomic_load_explicit(&space_sections, memory_order_acquire);
    while (section != NULL && section->index < index)
        section = atomic_load_explicit(&section->next, memory_order_acquire);
    return section != NULL && section->index == index ? section : NULL;
}

static struct section *section_get_locked(uintptr_t index) {
    struct section *section = section_find(index);
    if (section != NULL)
        return section;
    section = metadata_alloc(sizeof *section);
    if (section == NULL)
        return NULL;
    section->index = index;
    _Atomic(struct section *) *link = &space_sections;
    struct section *next;
    while ((next = atomic_load_explicit(link, memory_order_relaxed)) != NULL && next->index < index)
        link = &next->next;
    atomic_store_explicit(&section->next, next, memory_order_relaxed);
    atomic_store_explicit(link, section, memory_order_release);
    return section;
}

static uintptr_t chunk_number(const void *base) {
    return (uintptr_t)base >> CHUNK_SHIFT;
}

/* The section of a chunk that is mapped, or of any address: NULL then if nothing is mapped near. */
static struct section *section_of(const void *base) {
    return section_find((uintptr_t)base >> SECTION_SHIFT);
}

struct chunk *space_chunk_at(const void *base) {
    struct section *section = section_of(base);
    if (section == NULL)
        return NULL;
    return atomic_load_explicit(&section->chunks[chunk_number(base) % SECTION_CHUNKS],
                                memory_order_acquire);
}

const char *space_next(const char *after) {
    uintptr_t number = after == NULL ? 0 : chunk_number(after) + 1;
    struct section *section = atomic_load_explicit(&space_sections, memory_order_acquire);
    for (; section != NULL; section = atomic_load_explicit(&section->next, memory_order_acquire)) {
        uintptr_t first = section->index * SECTION_CHUNKS;
        for (uintptr_t i = number > first ? number - first : 0; i < SECTION_CHUNKS; i++)
            if (atomic_load_explicit(&section->chunks[i], memory_order_relaxed) != NULL)
                return (const char *)((first + i) << CHUNK_SHIFT);
    }
    return NULL;
}

void space_settle_locked(struct chunk *chunk) {
    struct section *section = section_of(chunk->base);
    unsigned i = chunk_number(chunk->base) % SECTION_CHUNKS;
    fallow_assert(section != NULL);
    bool free = chunk->domain == &space_domain && chunk->busy == 0;
    bits_word_assign(section->free, i, free);
    bits_word_assign(section->resident, i, free && (chunk->dirty | chunk->lazy) != 0);
}

static void space_remove_locked(struct chunk *chunk) {
    domain_remove_locked(&space_domain, chunk);
    space_settle_locked(chunk);
    space_note_held(1);
    chaos_reuse(chunk, chunk->lazy);
}

/* A chunk begins, or has ceased, to be mapped; in between it belongs to nobody. */
static void space_note_mapped_locked(int change) {
    domain_begin_locked(&space_domain);
    atomic_fetch_add_explicit(&space_mapped_chunks, (size_t)change, memory_order_relaxed);
    space_note_held(change);
}

/* Enters the chunk into its section, or takes it out. */
static void section_set(struct section *section, const void *base, struct chunk *chunk) {
    atomic_store_explicit(&section->chunks[chunk_number(base) % SECTION_CHUNKS], chunk,
                          memory_order_release);
}

/* The first run of `n` members at a multiple of `step` in the sections' free or resident bitmaps:
   its chunk number, or 0. */
static uintptr_t space_find_run_locked(size_t n, size_t step, bool resident) {
    struct section *section = atomic_load_explicit(&space_sections, memory_order_relaxed);
    uintptr_t start = 0, expected = 0; /* of the run that grows; valid while the next is expected */
    for (; section != NULL; section = atomic_load_explicit(&section->next, memory_order_relaxed)) {
        const uint64_t *words = resident ? section->resident : section->free;
        for (unsigned w = 0; w < SECTION_WORDS; w++) {
            uint64_t rest = words[w];
            while (rest != 0) {
                unsigned bit = (unsigned)__builtin_ctzll(rest);
                uintptr_t number = section->index * SECTION_CHUNKS + (uintptr_t)w * 64 + bit;
                rest &= rest - 1;
                if (number != expected)
                    start = align_up(number, step);
                expected = number + 1;
                if (expected >= start + n)
                    return start;
            }
        }
    }
    return 0;
}

/* Whether chunks shall ask for huge pages now. What the system says is read at most once a second; no file is opened while
   the process is small. */
static bool space_wants_huge(void) {
    static _Atomic uint64_t next_look_ns;
    static _Atomic bool usable;
    if (small_pages_are_wanted())
        return false;
    uint64_t now_ns = os_clock_coarse_ns();
    if (now_ns >= atomic_load_explicit(&next_look_ns, memory_order_relaxed)) {
        atomic_store_explicit(&next_look_ns, now_ns + 1000000000, memory_order_relaxed);
        atomic_store_explicit(&usable, os_thp_usable(), memory_order_relaxed);
    }
    return atomic_load_explicit(&usable, memory_order_relaxed);
}

/* Asks for huge pages for chunks that belong to nobody and are clean. */
static void space_advise_huge(struct chunk *first, size_t n) {
    fallow_assert(first != NULL && n > 0);
    if (!space_wants_huge() || os_advise(first->base, n << CHUNK_SHIFT, OS_ADVISE_HUGEPAGE) != 0)
        return;
    counters_add(COUNTER_huge_advised_chunks, n);
    for (size_t i = 0; i < n; i++) {
        struct chunk *chunk = space_chunk_at(first->base + (i << CHUNK_SHIFT));
        chunk->huge = true;
        small_pages_forget(chunk);
    }
}

/* Maps `n` chunks, at `base` or anywhere if that is NULL; registers them as belonging to nobody. */
static struct chunk *space_map(char *base, size_t n, size_t step) {
    size_t bytes = n << CHUNK_SHIFT;
    struct chunk *chunk = NULL;
    if (bytes >> CHUNK_SHIFT != n || bytes > PTRDIFF_MAX)
        return NULL;
    if (base == NULL) {
        uintptr_t hint = atomic_load_explicit(&space_hint, memory_order_relaxed) << CHUNK_SHIFT;
        hint = hint > bytes ? align_down(hint - bytes, step << CHUNK_SHIFT) : 0;
        base = os_map_aligned(bytes, step << CHUNK_SHIFT, (void *)hint);
    } else if (!os_map_fixed_noreplace(base, bytes)) {
        base = NULL;
    }
    if (base == NULL) {
        counters_add(COUNTER_map_failures, 1);
        return NULL;
    }
    os_memcheck_hide(base, bytes);
    if (!pagemap_reserve(base, bytes))
        goto fail;
    os_lock_acquire(&space_domain.lock);
    for (size_t i = n; i-- > 0;) {
        char *address = base + (i << CHUNK_SHIFT);
        struct section *section = section_get_locked((uintptr_t)address >> SECTION_SHIFT);
        chunk = section == NULL ? NULL : chunk_create(address);
        if (chunk == NULL) {
            os_lock_release(&space_domain.lock);
            goto fail;
        }
        section_set(section, address, chunk);
        space_note_mapped_locked(1);
    }
    atomic_store_explicit(&space_hint, chunk_number(base), memory_order_relaxed);
    os_lock_release(&space_domain.lock);
    counters_add(COUNTER_chunks_mapped, n);
    if (small_pages_are_wanted())
        small_pages_keep(chunk, n);
    else
        space_advise_huge(chunk, n);
    return chunk;
fail:
    for (size_t i = 0; i < n; i++) {
        chunk = space_chunk_at(base + (i << CHUNK_SHIFT));
        if (chunk != NULL)
            space_forget(chunk);
    }
    os_unmap(base, bytes);
    return NULL;
}

static struct chunk *space_take_free(size_t n, size_t step) {
    struct chunk *first = NULL;
    os_lock_acquire(&space_domain.lock);
    if (space_domain.chunks >= n) {
        uintptr_t number = space_find_run_locked(n, step, true);
        if (number == 0)
            number = space_find_run_locked(n, step, false);
        for (size_t i = n; number != 0 && i-- > 0;) {
            first = space_chunk_at((void *)((number + i) << CHUNK_SHIFT));
            space_remove_locked(first);
        }
    }
    os_lock_release(&space_domain.lock);
    return first;
}

void space_make_huge(struct chunk *chunk) {
    if (chunk->huge || !space_wants_huge() || !os_dontneed_zeroes() ||
        os_advise(chunk->base, CHUNK_BYTES, OS_ADVISE_DONTNEED) != 0)
        return;
    chunk->dirty = 0;
    chunk->lazy = chunk->once = 0;
    space_advise_huge(chunk, 1);
}

/* Whether a chunk that is mapped is free and not busy: its own fields may be somebody else's. */
static bool space_is_free_locked(const char *base) {
    const struct section *section = section_of(base);
    unsigned i = chunk_number(base) % SECTION_CHUNKS;
    return (section->free[i / 64] >> (i % 64) & 1) != 0;
}

struct chunk *space_take_at(char *base, size_t n) {
    size_t known = 0;
    os_lock_acquire(&space_domain.lock);
    for (; known < n; known++) {
        char *next = base + (known << CHUNK_SHIFT);
        if (space_chunk_at(next) == NULL)
            break;
        if (!space_is_free_locked(next)) {
            os_lock_release(&space_domain.lock);
            return NULL;
        }
    }
    for (size_t i = 0; i < known; i++)
        space_remove_locked(space_chunk_at(base + (i << CHUNK_SHIFT)));
    os_lock_release(&space_domain.lock);
    if (known > 0)
        survival_note_chunks(space_chunk_at(base), known);
    if (known < n && space_map(base + (known << CHUNK_SHIFT), n - known, 1) == NULL) {
        for (size_t i = 0; i < known; i++)
            space_give(space_chunk_at(base + (i << CHUNK_SHIFT)));
        return NULL;
    }
    return space_chunk_at(base);
}

void space_give(struct chunk *chunk) {
    fallow_assert(chunk->used == 0 && chunk->domain == NULL);
    if (chunk->huge && chunk->dirty != 0) { /* resident, and purged, as a whole */
        chunk->dirty = chunk_free(chunk);
        chunk->lazy = chunk->once = 0;
    }
    os_lock_acquire(&space_domain.lock);
    domain_add_locked(&space_domain, chunk);
    space_settle_locked(chunk);
    space_note_held(-1);
    os_lock_release(&space_domain.lock);
}

/* The header of a chunk that is out of its section and unmapped. */
static void space_drop(struct chunk *chunk) {
    small_pages_forget(chunk);
    os_lock_acquire(&space_domain.lock);
    space_note_mapped_locked(-1);
    os_lock_release(&space_domain.lock);
    chunk_destroy(chunk);
}

void space_forget(struct chunk *chunk) {
    section_set(section_of(chunk->base), chunk->base, NULL);
    space_drop(chunk);
}

size_t space_unmap_free(void) {
    size_t unmapped = 0;
    struct chunk *chunk;
    while ((chunk = space_take_free(1, 1)) != NULL) {
        /* Out of the section before the unmap: the address may be mapped anew at once. */
        section_set(section_of(chunk->base), chunk->base, NULL);
        if (!os_unmap(chunk->base, CHUNK_BYTES)) {
            section_set(section_of(chunk->base), chunk->base, chunk);
            space_give(chunk);
            break;
        }
        space_drop(chunk);
        unmapped++;
    }
    counters_add(COUNTER_chunks_unmapped, unmapped);
    return unmapped;
}

static bool space_is_busy(void) {
    os_lock_acquire(&space_domain.lock);
    bool busy = space_domain.busy != 0;
    os_lock_release(&space_domain.lock);
    return busy;
}

struct chunk *space_take(size_t n, size_t step) {
    struct chunk *first = space_take_free(n, step);
    if (first != NULL) {
        survival_note_chunks(first, n);
        if (n == 1 && !first->huge && (first->dirty | first->lazy) == 0)
            space_advise_huge(first, 1);
        return first;
    }
    first = space_map(NULL, n, step);
    /* Out of address space: give up what is free here, in case the pieces make room together,
       and wait for what another thread is purging just now. */
    for (int tries = 0; first == NULL && tries < SPACE_NAPS_MAX; tries++) {
        bool busy = space_is_busy(); /* asked first: what ends after this is found free below */
        first = space_take_free(n, step);
        if (first != NULL) {
            survival_note_chunks(first, n);
            break;
        }
        bool unmapped = space_unmap_free() > 0;
        if (!unmapped && !busy)
            break;
        if (!unmapped)
            os_thread_nap();
        first = space_map(NULL, n, step);
    }
    return first;
}

void space_lock_for_fork(void) {
    os_lock_acquire(&space_domain.lock);
}

void space_unlock_after_fork(bool child) {
    struct section *section = atomic_load_explicit(&space_sections, memory_order_relaxed);
    if (!child) {
        os_lock_release(&space_domain.lock);
        return;
    }
    /* The thread that was purging exists in the parent only: what it held is dirty here. */
    os_lock_reset(&space_domain.lock);
    for (; section != NULL && space_domain.busy != 0;
         section = atomic_load_explicit(&section->next, memory_order_relaxed)) {
        for (unsigned i = 0; i < SECTION_CHUNKS; i++) {
            struct chunk *chunk = atomic_load_explicit(&section->chunks[i], memory_order_relaxed);
            if (chunk != NULL && chunk->domain == &space_domain && chunk->busy != 0) {
                domain_end_purge_locked(&space_domain, chunk, chunk->busy, 0, 0);
                space_settle_locked(chunk);
            }
        }
    }
}
