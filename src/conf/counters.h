/* Counters of events on slow paths, one for each row of counters.def. Any thread, any time. */
#pragma once

#include <stdatomic.h>

#include "fmt.h"

enum counter {
#define COUNTER(name, unit, doc) COUNTER_##name,
#include "counters.def"
#undef COUNTER
    COUNTER_COUNT
};

/* Relaxed: each is a number of its own and orders nothing. */
extern _Atomic uint64_t counters[COUNTER_COUNT];

static inline void counters_add(enum counter id, uint64_t n) {
    atomic_fetch_add_explicit(&counters[id], n, memory_order_relaxed);
}

static inline uint64_t counters_read(enum counter id) {
    return atomic_load_explicit(&counters[id], memory_order_relaxed);
}

const char *counters_name(enum counter id);

/* One line "  name: value" for each counter. */
void counters_print(struct fmt *f);
