/* Blocks as memcheck shall see them. A block is followed by CHECKED_GAP_BYTES or more that are hidden, and these by a
   record, the last bytes of what Fallow gave. `live` is made of the block's address while it lives, so a pointer to
   somewhere else, and one that was freed, are told from it. A program that writes past the gap destroys the record:
   then memcheck is asked whether the block lives, and the block is not used again.

   All of Fallow's memory for blocks is hidden (space.c) but for the blocks themselves. So whatever runs here and below is
   muted, other than what begins and ends blocks. The ring of freed blocks needs no lock: who takes one out of a slot
   has it. */
#include "checked.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "alloc.h"
#include "geometry.h"
#include "misuse.h"
#include "os_status.h"
#include "slab_shape.h"
#include "space.h"

enum {
    CHECKED_GAP_BYTES = 16,
    CHECKED_WAITING = 4096,          /* freed blocks that wait, */
    CHECKED_WAITING_BYTES = 16 << 10 /* of up to so many bytes */
};

struct checked_record {
    size_t bytes;
    _Atomic uintptr_t live;
};

enum { CHECKED_EXTRA_BYTES = CHECKED_GAP_BYTES + sizeof(struct checked_record) };

static _Atomic(void *) checked_waiting[CHECKED_WAITING];
static _Atomic unsigned checked_turn;

static uintptr_t checked_mark_of(const void *p) {
    return (uintptr_t)p * UINT64_C(0x9e3779b97f4a7c15) | 1;
}

/* The record of the block that begins at `p`, if one can begin there. */
static struct checked_record *checked_record_of(const void *p) {
    const struct extent *extent = pagemap_get(p);
    if (extent == NULL)
        return NULL;
    char *base = chunk_extent_base(extent), *end = base + extent->bytes;
    if (extent_is_slab(extent)) {
        size_t bytes = slab_shapes[extent->class].object_bytes;
        size_t i = (size_t)((const char *)p - base) / bytes;
        if (i >= extent->capacity)
            return NULL;
        base += i * bytes;
        end = base + bytes;
    }
    if (base != p)
        return NULL;
    return (struct checked_record *)(void *)(end - sizeof(struct checked_record));
}

/* Muted. Whether a block lives at `p`; how many bytes were asked for. */
static bool checked_lives(const void *p, const struct checked_record *record, size_t *bytes) {
    if (record == NULL)
        return false;
    if (atomic_load(&record->live) == checked_mark_of(p)) {
        *bytes = record->bytes;
        return true;
    }
    *bytes = (size_t)((const char *)record - (const char *)p) - CHECKED_GAP_BYTES;
    return os_memcheck_may_read(p);
}

void *checked_malloc(size_t bytes, size_t align, bool zero) {
    os_memcheck_mute();
    void *p = alloc_take(bytes + CHECKED_EXTRA_BYTES, align, zero);
    if (p != NULL) {
        struct checked_record *record = checked_record_of(p);
        record->bytes = bytes;
        atomic_store(&record->live, checked_mark_of(p));
    }
    os_memcheck_unmute();
    if (p != NULL)
        os_memcheck_begin(p, bytes, zero);
    return p;
}

/* What `p` replaces in the ring goes back. Muted. */
static void checked_wait(unsigned slot, void *p) {
    void *old = atomic_exchange(&checked_waiting[slot], p);
    if (old != NULL)
        alloc_give(old);
}

void checked_flush(void) {
    if (!os_memcheck_is_on())
        return;
    os_memcheck_mute();
    for (unsigned i = 0; i < CHECKED_WAITING; i++)
        checked_wait(i, NULL);
    os_memcheck_unmute();
}

void checked_free(void *p) {
    size_t bytes = 0;
    os_memcheck_mute();
    struct checked_record *record = checked_record_of(p);
    bool lives = checked_lives(p, record, &bytes);
    uintptr_t live = checked_mark_of(p);
    bool mine = lives && atomic_compare_exchange_strong(&record->live, &live, 0);
    os_memcheck_unmute();
    os_memcheck_end(p); /* has its say if there is something wrong */
    os_memcheck_mute();
    if (mine && bytes <= CHECKED_WAITING_BYTES)
        checked_wait(atomic_fetch_add(&checked_turn, 1) % CHECKED_WAITING, p);
    else if (mine)
        alloc_give(p);
    else if (record != NULL && !lives)
        misuse_double_free(p);
    else if (record == NULL)
        misuse_unknown(p);
    os_memcheck_unmute();
}

void *checked_realloc(void *p, size_t bytes) {
    size_t old = 0;
    os_memcheck_mute();
    bool lives = checked_lives(p, checked_record_of(p), &old);
    os_memcheck_unmute();
    if (!lives) {
        checked_free(p); /* to say so */
        errno = EINVAL;
        return NULL;
    }
    void *q = checked_malloc(bytes, 1, false);
    if (q == NULL)
        return NULL;
    os_memcheck_mute(); /* the program may have hidden some of it itself */
    memcpy(q, p, min_size(old, bytes));
    os_memcheck_unmute();
    checked_free(p);
    return q;
}

size_t checked_usable_size(const void *p) {
    size_t bytes = 0;
    os_memcheck_mute();
    bool lives = checked_lives(p, checked_record_of(p), &bytes);
    os_memcheck_unmute();
    return lives ? bytes : 0;
}

/* With threads about, who may be writing, blocks stay roots. */
void checked_finish(void) {
    if (!os_memcheck_is_on() || os_status_threads() != 1)
        return;
    const char *from = NULL, *to = NULL, *base = NULL;
    do {
        base = space_next(base);
        if (base != NULL && base == to) {
            to += CHUNK_BYTES;
            continue;
        }
        if (from != NULL)
            os_memcheck_unroot(space_chunk_at(from)->base, (size_t)(to - from));
        from = base;
        to = base + CHUNK_BYTES;
    } while (base != NULL);
}
