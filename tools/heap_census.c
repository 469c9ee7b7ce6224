/* As src/extent/census.c: which pages are resident, sorted by what Fallow has there; then, mapping by mapping, what is
   not Fallow's. Pages are asked for in /proc/PID/pagemap. */
#include "heap_census.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "heap_walk.h"
#include "os_page.h"
#include "os_residence.h"
#include "remote.h"
#include "tool.h"
#include "tool_process.h"

enum { CENSUS_WORDS = 64, CENSUS_QUARTERS = 4 };

struct census_range {
    uint64_t base, end;
};

struct census {
    const struct heap_view *view;
    struct heap_census *out;
    int pagemap;
    bool failed;
    uint64_t granule_bytes, chunk_bytes, page_bytes;
    uint32_t object_bytes[CLASS_COUNT];
    uint64_t bitmap[CENSUS_WORDS]; /* of the chunk looked at */
    struct census_range *ranges;   /* Fallow's, by address once sorted */
    size_t range_count, range_room;
};

static void census_own(struct census *census, uint64_t base, uint64_t bytes) {
    size_t count = census->range_count;
    if (census->ranges != NULL && count > 0 && census->ranges[count - 1].end == base) {
        census->ranges[count - 1].end += bytes;
        return;
    }
    if (census->ranges == NULL || count == census->range_room) {
        size_t room = census->range_room * 2 + 64;
        struct census_range *more = reallocarray(census->ranges, room, sizeof *more);
        if (more == NULL) {
            census->failed = true;
            return;
        }
        census->ranges = more;
        census->range_room = room;
    }
    census->ranges[census->range_count++] = (struct census_range){base, base + bytes};
}

/* --- chunks --- */

/* Resident bytes of [from, to) within the chunk, to whole pages. */
static uint64_t census_resident(const struct census *census, uint64_t from, uint64_t to) {
    size_t first = align_up(from, census->page_bytes) / census->page_bytes;
    size_t end = align_up(to, census->page_bytes) / census->page_bytes;
    return end > first ? os_residence_count(census->bitmap, first, end - first) * census->page_bytes
                       : 0;
}

static void census_free(struct census *census, const struct heap_chunk *chunk) {
    unsigned granules = (unsigned)(census->chunk_bytes / census->granule_bytes);
    for (unsigned i = 0; i < granules; i++) {
        heap_set bit = (heap_set)1 << i;
        uint64_t resident =
            census_resident(census, i * census->granule_bytes, (i + 1) * census->granule_bytes);
        if ((chunk->used & bit) != 0)
            continue;
        if (((chunk->dirty | chunk->busy) & bit) != 0) {
            census->out->dirty += resident;
        } else if ((chunk->lazy & bit) != 0) {
            census->out->lazy += resident;
            census->out->lazy_taken += census->granule_bytes - resident;
        } else {
            census->out->inflation += resident;
        }
    }
}

static bool census_chunk(const struct heap_chunk *chunk, void *context) {
    struct census *census = context;
    memset(census->bitmap, 0, sizeof census->bitmap);
    if (!os_residence_read(census->pagemap, (const void *)(uintptr_t)chunk->base,
                           census->chunk_bytes / census->page_bytes, census->bitmap))
        memset(census->bitmap, 0, sizeof census->bitmap); /* unmapped meanwhile */
    census_own(census, chunk->base, census->chunk_bytes);
    census_free(census, chunk);
    return !census->failed;
}

static void census_block(struct census *census, const struct heap_piece *piece, uint64_t from,
                         uint64_t to) {
    uint64_t used_to = min_u64(from + piece->bytes, to);
    if (piece->warm) {
        census->out->dirty += census_resident(census, from, to);
        return;
    }
    census->out->live += census_resident(census, from, used_to);
    census->out->rounding += census_resident(census, used_to, to);
}

/* Resident bytes of [from, to) in pages without objects that were made lazy. */
static uint64_t census_lazy_holes(struct census *census, const struct heap_chunk *chunk,
                                  uint64_t from, uint64_t to) {
    uint64_t lazy = 0, quarter = census->granule_bytes / CENSUS_QUARTERS;
    uint64_t step = max_u64(quarter, census->page_bytes);
    for (uint64_t at = from; at < to; at += step) {
        uint8_t set = chunk->holes[at / census->granule_bytes];
        if ((set >> (CENSUS_QUARTERS + at / quarter % CENSUS_QUARTERS) & 1) == 0)
            continue;
        uint64_t end = min_u64(at + step, to), resident = census_resident(census, at, end);
        lazy += resident;
        census->out->lazy_taken += align_up(end - at, census->page_bytes) - resident;
    }
    census->out->lazy += lazy;
    return lazy;
}

static void census_slab(struct census *census, const struct heap_chunk *chunk,
                        const struct heap_piece *piece, uint64_t from, uint64_t to) {
    uint64_t object_bytes = piece->class < CLASS_COUNT ? census->object_bytes[piece->class] : 0;
    uint64_t objects_to = min_u64(from + piece->capacity * object_bytes, to);
    uint64_t resident = census_resident(census, from, objects_to);
    resident -= min_u64(census_lazy_holes(census, chunk, from, objects_to), resident);
    uint64_t live = min_u64(piece->used * object_bytes, resident);
    census->out->live += live;
    census->out->slab_free += resident - live;
    census->out->rounding += census_resident(census, objects_to, to);
}

static void census_piece(const struct heap_chunk *chunk, const struct heap_piece *piece,
                         void *context) {
    struct census *census = context;
    uint64_t from = piece->first * census->granule_bytes,
             to = from + piece->granules * census->granule_bytes;
    if (piece->slab)
        census_slab(census, chunk, piece, from, to);
    else
        census_block(census, piece, from, to);
}

/* --- the rest --- */

static uint64_t census_range_resident(struct census *census, uint64_t base, uint64_t end) {
    size_t pages = 0;
    census->failed |=
        !os_residence_sum(census->pagemap, (const void *)(uintptr_t)base,
                          (end - base + census->page_bytes - 1) / census->page_bytes, &pages);
    return pages * census->page_bytes;
}

static void census_metadata(uint64_t base, uint64_t bytes, void *context) {
    struct census *census = context;
    census->out->metadata += census_range_resident(census, base, base + bytes);
    census_own(census, base, bytes);
}

static int census_compare(const void *a, const void *b) {
    const struct census_range *first = a, *second = b;
    return (first->base > second->base) - (first->base < second->base);
}

/* The first range that ends above `at`. */
static size_t census_find(const struct census *census, uint64_t at) {
    size_t low = 0, high = census->range_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (census->ranges[middle].end <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void census_mapping(const struct process_memory *mapping, void *context) {
    struct census *census = context;
    census->out->kernel += mapping->rss;
    size_t i = census_find(census, mapping->start);
    if (mapping->rss == 0)
        return;
    if (i == census->range_count || census->ranges[i].base >= mapping->end) {
        census->out->others += mapping->rss;
        return;
    }
    uint64_t at = mapping->start;
    for (; at < mapping->end && i < census->range_count && census->ranges[i].base < mapping->end;
         i++) {
        if (census->ranges[i].base > at)
            census->out->others += census_range_resident(census, at, census->ranges[i].base);
        at = census->ranges[i].end;
    }
    if (at < mapping->end)
        census->out->others += census_range_resident(census, at, mapping->end);
}

static bool census_read_classes(struct census *census) {
    const struct outline_classes *at = &census->view->outline.classes;
    for (unsigned class = 0; class < CLASS_COUNT; class ++)
        if (!remote_u32(census->view->pid,
                        remote_address(at->shapes) + (uint64_t) class * at->bytes +
                            at->object_bytes,
                        &census->object_bytes[class]))
            return false;
    return true;
}

/* What lies in the caches of threads is in use by the account of its slabs. */
static bool census_take_cached(struct census *census) {
    struct heap_threads threads;
    uint64_t cached = 0;
    if (!heap_threads_read(census->view, &threads))
        return false;
    for (unsigned class = 0; class < CLASS_COUNT; class ++)
        cached += threads.cached[class] * census->object_bytes[class];
    cached = min_u64(cached, census->out->live);
    census->out->live -= cached;
    census->out->slab_free += cached;
    return true;
}

static int census_all(struct census *census) {
    struct heap_visitor visitor = {census_chunk, census_piece, census};
    errno = 0;
    if (!census_read_classes(census) || !heap_walk(census->view, &visitor) ||
        !census_take_cached(census) || !heap_visit_metadata(census->view, census_metadata, census))
        return heap_view_error(census->view);
    qsort(census->ranges, census->range_count, sizeof *census->ranges, census_compare);
    int status = process_smaps(census->view->pid, census_mapping, census);
    if (status == TOOL_OK && census->failed)
        return heap_view_error(census->view);
    return status;
}

int heap_census_take(const struct heap_view *view, struct heap_census *out) {
    char path[64];
    struct census census = {
        .view = view,
        .out = out,
        .granule_bytes = (uint64_t)1 << view->outline.granule_shift,
        .chunk_bytes = (uint64_t)1 << view->outline.chunk_shift,
        .page_bytes = os_page_size(),
    };
    *out = (struct heap_census){0};
    if (census.chunk_bytes / census.page_bytes > (uint64_t)CENSUS_WORDS * 64) {
        errno = EPROTO;
        return heap_view_error(view);
    }
    snprintf(path, sizeof path, "/proc/%d/pagemap", (int)view->pid);
    census.pagemap = open(path, O_RDONLY | O_CLOEXEC);
    if (census.pagemap < 0)
        return process_error(view->pid, errno, "pagemap");
    int status = census_all(&census);
    close(census.pagemap);
    free(census.ranges);
    return status;
}

uint64_t heap_census_sum(const struct heap_census *census) {
    return census->live + census->rounding + census->slab_free + census->dirty + census->lazy +
           census->inflation + census->metadata + census->others;
}
