/* The census in the public form, beside the kernel's own figure. */
#include "why.h"

#include "census.h"
#include "os_smaps.h"
#include "thread.h"

bool why_read(struct fallow_rss_why *out) {
    struct os_smaps smaps;
    struct census census;
    if (!census_take(&census) || !os_smaps_read(&smaps))
        return false;
    /* What lies in the caches of threads is in use by the account of its slabs. */
    size_t counts[CLASS_COUNT], cached = 0;
    thread_cached_objects(counts);
    for (unsigned class = 0; class < CLASS_COUNT; class ++)
        cached += counts[class] * class_bytes(class);
    cached = min_size(cached, census.live);
    *out = (struct fallow_rss_why){
        .live_bytes = census.live - cached,
        .rounding_bytes = census.rounding,
        .slab_free_bytes = census.slab_free + cached,
        .dirty_bytes = census.dirty,
        .lazy_bytes = census.lazy,
        .inflation_bytes = census.inflation,
        .metadata_bytes = census.metadata,
        .others_bytes = census.others,
        .kernel_bytes = smaps.rss_bytes,
        .lazy_taken_bytes = census.lazy_taken,
    };
    return true;
}

size_t why_sum(const struct fallow_rss_why *why) {
    return why->live_bytes + why->rounding_bytes + why->slab_free_bytes + why->dirty_bytes +
           why->lazy_bytes + why->inflation_bytes + why->metadata_bytes + why->others_bytes;
}

int64_t why_residual(const struct fallow_rss_why *why) {
    return (int64_t)why->kernel_bytes - (int64_t)why_sum(why);
}
