/* Chunks with real memory in every state, purged at times that the test makes up. */
#pragma once

#include <criterion/criterion.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "counters.h"
#include "law.h"
#include "os_clock.h"
#include "picture.h"
#include "purge.h"

enum { DIRTY_DECAY = 100, EPOCH = DIRTY_DECAY * 9 / 20, LAZY_DECAY = 1000, BYTE = 0x5a };

static const uint64_t ms = 1000000;

static struct arena *arena;
static uint64_t now; /* the time that is passed in; begins at the real one */

static inline void start_purge(void) {
    start_space();
    options.narenas = 2;
    options.dirty_decay_ms = DIRTY_DECAY;
    options.lazy_decay_ms = LAZY_DECAY;
    arena = arena_attach(true);
    now = os_clock_coarse_ns();
}

/* A new chunk of the arena as drawn, in use or dirty, its memory written to; clean behind that. */
static inline struct chunk *chunk_like(const char *drawing) {
    unsigned n = (unsigned)strlen(drawing);
    struct chunk *chunk = space_take(1, 1);
    cr_assert(chunk_make_extents(chunk));
    chunk_take(chunk, 0, n);
    arena_add_chunk(arena, chunk);
    memset(chunk->base, BYTE, bytes_of_granules(n));
    for (unsigned i = 0; i < n; i++)
        if (drawing[i] == 'd')
            arena_give_at(chunk, i, 1, false);
    return chunk;
}

static inline bool granule_is(const struct chunk *chunk, unsigned granule, int byte) {
    const char *at = chunk_address(chunk, granule);
    return at[0] == byte && memcmp(at, at + 1, GRANULE_BYTES - 1) == 0;
}

/* Polls the arena `after` milliseconds later than the last time. */
static inline void poll_after(uint64_t after) {
    now += after * ms;
    purge_poll(&arena->domain, now);
    domain_check_locked(&arena->domain);
    cr_assert_eq(arena->domain.busy, 0u);
}

/* The kernel refuses any purge of a locked granule. Not by mlock(), which sanitizers disarm. */
static inline void lock_granule(const struct chunk *chunk, unsigned granule) {
    if (syscall(SYS_mlock, chunk_address(chunk, granule), GRANULE_BYTES) != 0)
        cr_skip_test("no memory may be locked here");
}

static inline void unlock_granule(const struct chunk *chunk, unsigned granule) {
    cr_assert_eq(syscall(SYS_munlock, chunk_address(chunk, granule), GRANULE_BYTES), 0);
}

static inline uint64_t purge_calls(void) {
    return counters_read(COUNTER_lazy_advise_calls) + counters_read(COUNTER_clean_advise_calls) +
           counters_read(COUNTER_lazy_refused) + counters_read(COUNTER_clean_refused);
}
