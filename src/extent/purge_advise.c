/* The ladder of advices. A range goes down it on its own: MADV_FREE, where that is wanted, then
   MADV_DONTNEED, then it is kept. Many ranges go down its first rung together, with one system call for
   as many as fit: what the kernel did not do of those is known by how far it came, and goes on alone.

   The call for many is one that a sandbox may kill for, so it is made only by a process that is no
   small one, for enough ranges to be worth a look whether a filter is there (docs/decisions/0007). */
#include "purge_advise.h"

#include <errno.h>

#include "counters.h"
#include "look.h"
#include "os_file.h"
#include "os_residence.h"
#include "os_shared.h"
#include "small_pages.h"
#include "survival.h"

/* Fewer ranges than so many are advised one by one. */
enum { PURGE_VECTOR_MIN = 16 };

/* For the kernel, huge pages in one range are cheaper than each in its own; more of them gain little. */
#define PURGE_RANGE_BYTES (8 * CHUNK_BYTES)

/* Set for good when the kernel turns out not to offer the call for many ranges; relaxed: a hint. */
static _Atomic bool purge_no_vector;

/* The run has become lazy or clean. */
static void purge_note(struct purge_item *item, bits_t run, enum os_advice advice) {
    size_t bytes = bytes_of_granules(bits_count(run));
    if (advice == OS_ADVISE_FREE) {
        counters_add(item->again ? COUNTER_lazy_again_bytes : COUNTER_lazy_advised_bytes, bytes);
        item->lazy |= run;
    } else {
        counters_add(COUNTER_clean_advised_bytes, bytes);
        item->clean |= run;
    }
}

static void purge_count_call(enum os_advice advice) {
    counters_add(advice == OS_ADVISE_FREE ? COUNTER_lazy_advise_calls : COUNTER_clean_advise_calls,
                 1);
}

/* One run down the ladder. Of a huge page, MADV_DONTNEED of a part lowers Rss but not the cgroup's
   usage; MADV_FREE splits it truly, so that goes first. */
static void purge_advise_one(struct purge_item *item, bits_t run, char *base, size_t bytes,
                             enum purge_stage stage) {
    if (stage == PURGE_STAGE_LAZY) {
        if (os_advise(base, bytes, OS_ADVISE_FREE) == 0) {
            purge_count_call(OS_ADVISE_FREE);
            purge_note(item, run, OS_ADVISE_FREE);
            return;
        }
        counters_add(COUNTER_lazy_refused, 1);
    }
    if (item->breaks && stage == PURGE_STAGE_CLEAN)
        (void)!os_advise(base, bytes, OS_ADVISE_FREE);
    /* An emulator may say yes and do nothing. */
    if (os_advise(base, bytes, OS_ADVISE_DONTNEED) != 0 || !os_dontneed_zeroes()) {
        counters_add(COUNTER_clean_refused, 1);
        return;
    }
    purge_count_call(OS_ADVISE_DONTNEED);
    purge_note(item, run, OS_ADVISE_DONTNEED);
}

/* Before the ranges of a huge page are purged in part: keeps it from being collapsed again. */
static void purge_break(const struct purge_item *item) {
    counters_add(COUNTER_huge_broken_chunks, 1);
    small_pages_keep(item->chunk, 1);
}

/* Where in the batch's runs one is, and which items count. */
struct purge_cursor {
    enum purge_stage stage;
    bool breaks;
    size_t item;
    bits_t rest; /* of the item before that */
};

/* The next runs of the items that count, as many as there is room for. */
static size_t purge_fill(const struct purge_batch *batch, struct purge_cursor *at) {
    size_t count = 0;
    while (count < batch->max_runs) {
        if (at->rest == 0) {
            if (at->item == batch->count)
                break;
            const struct purge_item *item = &batch->items[at->item++];
            if (item->stage == at->stage && item->breaks == at->breaks)
                at->rest = item->taken & ~item->clean;
            continue;
        }
        unsigned first = bits_first(at->rest);
        unsigned n = bits_run_from(at->rest, first);
        batch->runs[count++] =
            (struct purge_run){(uint16_t)(at->item - 1), (uint8_t)first, (uint8_t)n};
        at->rest &= ~bits_range(first, n);
    }
    return count;
}

static bits_t purge_run_bits(const struct purge_run *run) {
    return bits_range(run->first, run->n);
}

static void purge_advise_alone(struct purge_batch *batch, size_t i, enum purge_stage stage) {
    const struct purge_run *run = &batch->runs[i];
    struct purge_item *item = &batch->items[run->item];
    purge_advise_one(item, purge_run_bits(run), chunk_address(item->chunk, run->first),
                     bytes_of_granules(run->n), stage);
}

/* The ranges of the runs from `i` on, of which the first `skip` bytes are done. Neighbours are one range,
   over chunks too, up to PURGE_RANGE_BYTES. Returns how many there are. */
static size_t purge_join(const struct purge_batch *batch, size_t i, size_t count, size_t skip) {
    struct os_range *ranges = batch->ranges;
    size_t n = 0;
    for (; i < count; i++, skip = 0) {
        const struct purge_run *run = &batch->runs[i];
        char *from = chunk_address(batch->items[run->item].chunk, run->first) + skip;
        size_t bytes = bytes_of_granules(run->n) - skip;
        if (n > 0 && (char *)ranges[n - 1].addr + ranges[n - 1].bytes == from &&
            ranges[n - 1].bytes + bytes <= PURGE_RANGE_BYTES)
            ranges[n - 1].bytes += bytes;
        else
            ranges[n++] = (struct os_range){from, bytes};
    }
    return n;
}

/* `done` bytes of the runs from `i` on, *skip of them before now, were advised. Returns the first run of
   which a part is left, and in *skip how much of it is done. */
static size_t purge_advance(struct purge_batch *batch, size_t i, size_t done, size_t *skip,
                            enum os_advice advice) {
    done += *skip;
    while (done > 0) {
        const struct purge_run *run = &batch->runs[i];
        if (done < bytes_of_granules(run->n))
            break;
        done -= bytes_of_granules(run->n);
        purge_note(&batch->items[run->item], purge_run_bits(run), advice);
        i++;
    }
    *skip = done;
    return i;
}

static bool purge_vector_allowed(size_t count) {
    return count >= PURGE_VECTOR_MIN &&
           !atomic_load_explicit(&purge_no_vector, memory_order_relaxed) && look_is_allowed();
}

/* The first `count` runs, with few calls. A range that is refused goes on alone. Returns how many were
   dealt with: not all when the call turns out not to work. */
static size_t purge_advise_vector(struct purge_batch *batch, size_t count, enum purge_stage stage) {
    enum os_advice advice = stage == PURGE_STAGE_LAZY ? OS_ADVISE_FREE : OS_ADVISE_DONTNEED;
    bool answered = false;
    size_t i = 0, skip = 0;
    while (i < count) {
        size_t n = purge_join(batch, i, count, skip);
        long done = os_advise_ranges(batch->ranges, n, advice);
        if (done > 0) {
            answered = true;
            purge_count_call(advice);
            counters_add(COUNTER_vector_calls, 1);
            i = purge_advance(batch, i, (size_t)done, &skip, advice);
            continue;
        }
        const struct purge_item *item = &batch->items[batch->runs[i].item];
        const bits_t *outcome = advice == OS_ADVISE_FREE ? &item->lazy : &item->clean;
        bits_t before = *outcome;
        skip = 0;
        purge_advise_alone(batch, i++, stage);
        /* The call does not work, though the advice does. */
        if (!answered && *outcome != before) {
            atomic_store_explicit(&purge_no_vector, true, memory_order_relaxed);
            break;
        }
    }
    return i;
}

/* Whether something of what was taken of a chunk is shared with another process. */
static bool purge_is_shared(const struct purge_item *item, int pagemap) {
    for (bits_t rest = item->taken; rest != 0;) {
        unsigned first = bits_first(rest);
        unsigned n = bits_run_from(rest, first);
        if (os_shared_is(pagemap, chunk_address(item->chunk, first), bytes_of_granules(n)))
            return true;
        rest &= ~bits_range(first, n);
    }
    return false;
}

/* Of memory that another process has too since a fork, MADV_FREE says yes and frees nothing, neither
   now nor when the other has gone. MADV_DONTNEED costs no more there: the next write would fault
   anyway. So that is the stage of what is shared, or may be, where one cannot look. */
static void purge_set_stages(struct purge_batch *batch, enum purge_stage stage) {
    int pagemap = -1;
    bool looked = false;
    batch->forks = chunk_fork_count();
    for (size_t i = 0; i < batch->count; i++) {
        struct purge_item *item = &batch->items[i];
        item->stage = (uint8_t)stage;
        if (stage == PURGE_STAGE_CLEAN || !chunk_is_from_before_fork(item->chunk))
            continue;
        if (!looked && look_is_allowed())
            pagemap = os_shared_open();
        looked = true;
        if (pagemap < 0 || purge_is_shared(item, pagemap))
            item->stage = PURGE_STAGE_CLEAN;
        else if (item->taken == bits_low(CHUNK_GRANULES))
            chunk_note_exclusive(item->chunk);
        if (item->stage == PURGE_STAGE_CLEAN)
            counters_add(COUNTER_shared_bytes, bytes_of_granules(bits_count(item->taken)));
    }
    if (pagemap >= 0)
        os_file_close(pagemap);
}

/* What was lazy, and of which nothing is left, is clean without any advice. */
static void purge_skip_gone(struct purge_batch *batch) {
    int pagemap = -1;
    bool looked = false;
    for (size_t i = 0; i < batch->count; i++) {
        struct purge_item *item = &batch->items[i];
        if (item->lazy_since_ns == 0)
            continue;
        if (!looked && look_is_allowed())
            pagemap = os_residence_open();
        looked = true;
        if (pagemap < 0)
            return;
        item->clean |= survival_find_gone(pagemap, item->chunk, item->taken);
    }
    if (pagemap >= 0)
        os_file_close(pagemap);
}

/* The items of one stage that are broken up, or those that are not. */
static void purge_advise_some(struct purge_batch *batch, enum purge_stage stage, bool breaks) {
    struct purge_cursor at = {.stage = stage, .breaks = breaks};
    size_t count;
    while ((count = purge_fill(batch, &at)) > 0) {
        size_t i = 0;
        if (!breaks && (stage == PURGE_STAGE_LAZY || os_dontneed_zeroes()) &&
            purge_vector_allowed(count))
            i = purge_advise_vector(batch, count, stage);
        for (; i < count; i++)
            purge_advise_alone(batch, i, stage);
    }
}

/* A huge page that somebody else had a hold on just then (the kernel itself, moving or writing it) was not
   split, though MADV_FREE said yes, and nothing of it is lazy. So it stays dirty, to be tried again. */
static void purge_check_broken(struct purge_batch *batch) {
    int pagemap = look_is_allowed() ? os_residence_open() : -1;
    for (size_t i = 0; pagemap >= 0 && i < batch->count; i++) {
        struct purge_item *item = &batch->items[i];
        if (!item->breaks || item->lazy == 0 ||
            !os_residence_is_huge(pagemap, item->chunk->base, CHUNK_BYTES))
            continue;
        counters_add(COUNTER_huge_unsplit_bytes, bytes_of_granules(bits_count(item->lazy)));
        item->lazy = 0;
    }
    if (pagemap >= 0)
        os_file_close(pagemap);
}

void purge_advise(struct purge_batch *batch, enum purge_stage stage) {
    bool breaks_some = false;
    if (stage != PURGE_STAGE_LAZY)
        purge_skip_gone(batch);
    if (stage == PURGE_STAGE_SURVEY) {
        batch->forks = chunk_fork_count();
        for (size_t i = 0; i < batch->count; i++)
            batch->items[i].lazy = batch->items[i].taken & ~batch->items[i].clean;
        return;
    }
    purge_set_stages(batch, stage);
    for (size_t i = 0; i < batch->count; i++)
        if (batch->items[i].breaks) {
            purge_break(&batch->items[i]);
            breaks_some = true;
        }
    for (int breaks = 0; breaks < 2; breaks++) {
        if (stage == PURGE_STAGE_LAZY)
            purge_advise_some(batch, PURGE_STAGE_LAZY, breaks != 0);
        purge_advise_some(batch, PURGE_STAGE_CLEAN, breaks != 0);
    }
    if (breaks_some)
        purge_check_broken(batch);
}
