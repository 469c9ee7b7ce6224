/* Size classes, as two pure functions that invert each other: 16 to 128 bytes in steps of 16, then
   eight to a doubling up to 256 KiB. A class wastes less than an eighth of a block above 128 bytes. */
#pragma once

#include "compiler.h"

enum {
    CLASS_COUNT = 96,
    CLASS_MAX_BYTES = 256 << 10,
    CLASS_LINEAR_LOG2 = 7, /* below 2^7 the step is that of the first doubling above it */
    CLASS_STEPS_LOG2 = 3,  /* eight steps to a doubling */
};

/* The smallest class whose blocks hold size bytes; size <= CLASS_MAX_BYTES, and 0 counts as 1. */
static always_inline unsigned class_of_size(size_t size) {
    size_t last = size - (size != 0);
    unsigned doubling = 63U - (unsigned)__builtin_clzl(last | (1UL << CLASS_LINEAR_LOG2));
    return ((doubling - CLASS_LINEAR_LOG2) << CLASS_STEPS_LOG2) +
           (unsigned)(last >> (doubling - CLASS_STEPS_LOG2));
}

/* Bytes of a block of class c < CLASS_COUNT. */
static always_inline size_t class_bytes(unsigned c) {
    unsigned group = c >> CLASS_STEPS_LOG2; /* 0: up to 128 bytes; then one for each doubling */
    size_t step = (c & 7U) + 1;
    return group == 0 ? step << 4 : (step + 8) << (group + 3);
}
