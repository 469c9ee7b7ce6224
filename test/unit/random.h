/* Random numbers that are the same in every run: xorshift64*. */
#pragma once

#include <stdint.h>

struct random {
    uint64_t state; /* not 0 */
};

static inline uint64_t random_next(struct random *r) {
    r->state ^= r->state >> 12;
    r->state ^= r->state << 25;
    r->state ^= r->state >> 27;
    return r->state * 0x2545f4914f6cdd1dULL;
}

/* 0 to n-1. */
static inline unsigned random_below(struct random *r, unsigned n) {
    return (unsigned)((random_next(r) >> 32) * n >> 32);
}
