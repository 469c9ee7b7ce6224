#ifndef SUITE_H
#define SUITE_H

// What a shape of fallow-suite is: a pattern of allocation with a fixed amount of work, so that one
// allocator's time and memory compare with another's. suite.c lists the shapes; suite_options.c
// reads their options.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SUITE_THREADS_MAX = 1024 };

struct suite_options {
    unsigned threads;
    unsigned mode; // index into the shape's modes
    size_t bytes;
    uint64_t work;
    uint64_t seed;
    bool json;
};

struct suite_mode {
    const char *name; // NULL ends a list; the first is the default
    const char *help;
    unsigned threads; // default; 0: the shape's
};

enum suite_kind { SUITE_WHOLE, SUITE_TEXT };

// An option that only one shape has. Its default is what value points to beforehand.
struct suite_extra {
    const char *name; // without dashes; NULL ends a list
    enum suite_kind kind;
    void *value; // uint64_t, or const char *
    uint64_t least, most;
    const char *help;
};

struct suite_shape {
    const char *name;
    const char *summary;
    unsigned threads, threads_most; // default and limit of -t
    const char *threads_help;
    size_t bytes, bytes_least; // of -s; 0: the shape chooses its sizes itself
    const char *bytes_help;
    uint64_t work;                                       // default of -n
    uint64_t (*scale_work)(uint64_t work, size_t bytes); // the default for another -s; or NULL
    const char *work_help;
    const struct suite_mode *modes;                       // or NULL
    const struct suite_extra *extras;                     // or NULL
    void (*prepare)(const struct suite_options *options); // not timed; or NULL
    void (*run)(const struct suite_options *options);     // timed
    void (*report)(bool json); // prints ", name: value" or a line; or NULL
};

extern const struct suite_shape suite_big, suite_cache, suite_calloc, suite_churn_small, suite_frag,
    suite_larson, suite_random, suite_realloc, suite_strings, suite_threads, suite_tree,
    suite_xthread;

#endif
