/* Owns the counters and their names, expanded from counters.def. Only ever added to; values read
   together are not a snapshot. No lock. */
#include "counters.h"

#include "outline.h"

_Atomic uint64_t counters[COUNTER_COUNT];

const char *counters_name(enum counter id) {
    static const char *const names[] = {
#define COUNTER(name, unit, doc) #name,
#include "counters.def"
#undef COUNTER
    };
    return names[id];
}

void counters_print(struct fmt *f) {
    for (enum counter id = 0; id < COUNTER_COUNT; id++) {
        fmt_str(f, "  ");
        fmt_str(f, counters_name(id));
        fmt_str(f, ": ");
        fmt_u64(f, counters_read(id));
        fmt_char(f, '\n');
    }
}

static const char counters_names_all[] =
#define COUNTER(name, unit, doc) #name "\0"
#include "counters.def"
#undef COUNTER
    ;

const struct outline_counters counters_outline = {
    .first = counters,
    .names = counters_names_all,
    .count = COUNTER_COUNT,
    .names_bytes = sizeof counters_names_all,
};
