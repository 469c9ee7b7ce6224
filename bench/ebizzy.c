// fallow-ebizzy: a load in the manner of ebizzy, the benchmark with which MADV_FREE was argued for.
// It is the pattern of a server that copies a record, looks something up in it and lets it go:
// large short-lived blocks, as fast as the allocator will give and take them. It is linked with
// libc alone; LD_PRELOAD decides whose malloc it measures.

#include "bench_fail.h"
#include "ebizzy_chunks.h"
#include "ebizzy_load.h"
#include "ebizzy_options.h"
#include "ebizzy_report.h"
#include "rss_sampler.h"
#include "which_malloc.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    struct ebizzy_options options = ebizzy_options_parse(argc, argv);
    if (options.no_mmap_threshold && mallopt(M_MMAP_MAX, 0) == 0)
        bench_fail(BENCH_EXIT_FAILED, "-M: mallopt(M_MMAP_MAX, 0) was refused");

    static struct which_malloc which;
    which_malloc_find(&which);
    rss_sampler_open();

    struct ebizzy_chunks chunks = ebizzy_chunks_create(&options);
    struct ebizzy_result result = ebizzy_load_run(&options, &chunks);
    if (options.json)
        ebizzy_report_json(&options, &which, &result);
    else
        ebizzy_report_text(&options, &which, &result);

    ebizzy_chunks_destroy(&chunks, &options);
    if (fflush(stdout) != 0 || ferror(stdout))
        bench_fail(BENCH_EXIT_FAILED, "cannot write the report");
    return EXIT_SUCCESS;
}
