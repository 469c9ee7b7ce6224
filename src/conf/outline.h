/* What a reader outside the process, such as `fallow stats`, has to know of the heap: where things begin, and where in them
   the fields are. One constant that begins with a magic and its own address, so that it is found in the
   mappings of the program and its libraries without symbols, whether preloaded, linked or static. Whatever can
   change lies elsewhere and is read as it is: docs/decisions/0014-outline.md says how that is consistent.

   OUTLINE_VERSION counts changes after which an old reader would be wrong; new fields go to the end, and `bytes`
   says which there are. Each file that owns a structure fills its part in. Offsets are bytes. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { OUTLINE_VERSION = 1, OUTLINE_MAGIC_BYTES = 16, OUTLINE_NAME_BYTES = 16 };

/* Not a text that a program would have: the first byte and the last are no characters. */
#define OUTLINE_MAGIC \
    { 0x8f, 'F', 'a', 'l', 'l', 'o', 'w', ' ', 'o', 'u', 't', 'l', 'i', 'n', 'e', 0x1a }

/* Sums of a domain. `changes` moves before any of them does, while `lock` is not 0. */
struct outline_domain {
    uint32_t bytes, lock, changes, chunks, used, dirty, lazy, busy; /* lock: 4 bytes; others: 8 */
};

struct outline_arenas {
    const void *first;      /* of an array, */
    const void *made;       /* of so many (4 bytes), */
    uint32_t bytes, domain; /* each of this size, with its domain there */
};

struct outline_space {
    const void *domain;
    const void *held_chunks, *mapped_chunks;   /* 8 bytes each; they change as a domain does */
    const void *sections;                      /* a pointer to the first, by ascending index */
    uint32_t next, index, chunks, chunk_count; /* of a section */
};

struct outline_metadata {
    const void *ranges;       /* a pointer to the newest; each begins the range that it describes */
    const void *mapped_bytes; /* 8 bytes */
    uint32_t next, bytes;
};

struct outline_heaps {
    const void *newest; /* a pointer to one; each is a thread's that lives, or an empty one */
    uint32_t next, warm_granules, cache_top, cache_limit, cache_slots;
    uint32_t cache_bins;      /* bin b is of class b - 1; bin 0 is none */
    uint32_t cache_bin_slots; /* of a bin, the first of them unused */
    uint64_t cache_drained;   /* `limit` of a bin that does not count */
};

/* Sets of granules are 16 bytes, the lowest bit first. */
struct outline_chunk {
    uint32_t bytes, used, dirty, lazy, busy, base, extents, domain, holes;
};

struct outline_extent {
    uint32_t bytes, used, flags, usable, granules, capacity, class, remote;
    uint32_t flag_current, flag_warm, remote_count_shift, class_large;
};

struct outline_pagemap {
    const void *root; /* entries of 8 bytes, by the address >> leaf_shift */
    uint32_t leaf_shift, tag_shift;
    uint64_t leaf_bytes;
};

struct outline_classes {
    const void *shapes; /* an array of `count` */
    uint32_t count, bytes, object_bytes;
};

struct outline_counters {
    const void *first; /* 8 bytes each */
    const void *names; /* the same order, each terminated */
    uint32_t count, names_bytes;
};

struct outline_options {
    const void *rows, *values;
    uint32_t count, bytes, name, kind, offset, texts; /* of a row */
    uint32_t kind_int, kind_bool, kind_enum;          /* 8, 1 and 4 bytes of `values` */
};

struct outline {
    uint8_t magic[OUTLINE_MAGIC_BYTES];
    const void *self;
    uint32_t version, bytes;
    char library[OUTLINE_NAME_BYTES]; /* its version */
    uint32_t granule_shift, chunk_shift;
    const struct outline_arenas *arenas;
    const struct outline_space *space;
    const struct outline_metadata *metadata;
    const struct outline_heaps *heaps;
    const struct outline_counters *counters;
    const struct outline_options *options;
    struct outline_domain domain;
    struct outline_chunk chunk;
    struct outline_extent extent;
    struct outline_pagemap pagemap;
    struct outline_classes classes;
};

extern const struct outline_arenas arena_outline;
extern const struct outline_space space_outline;
extern const struct outline_metadata metadata_outline;
extern const struct outline_heaps thread_outline;
extern const struct outline_counters counters_outline;
extern const struct outline_options options_outline;
