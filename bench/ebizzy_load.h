#ifndef EBIZZY_LOAD_H
#define EBIZZY_LOAD_H

#include "ebizzy_chunks.h"
#include "ebizzy_options.h"

#include <stdint.h>

struct ebizzy_result {
    uint64_t records;
    uint64_t fewest_records; // of any thread
    uint64_t most_records;
    const uint64_t *thread_records; // [threads]
    double real_s; // the timed window: from the start signal to the last thread's last record
    double load_s; // real_s less the idle phases
    double user_s; // CPU time of the whole process within the window
    double system_s;
};

// Runs the threads through the timed window, and samples resident memory before, in and after it.
struct ebizzy_result ebizzy_load_run(const struct ebizzy_options *options,
                                     const struct ebizzy_chunks *chunks);

#endif
