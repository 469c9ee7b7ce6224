/* The geometry of the heap, settled in docs/decisions/0001-geometry.md: a granule is the smallest
   extent, a chunk is one huge page of address space, and a set of granules fits one bits_t. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define GRANULE_SHIFT  14
#define GRANULE_BYTES  ((size_t)1 << GRANULE_SHIFT)
#define CHUNK_SHIFT    21
#define CHUNK_BYTES    ((size_t)1 << CHUNK_SHIFT)
#define CHUNK_GRANULES (1U << (CHUNK_SHIFT - GRANULE_SHIFT))

/* User addresses: 47 bits on x86-64, 48 on aarch64 with four-level tables. */
#define ADDRESS_BITS 48

static inline size_t granules_of_bytes(size_t bytes) {
    return (bytes + GRANULE_BYTES - 1) >> GRANULE_SHIFT;
}

static inline size_t bytes_of_granules(size_t granules) {
    return granules << GRANULE_SHIFT;
}
