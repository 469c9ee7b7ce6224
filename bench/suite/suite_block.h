#ifndef SUITE_BLOCK_H
#define SUITE_BLOCK_H

// Blocks that carry a tag, made of their address and size, at their start and in their last byte.
// It is checked, and spoilt, before they are freed: the program ends if it has changed, or if a
// block has two owners.

#include "bench_random.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>

struct suite_block {
    char *at; // NULL: none
    size_t bytes;
};

noreturn void suite_block_fail_memory(size_t bytes);
noreturn void suite_block_fail_changed(const void *at, size_t bytes);

// malloc and calloc, or the end of the program.
static inline void *suite_block_alloc(size_t bytes) {
    void *at = malloc(bytes);
    if (__builtin_expect(!at, 0))
        suite_block_fail_memory(bytes);
    return at;
}

static inline void *suite_block_zalloc(size_t count, size_t bytes) {
    void *at = calloc(count, bytes);
    if (__builtin_expect(!at, 0))
        suite_block_fail_memory(count * bytes);
    return at;
}

static inline uint64_t suite_block_tag(const char *at, size_t bytes) {
    return ((uint64_t)(uintptr_t)at ^ bytes) * UINT64_C(0xd6e8feb86659fd93);
}

static inline void suite_block_mark(char *at, size_t bytes) {
    uint64_t tag = suite_block_tag(at, bytes);
    if (bytes > sizeof tag)
        memcpy(at, &tag, sizeof tag);
    at[bytes - 1] = (char)(tag >> 56);
}

static inline void suite_block_check(const char *at, size_t bytes) {
    uint64_t tag = suite_block_tag(at, bytes), found = tag;
    if (bytes > sizeof tag)
        memcpy(&found, at, sizeof found);
    if (__builtin_expect(found != tag || at[bytes - 1] != (char)(tag >> 56), 0))
        suite_block_fail_changed(at, bytes);
}

static inline struct suite_block suite_block_make(size_t bytes) {
    struct suite_block block = {suite_block_alloc(bytes), bytes};
    suite_block_mark(block.at, bytes);
    return block;
}

// Frees a block if there is one.
static inline void suite_block_drop(struct suite_block *block) {
    if (!block->at)
        return;
    suite_block_check(block->at, block->bytes);
    volatile char *last = &block->at[block->bytes - 1];
    *last = (char)~*last;
    free(block->at);
    block->at = NULL;
}

static inline void suite_block_drop_all(struct suite_block *blocks, size_t count) {
    for (size_t i = 0; i < count; i++)
        suite_block_drop(&blocks[i]);
}

// Uniform in [least, most].
static inline size_t suite_size_uniform(struct bench_random *random, size_t least, size_t most) {
    return least + (size_t)bench_random_below(random, most - least + 1);
}

// In [least, least << octaves): each doubling is as likely as any other, so small sizes prevail.
static inline size_t suite_size_octaves(struct bench_random *random, size_t least,
                                        unsigned octaves) {
    size_t base = least << bench_random_below(random, octaves);
    return base + (size_t)bench_random_below(random, base);
}

#endif
