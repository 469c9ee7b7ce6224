/* What the call for many ranges stops at goes alone, and then the rest goes on. */
#include "advise_ranges.h"

#include "look.h"

/* Fewer are advised one by one. */
enum { ADVISE_VECTOR_MIN = 16 };

/* Drops the first `done` bytes; returns the first range of which something is left. */
static size_t advise_advance(struct os_range *ranges, size_t i, size_t done) {
    while (done > 0) {
        size_t bytes = min_size(done, ranges[i].bytes);
        ranges[i].addr = (char *)ranges[i].addr + bytes;
        ranges[i].bytes -= bytes;
        done -= bytes;
        if (ranges[i].bytes == 0)
            i++;
    }
    return i;
}

size_t advise_ranges(struct os_range *ranges, size_t count, enum os_advice advice) {
    bool many = count >= ADVISE_VECTOR_MIN && look_is_allowed();
    size_t agreed = 0;
    for (size_t i = 0; i < count;) {
        long done = many ? os_advise_ranges(&ranges[i], count - i, advice) : 0;
        if (done > 0) {
            agreed += (size_t)done;
            i = advise_advance(ranges, i, (size_t)done);
            continue;
        }
        if (os_advise(ranges[i].addr, ranges[i].bytes, advice) == 0) {
            agreed += ranges[i].bytes;
            many = false; /* the call does not work, though the advice does */
        }
        i++;
    }
    return agreed;
}
