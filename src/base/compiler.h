/* The dialect everything is written in: attributes, branch hints, and arithmetic on alignments.
   Nothing here has state; alignments are powers of two and the caller vouches for that. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define likely(condition)   __builtin_expect(!!(condition), 1)
#define unlikely(condition) __builtin_expect(!!(condition), 0)

/* Used as "static always_inline int f(void)"; noinline_cold marks the rare half of a fast path. */
#define always_inline inline __attribute__((__always_inline__))
#define noinline_cold __attribute__((__noinline__, __cold__))
#define must_check    __attribute__((__warn_unused_result__))

/* Makes the compiler forget what it knows of a pointer in a register: what is read through it is one instruction with
   its own address arithmetic, instead of two that share an address. Costs nothing itself. */
#define forget_pointer(p) __asm__("" : "+r"(p))

/* Two cores never write within one line of each other by accident. */
#define CACHE_LINE    64
#define cache_aligned __attribute__((__aligned__(CACHE_LINE)))

/* Built for ThreadSanitizer. */
#if defined(__SANITIZE_THREAD__)
#define FALLOW_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FALLOW_TSAN 1
#endif
#endif
#ifndef FALLOW_TSAN
#define FALLOW_TSAN 0
#endif

/* Of a function that reads or writes what other threads own, in a way that ThreadSanitizer cannot follow. */
#define unsynchronised __attribute__((__no_sanitize__("thread")))

#define ARRAY_COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define container_of(pointer, type, member) \
    ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

_Static_assert(sizeof(void *) == 8 && sizeof(size_t) == 8, "addresses are 64 bits here");

static always_inline bool is_pow2(size_t value) {
    return value != 0 && (value & (value - 1)) == 0;
}

static always_inline size_t align_down(size_t value, size_t align) {
    return value & ~(align - 1);
}

/* Wraps to a small number when value is within align of the top of the address space. */
static always_inline size_t align_up(size_t value, size_t align) {
    return (value + align - 1) & ~(align - 1);
}

static always_inline bool is_aligned(size_t value, size_t align) {
    return (value & (align - 1)) == 0;
}

/* The same of an address. */
static always_inline bool is_aligned_address(const void *p, size_t align) {
    return is_aligned((uintptr_t)p, align);
}

static always_inline size_t min_size(size_t a, size_t b) {
    return a < b ? a : b;
}

static always_inline size_t max_size(size_t a, size_t b) {
    return a > b ? a : b;
}

static always_inline uint64_t min_u64(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static always_inline uint64_t max_u64(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}
