#ifndef EBIZZY_RECORD_H
#define EBIZZY_RECORD_H

#include "bench_random.h"
#include "ebizzy_chunks.h"
#include "ebizzy_options.h"

#include <stddef.h>
#include <stdint.h>

struct ebizzy_held {
    void *block; // NULL: none yet
    size_t bytes;
};

// One thread's private state. Nothing but the copies themselves is allocated while it makes
// records.
struct ebizzy_record_maker {
    const struct ebizzy_options *options;
    const struct ebizzy_chunks *chunks;
    size_t page_bytes;
    struct bench_random random;
    struct ebizzy_held *held; // [options->hold]
    uint32_t *held_order;     // [options->hold]: a permutation, drawn anew each turn of the ring
    size_t held_turn;         // how much of this turn is drawn
};

void ebizzy_record_maker_begin(struct ebizzy_record_maker *maker,
                               const struct ebizzy_options *options,
                               const struct ebizzy_chunks *chunks, unsigned thread);
void ebizzy_record_maker_end(struct ebizzy_record_maker *maker); // frees what is held

// Copies a chunk, searches the copy, frees it or the one that it displaces. Ends the program with
// BENCH_EXIT_FAILED if there is no memory or if the copy does not hold what was copied.
void ebizzy_record_make(struct ebizzy_record_maker *maker);

#endif
