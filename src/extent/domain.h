/* A domain: a set of chunks under one lock, with the sums over their granules and the order in
   which their free memory is to be purged. Two kinds: an arena, whose chunks hold extents, and
   the space, whose chunks are wholly free.

   Equation, under the lock:  used + dirty + lazy + busy + clean = chunks * CHUNK_GRANULES,
   clean being the rest. A chunk with dirty granules is in one of four lists (enum chunk_order), one
   with lazy granules in lazy_chunks, one with granules that are to be advised again in once_chunks, by
   the time since when that is so. Dirty granules that are not
   to be purged by epochs (all orders but DIRTY) are in `dirty` and in `held`. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "chunk.h"
#include "decay.h"
#include "os_lock.h"

struct domain {
    struct os_lock lock;
    bool is_space; /* constant */

    _Atomic uint64_t changes; /* written under lock, before what follows changes: outline.h */

    /* under lock, sums in granules */
    size_t chunks;
    size_t used, dirty, lazy, busy;
    size_t held; /* of dirty */
    struct list_node dirty_chunks, refused_chunks, sparse_chunks, held_chunks;
    struct list_node lazy_chunks, once_chunks;
    size_t told_dirty, told_lazy; /* what is in domain_total_dirty and domain_total_lazy of it */
    struct decay decay;

    /* written under lock; read without it as hints that there may be something to do */
    _Atomic size_t purgeable;  /* dirty + lazy */
    _Atomic unsigned pending;  /* enum domain_pending: what time alone will make due */
    _Atomic unsigned surveyed; /* the same of the survey that its chunks have all been through */
};

/* Granules in all domains, less up to DOMAIN_TELL_GRANULES of each; relaxed. */
extern _Atomic size_t domain_total_dirty, domain_total_lazy;

enum { DOMAIN_TELL_GRANULES = 64 };

enum domain_pending {
    DOMAIN_DECAYING = 1, /* dirty granules that epochs make lazy */
    DOMAIN_SPARSE = 2,   /* huge pages to be broken up */
    DOMAIN_LAZY = 4,     /* lazy granules */
};

/* Set when a domain has DECAYING or SPARSE memory and had none of that kind before: whoever sleeps until
   something is due has to look again. */
extern _Atomic bool domain_news;

void domain_init(struct domain *domain, bool is_space);

/* Before the first change of a sum, or of the numbers of chunks that go with them, under the lock: readers outside
   the process take no lock, and see by this that they have to read again. */
static inline void domain_begin_locked(struct domain *domain) {
    uint64_t changes = atomic_load_explicit(&domain->changes, memory_order_relaxed);
    atomic_store_explicit(&domain->changes, changes + 1, memory_order_relaxed);
#if !FALLOW_TSAN /* which knows no fences, and cannot see that reader */
    atomic_thread_fence(memory_order_release);
#endif
}

/* Chunk `chunk` joins or leaves with all its granules. */
void domain_add_locked(struct domain *domain, struct chunk *chunk);
void domain_remove_locked(struct domain *domain, struct chunk *chunk);

/* Free granules come into use; returns those that were not clean. */
bits_t domain_take_locked(struct domain *domain, struct chunk *chunk, unsigned first, unsigned n);

/* Used granules become dirty, or clean when the caller knows they read as zero. */
void domain_give_locked(struct domain *domain, struct chunk *chunk, unsigned first, unsigned n,
                        bool clean);

/* Clean granules count as dirty from now on: they are resident, on a huge page. */
void domain_dirty_clean_locked(struct domain *domain, struct chunk *chunk);

/* Dirty or lazy granules become busy. */
void domain_start_purge_locked(struct domain *domain, struct chunk *chunk, bits_t set);

/* The kernel refused to purge something of the chunk, or what it refused is to be tried again. */
void domain_set_refused_locked(struct domain *domain, struct chunk *chunk, bool refused);

/* Busy granules become lazy, clean, or (the rest) dirty again. */
void domain_end_purge_locked(struct domain *domain, struct chunk *chunk, bits_t busy, bits_t lazy,
                             bits_t clean);

/* Dirty granules that become lazy when they have been idle for an epoch. */
static inline size_t domain_decaying_locked(const struct domain *domain) {
    return domain->dirty - domain->held;
}

/* Debug builds: the equation and the lists' membership. */
void domain_check_locked(struct domain *domain);
