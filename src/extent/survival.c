/* Reads /proc/self/pagemap, and never the memory itself: reading a page that was taken would bring one of
   zeroes, and its owner may have protected it. */
#include "survival.h"

#include <stdatomic.h>

#include "counters.h"
#include "look.h"
#include "os_clock.h"
#include "os_file.h"
#include "os_page.h"
#include "os_residence.h"
#include "space.h"

/* Of so many reuses one is looked at, and one at most in so long. */
enum { SURVIVAL_SAMPLE = 64 };
static const uint64_t survival_sample_ns = 50000000;

/* One survey at most in so long. */
static const uint64_t survival_pause_ns = 1000000000;

static _Atomic bool survival_doubted; /* a sample was not whole */
static _Atomic unsigned survival_count;
static _Atomic uint64_t survival_next_ns;

struct survival_view {
    uint64_t bitmap[CHUNK_BYTES / 4096 / 64];
    size_t page_bytes;
};

static bool survival_look(struct survival_view *view, int pagemap, const struct chunk *chunk) {
    *view = (struct survival_view){.page_bytes = os_page_size()};
    return os_residence_read(pagemap, chunk->base, CHUNK_BYTES / view->page_bytes, view->bitmap);
}

/* Resident pages of a granule, which a page may be larger than. */
static size_t survival_pages(const struct survival_view *view, unsigned granule, size_t *pages) {
    *pages = max_size(GRANULE_BYTES / view->page_bytes, 1);
    return os_residence_count(view->bitmap, bytes_of_granules(granule) / view->page_bytes, *pages);
}

static void survival_sample(const struct chunk *chunk, bits_t lazy) {
    struct survival_view view;
    int pagemap = os_residence_open();
    if (pagemap < 0)
        return;
    size_t sampled = 0, resident = 0;
    if (survival_look(&view, pagemap, chunk)) {
        for (bits_t rest = lazy; rest != 0; rest &= rest - 1) {
            size_t pages;
            resident += survival_pages(&view, bits_first(rest), &pages);
            sampled += pages;
        }
    }
    os_file_close(pagemap);
    counters_add(COUNTER_lazy_sampled_bytes, sampled * view.page_bytes);
    counters_add(COUNTER_lazy_survived_bytes, resident * view.page_bytes);
    if (resident < sampled)
        atomic_store_explicit(&survival_doubted, true, memory_order_relaxed);
}

static bool survival_is_sampled(void) {
    static _Atomic unsigned turn;
    static _Atomic uint64_t next_ns;
    if (atomic_fetch_add_explicit(&turn, 1, memory_order_relaxed) % SURVIVAL_SAMPLE != 0)
        return false;
    uint64_t now_ns = os_clock_coarse_ns();
    if (now_ns < atomic_load_explicit(&next_ns, memory_order_relaxed))
        return false;
    atomic_store_explicit(&next_ns, now_ns + survival_sample_ns, memory_order_relaxed);
    return look_is_allowed();
}

void survival_note_reuse(const struct chunk *chunk, bits_t lazy) {
    if (lazy == 0)
        return;
    counters_add(COUNTER_lazy_reused_bytes, bytes_of_granules(bits_count(lazy)));
    if (survival_is_sampled())
        survival_sample(chunk, lazy);
}

void survival_note_chunks(struct chunk *first, size_t n) {
    for (size_t i = 0; i < n; i++) {
        struct chunk *chunk = space_chunk_at(first->base + (i << CHUNK_SHIFT));
        if (!chunk->huge)
            continue;
        survival_note_reuse(chunk, chunk->lazy);
        chunk->dirty |= chunk->lazy;
        chunk->lazy = chunk->once = 0;
    }
}

bits_t survival_find_gone(int pagemap, const struct chunk *chunk, bits_t set) {
    struct survival_view view;
    bits_t gone = 0;
    if (!survival_look(&view, pagemap, chunk))
        return 0;
    for (bits_t rest = set; rest != 0; rest &= rest - 1) {
        unsigned granule = bits_first(rest);
        size_t pages;
        if (survival_pages(&view, granule, &pages) == 0)
            gone |= (bits_t)1 << granule;
    }
    counters_add(COUNTER_lazy_reclaimed_bytes, bytes_of_granules(bits_count(gone)));
    return gone;
}

unsigned survival_surveys(uint64_t now_ns) {
    if (atomic_load_explicit(&survival_doubted, memory_order_relaxed) &&
        now_ns >= atomic_load_explicit(&survival_next_ns, memory_order_relaxed) &&
        atomic_exchange(&survival_doubted, false)) {
        atomic_store_explicit(&survival_next_ns, now_ns + survival_pause_ns, memory_order_relaxed);
        atomic_fetch_add(&survival_count, 1);
    }
    return atomic_load(&survival_count);
}
