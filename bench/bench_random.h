#ifndef BENCH_RANDOM_H
#define BENCH_RANDOM_H

// A small seeded generator, one a thread: a Weyl sequence whose words are scrambled by two rounds
// of multiply and shift. Every seed gives a full-period sequence of its own; the same seed repeats
// a run's choices exactly.

#include <stdint.h>

struct bench_random {
    uint64_t state;
};

static inline uint64_t bench_random_next(struct bench_random *random) {
    uint64_t word = random->state += UINT64_C(0x9e3779b97f4a7c15);
    word = (word ^ (word >> 32)) * UINT64_C(0xd6e8feb86659fd93);
    word = (word ^ (word >> 32)) * UINT64_C(0xd6e8feb86659fd93);
    return word ^ (word >> 32);
}

// Uniform in [0, bound), bound > 0: the high half of a product, so no division.
static inline uint64_t bench_random_below(struct bench_random *random, uint64_t bound) {
    __extension__ typedef unsigned __int128 product;
    return (uint64_t)(((product)bench_random_next(random) * bound) >> 64);
}

static inline struct bench_random bench_random_seeded(uint64_t seed, uint64_t stream) {
    struct bench_random random = {seed};
    random.state = bench_random_next(&random) ^ (stream << 32);
    random.state = bench_random_next(&random);
    return random;
}

#endif
