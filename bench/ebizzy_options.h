#ifndef EBIZZY_OPTIONS_H
#define EBIZZY_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ebizzy_rng {
    EBIZZY_RNG_WALK,  // every choice is random: the whole set is walked
    EBIZZY_RNG_STUCK, // chunk 0 and its first record, as if the generator only ever gave zero
};

struct ebizzy_options {
    unsigned threads;
    size_t chunks;
    size_t chunk_bytes;
    double seconds;
    uint64_t records; // a thread, instead of seconds; 0: by the clock

    bool use_mmap;
    bool no_mmap_threshold;
    bool touch_only;
    bool loop_copy;
    bool random_size;
    bool linear_search;
    bool protect_even;
    bool holes;

    enum ebizzy_rng rng;
    uint64_t seed;
    size_t hold; // live copies a thread keeps; 0: none
    bool phases;
    unsigned load_ms;
    unsigned idle_ms;

    unsigned sample_ms;
    bool json;
    bool verbose;
};

// The command line, checked. Ends the program on --help (0) and on any mistake (BENCH_EXIT_USAGE).
struct ebizzy_options ebizzy_options_parse(int argc, char **argv);

const char *ebizzy_options_rng_name(enum ebizzy_rng rng);

#endif
