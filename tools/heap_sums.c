/* The sums of all domains and what the threads' heaps keep. A domain's sums change under its lock, and `changes`
   moves before any of them. So what was read between two looks at locks and changes is of one moment if all locks
   were free at the first and no `changes` has moved by the second. All is read by one system call, so that there is
   little time to be disturbed in; if it always is, each domain is read by itself. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "heap_view.h"
#include "remote.h"

enum {
    SUMS_READS_MAX = 2000,
    SUMS_READS_EACH = 200,
    SUMS_READS_AT_A_TIME = 16,
    SUMS_DOMAINS_MAX = 257,
    SUMS_DOMAIN_BYTES = 4096, /* more than a domain has */
    HEAPS_MAX = 1 << 22,
};

struct sums_domain {
    uint64_t address;
    struct {
        uint32_t lock;
        uint64_t changes;
    } before, after;
    unsigned char copy[SUMS_DOMAIN_BYTES];
};

struct sums_read {
    const struct heap_view *view;
    size_t count;
    uint64_t held_chunks, mapped_chunks, metadata_bytes;
    struct sums_domain *domains;
    struct remote_batch *batch;
};

static void sums_add_domain(struct sums_read *read, struct sums_domain *domain) {
    const struct outline_domain *at = &read->view->outline.domain;
    remote_add(read->batch, domain->address, domain->copy, at->bytes);
}

/* Looks at all locks and counts, at the sums, and at the counts again. */
static bool sums_read_at_once(struct sums_read *read) {
    const struct outline_domain *at = &read->view->outline.domain;
    const struct heap_view *view = read->view;
    read->batch->count = read->batch->bytes = 0;
    for (size_t i = 0; i < read->count; i++) {
        struct sums_domain *domain = &read->domains[i];
        remote_add(read->batch, domain->address + at->lock, &domain->before.lock,
                   sizeof domain->before.lock);
        remote_add(read->batch, domain->address + at->changes, &domain->before.changes,
                   sizeof domain->before.changes);
    }
    for (size_t i = 0; i < read->count; i++)
        sums_add_domain(read, &read->domains[i]);
    remote_add(read->batch, remote_address(view->space.held_chunks), &read->held_chunks,
               sizeof read->held_chunks);
    remote_add(read->batch, remote_address(view->space.mapped_chunks), &read->mapped_chunks,
               sizeof read->mapped_chunks);
    remote_add(read->batch, remote_address(view->metadata.mapped_bytes), &read->metadata_bytes,
               sizeof read->metadata_bytes);
    for (size_t i = 0; i < read->count; i++) {
        struct sums_domain *domain = &read->domains[i];
        remote_add(read->batch, domain->address + at->changes, &domain->after.changes,
                   sizeof domain->after.changes);
    }
    return remote_run(view->pid, read->batch);
}

static bool sums_is_one_moment(const struct sums_read *read) {
    for (size_t i = 0; i < read->count; i++) {
        const struct sums_domain *domain = &read->domains[i];
        if (domain->before.lock != 0 || domain->before.changes != domain->after.changes)
            return false;
    }
    return true;
}

static uint64_t sums_field(const struct sums_domain *domain, uint32_t offset) {
    uint64_t value;
    memcpy(&value, domain->copy + offset, sizeof value);
    return value;
}

static void sums_add(struct heap_sums *out, const struct heap_view *view,
                     const struct sums_domain *domain) {
    const struct outline_domain *at = &view->outline.domain;
    unsigned granule = view->outline.granule_shift, chunk = view->outline.chunk_shift;
    uint64_t used = sums_field(domain, at->used), dirty = sums_field(domain, at->dirty);
    uint64_t lazy = sums_field(domain, at->lazy), busy = sums_field(domain, at->busy);
    uint64_t all = sums_field(domain, at->chunks) << (chunk - granule),
             held = used + dirty + lazy + busy;
    out->active += used << granule;
    out->dirty += dirty << granule;
    out->lazy += lazy << granule;
    out->busy += busy << granule;
    out->clean += all > held ? (all - held) << granule : 0;
}

/* Whoever has a lock may be waiting for a CPU, perhaps for this one. */
static void sums_rest(uint64_t reads) {
    static const struct timespec rest = {.tv_nsec = 500000};
    if (reads % SUMS_READS_AT_A_TIME == 0)
        nanosleep(&rest, NULL);
}

/* Reads until it was of one moment, `most` times at most. */
static bool sums_read_still(struct sums_read *read, unsigned most, uint64_t *reads,
                            bool *one_moment) {
    *reads = 0;
    do {
        if (!sums_read_at_once(read))
            return false;
        *one_moment = sums_is_one_moment(read);
        sums_rest(++*reads);
    } while (!*one_moment && *reads < most);
    return true;
}

/* Each domain by itself, where all never stand still together. */
static bool sums_read_each(struct sums_read *read) {
    for (size_t i = 0; i < read->count; i++) {
        struct sums_read one = *read;
        uint64_t reads;
        bool is_still;
        one.domains = &read->domains[i];
        one.count = 1;
        if (!sums_read_still(&one, SUMS_READS_EACH, &reads, &is_still))
            return false;
    }
    return true;
}

static bool sums_read(struct sums_read *read, struct heap_sums *out) {
    if (!sums_read_still(read, SUMS_READS_MAX, &out->reads, &out->one_moment) ||
        (!out->one_moment && !sums_read_each(read)))
        return false;
    for (size_t i = 0; i < read->count; i++)
        sums_add(out, read->view, &read->domains[i]);
    unsigned chunk = read->view->outline.chunk_shift;
    out->active += read->held_chunks << chunk;
    out->metadata = read->metadata_bytes;
    out->mapped = (read->mapped_chunks << chunk) + read->metadata_bytes;
    return true;
}

/* The space, and the arenas that there are. */
static bool sums_find_domains(struct sums_read *read) {
    const struct heap_view *view = read->view;
    uint32_t made = 0;
    if (!remote_u32(view->pid, remote_address(view->arenas.made), &made))
        return false;
    read->count = 1 + (made < SUMS_DOMAINS_MAX ? made : SUMS_DOMAINS_MAX - 1);
    read->domains[0].address = remote_address(view->space.domain);
    for (size_t i = 1; i < read->count; i++)
        read->domains[i].address =
            remote_address(view->arenas.first) + (i - 1) * view->arenas.bytes + view->arenas.domain;
    return true;
}

bool heap_sums_read(const struct heap_view *view, struct heap_sums *out) {
    struct sums_read read = {.view = view};
    struct heap_threads threads;
    *out = (struct heap_sums){0};
    if (view->outline.domain.bytes > SUMS_DOMAIN_BYTES) {
        errno = EPROTO;
        return false;
    }
    read.domains = calloc(SUMS_DOMAINS_MAX, sizeof *read.domains);
    read.batch = calloc(1, sizeof *read.batch);
    bool ok = read.domains != NULL && read.batch != NULL && sums_find_domains(&read) &&
              sums_read(&read, out) && heap_threads_read(view, &threads);
    if (ok) {
        uint64_t warm = threads.warm_bytes < out->active ? threads.warm_bytes : out->active;
        out->arenas = read.count - 1;
        out->active -= warm;
        out->dirty += warm;
    }
    free(read.domains);
    free(read.batch);
    return ok;
}

/* --- threads --- */

struct threads_heap {
    uint64_t next, warm_granules;
    uint64_t top[CLASS_COUNT + 1], limit[CLASS_COUNT + 1];
};

static void threads_add(const struct heap_view *view, uint64_t heap,
                        const struct threads_heap *copy, struct heap_threads *out) {
    const struct outline_heaps *at = &view->heaps;
    out->heaps++;
    out->warm_bytes += copy->warm_granules << view->outline.granule_shift;
    for (size_t bin = 1; bin <= CLASS_COUNT; bin++) {
        uint64_t base =
            heap + at->cache_slots + ((bin - 1) * at->cache_bin_slots + 1) * sizeof(void *);
        if (copy->limit[bin] != at->cache_drained && copy->top[bin] > base &&
            copy->top[bin] - base < at->cache_bin_slots * sizeof(void *))
            out->cached[bin - 1] += (copy->top[bin] - base) / sizeof(void *);
    }
}

bool heap_threads_read(const struct heap_view *view, struct heap_threads *out) {
    const struct outline_heaps *at = &view->heaps;
    struct remote_batch *batch = calloc(1, sizeof *batch);
    uint64_t heap = 0;
    *out = (struct heap_threads){0};
    bool ok = batch != NULL && at->cache_bins == CLASS_COUNT + 1 &&
              remote_u64(view->pid, remote_address(at->newest), &heap);
    while (ok && heap != 0 && out->heaps < HEAPS_MAX) {
        struct threads_heap copy;
        batch->count = batch->bytes = 0;
        remote_add(batch, heap + at->next, &copy.next, sizeof copy.next);
        remote_add(batch, heap + at->warm_granules, &copy.warm_granules, sizeof copy.warm_granules);
        remote_add(batch, heap + at->cache_top, copy.top, sizeof copy.top);
        remote_add(batch, heap + at->cache_limit, copy.limit, sizeof copy.limit);
        ok = remote_run(view->pid, batch);
        if (ok)
            threads_add(view, heap, &copy, out);
        heap = copy.next;
    }
    free(batch);
    return ok;
}
