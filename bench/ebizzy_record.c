// One record: what a thread does over and over. The copy is the only thing it allocates, and it is
// checked: the key that is searched for is known to be in it, so not to find it proves that memory
// was corrupted.

#include "ebizzy_record.h"

#include "bench_fail.h"
#include "ebizzy_memory.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

void ebizzy_record_maker_begin(struct ebizzy_record_maker *maker,
                               const struct ebizzy_options *options,
                               const struct ebizzy_chunks *chunks, unsigned thread) {
    *maker = (struct ebizzy_record_maker){
        .options = options,
        .chunks = chunks,
        .page_bytes = (size_t)sysconf(_SC_PAGESIZE),
        .random = bench_random_seeded(options->seed, thread),
    };
    if (options->hold == 0)
        return;
    maker->held = ebizzy_memory_table(options->hold * sizeof *maker->held);
    maker->held_order = ebizzy_memory_table(options->hold * sizeof *maker->held_order);
    for (size_t i = 0; i < options->hold; i++)
        maker->held_order[i] = (uint32_t)i;
}

static size_t choose_bytes(struct ebizzy_record_maker *maker) {
    size_t most = maker->options->chunk_bytes;
    size_t least = sizeof(uint64_t);
    if (!maker->options->random_size)
        return most;
    return least + (size_t)bench_random_below(&maker->random, most - least + 1);
}

// `stuck` concerns these choices alone: chunk, and key in it.
static size_t choose(struct ebizzy_record_maker *maker, size_t bound) {
    return maker->options->rng == EBIZZY_RNG_STUCK
               ? 0
               : (size_t)bench_random_below(&maker->random, bound);
}

// The barrier keeps the compiler from making memcpy of it again.
static void copy_by_loop(uint64_t *to, const uint64_t *from, size_t bytes) {
    size_t words = bytes / sizeof *to;
    for (size_t i = 0; i < words; i++) {
        uint64_t word = from[i];
        __asm__ volatile("" : "+r"(word));
        to[i] = word;
    }
    memcpy(to + words, from + words, bytes % sizeof *to);
}

static const uint64_t *search_linear(const uint64_t *words, size_t count, uint64_t key) {
    for (size_t i = 0; i < count; i++)
        if (words[i] == key)
            return &words[i];
    return NULL;
}

static const uint64_t *search_binary(const uint64_t *words, size_t count, uint64_t key) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (words[middle] == key)
            return &words[middle];
        if (words[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static void copy_and_search(struct ebizzy_record_maker *maker, uint64_t *copy, size_t bytes) {
    size_t chunk = choose(maker, maker->options->chunks);
    size_t count = bytes / sizeof *copy;
    size_t index = choose(maker, count);
    uint64_t key = ebizzy_chunks_word(chunk, index);

    if (maker->options->loop_copy)
        copy_by_loop(copy, maker->chunks->words[chunk], bytes);
    else
        memcpy(copy, maker->chunks->words[chunk], bytes);

    const uint64_t *found = maker->options->linear_search ? search_linear(copy, count, key)
                                                          : search_binary(copy, count, key);
    if (found != copy + index)
        bench_fail(
            BENCH_EXIT_FAILED,
            "memory was corrupted: word %zu of the copy of chunk %zu at %p was not found where "
            "it was written",
            index, chunk, (void *)copy);
}

static void touch_pages(volatile char *copy, size_t bytes, size_t page_bytes) {
    for (size_t at = 0; at < bytes; at += page_bytes)
        copy[at] = 1;
}

// Puts a copy into the ring and returns the one that was there. Slots are visited in the order of a
// random permutation, drawn step by step: a copy lives for 1 to 2 * hold - 1 records, and frees
// follow no order.
static struct ebizzy_held hold_instead(struct ebizzy_record_maker *maker, struct ebizzy_held copy) {
    size_t left = maker->options->hold - maker->held_turn;
    uint32_t *next = &maker->held_order[maker->held_turn];
    uint32_t *drawn = next + bench_random_below(&maker->random, left);
    uint32_t slot = *drawn;
    *drawn = *next;
    *next = slot;
    maker->held_turn = left == 1 ? 0 : maker->held_turn + 1;

    struct ebizzy_held displaced = maker->held[slot];
    maker->held[slot] = copy;
    return displaced;
}

void ebizzy_record_make(struct ebizzy_record_maker *maker) {
    const struct ebizzy_options *options = maker->options;
    size_t bytes = choose_bytes(maker);
    struct ebizzy_held copy = {ebizzy_memory_allocate(options->use_mmap, bytes, "a copy"), bytes};

    if (options->touch_only)
        touch_pages(copy.block, bytes, maker->page_bytes);
    else
        copy_and_search(maker, copy.block, bytes);

    if (options->hold != 0)
        copy = hold_instead(maker, copy);
    if (copy.block)
        ebizzy_memory_release(options->use_mmap, copy.block, copy.bytes);
}

void ebizzy_record_maker_end(struct ebizzy_record_maker *maker) {
    for (size_t i = 0; i < maker->options->hold; i++)
        if (maker->held[i].block)
            ebizzy_memory_release(maker->options->use_mmap, maker->held[i].block,
                                  maker->held[i].bytes);
}
