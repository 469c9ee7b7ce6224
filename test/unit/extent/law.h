/* The law of the extent layer: every mapped chunk is in exactly one domain, or held by somebody on
   its way or in a huge extent; and each domain's sums are its chunks' bits. Alone in the process. */
#pragma once

#include <criterion/criterion.h>

#include "../environment.h"
#include "arena.h"
#include "metadata.h"
#include "options.h"
#include "space.h"

static inline void expect_law(void) {
    size_t chunks = space_domain.chunks + atomic_load(&space_held_chunks);
    domain_check_locked(&space_domain);
    cr_assert_eq(space_domain.used, 0u);
    for (unsigned i = 0; i < arena_count(); i++) {
        domain_check_locked(&arena_at(i)->domain);
        chunks += arena_at(i)->domain.chunks;
    }
    cr_assert_eq(chunks, atomic_load(&space_mapped_chunks));
}

/* Small pages only, so that what is touched is what is resident; nothing is purged unasked. */
static inline void start_space(void) {
    options.thp = THP_NEVER;
    space_init();
}

/* No memory for another descriptor and no address space, until address_space_free(). */
static inline void exhaust_metadata(void) {
    address_space_limit(0);
    while (metadata_alloc(4096) != NULL)
        ;
    while (metadata_alloc(1) != NULL)
        ;
}
