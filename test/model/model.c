/*
 * Random operations against a naive model. The model is a table of live blocks, each filled with a
 * pattern of its own, and their intervals; after every operation the block concerned is compared with
 * the model and the accounting law is checked; from time to time everything is. The operations run on
 * a few threads that take turns (so blocks die in other threads than their own, and threads die with
 * blocks alive), one at a time, so that a seed repeats its run exactly.
 *
 *     model [seed [steps]]        default: a fresh seed, for FALLOW_MODEL_SECONDS (4) seconds
 *
 * A failure prints the seed and the step; `model <seed> <step + 1>` goes there again.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <time.h>

#include "intervals.h"
#include "pattern.h"
#include "threads.h"
#include "under_test.h"

enum { SLOTS = 4000, WORKERS = 3, PAGE = 4096 };

struct block {
    unsigned char *pointer;
    size_t size;      /* as asked for */
    size_t usable;    /* as reported, and filled */
    size_t alignment; /* 0: by a call without one */
    uint64_t seed;
};

static uint64_t first_seed;
static size_t step;
static const char *operation = "start";
static uint64_t state; /* the generator's */
static struct block blocks[SLOTS];
static struct intervals live;
static size_t live_bytes;
static size_t live_bytes_max = (size_t)64 << 20;
static unsigned bias = 50; /* percent of steps that allocate rather than free */
static unsigned size_mix;

static void say_where(void) {
    check_say("model: seed %" PRIu64 ", step %zu, operation %s\n", first_seed, step, operation);
}

#define MODEL_CHECK(condition, ...)             \
    do {                                        \
        if (!(condition)) {                     \
            say_where();                        \
            CHECK_THAT(condition, __VA_ARGS__); \
        }                                       \
    } while (0)

static void on_signal(int signal) {
    say_where();
    check_say("model: ended by signal %d\n", signal);
    _exit(1);
}

static uint64_t below(uint64_t limit) {
    return pattern_random(&state) % limit;
}

static size_t random_size(void) {
    unsigned kind = (unsigned)below(100);
    switch (size_mix) {
    case 0: /* as programs have it */
        if (kind < 80) {
            return below(600);
        }
        return kind < 95 ? below(20000) : kind < 99 ? below(400000) : below(6u << 20);
    case 1: /* one class at a time, so that slabs fill and empty */
        return ((size_t)16 << (step / 4096 % 12)) - below(3);
    case 2: /* extents */
        return kind < 90 ? 16384 + below(500000) : below(9u << 20);
    case 3: /* about the borders: classes, granules, chunks */
        return ((size_t)32 << below(19)) + below(65) - 32;
    default:
        return below((uint64_t)1 << (3 + below(18)));
    }
}

static void verify(const struct block *block) {
    size_t at = pattern_differs_at(block->pointer, block->usable, block->seed);
    MODEL_CHECK(at == block->usable, "block %p of %zu (usable %zu) changed at byte %zu",
                (void *)block->pointer, block->size, block->usable, at);
    size_t usable = malloc_usable_size(block->pointer);
    MODEL_CHECK(usable == block->usable, "usable size of %p was %zu, is %zu",
                (void *)block->pointer, block->usable, usable);
}

/* A block has come to be: checks what the interface promises and enters it into the model. */
static void enter(struct block *block, void *pointer, size_t size, size_t alignment) {
    MODEL_CHECK(pointer != NULL, "no block of %zu bytes, alignment %zu", size, alignment);
    size_t least = alignment ? alignment : size >= 16 ? 16 : size >= 8 ? 8 : 1;
    MODEL_CHECK((uintptr_t)pointer % least == 0, "%p of %zu bytes is not aligned to %zu", pointer,
                size, least);
    block->pointer = pointer;
    block->size = size;
    block->alignment = alignment;
    block->usable = malloc_usable_size(pointer);
    MODEL_CHECK(block->usable >= size, "%p of %zu bytes has %zu usable", pointer, size,
                block->usable);
    MODEL_CHECK(intervals_insert(&live, pointer, block->usable ? block->usable : 1),
                "%p of %zu bytes overlaps another block", pointer, size);
    block->seed = pattern_random(&state);
    pattern_fill(pointer, block->usable, block->seed);
    live_bytes += block->usable;
}

/* The block is about to go: checks it and takes it out of the model. */
static struct block leave(struct block *block) {
    verify(block);
    MODEL_CHECK(intervals_remove(&live, block->pointer), "the model lost %p",
                (void *)block->pointer);
    live_bytes -= block->usable;
    struct block left = *block;
    block->pointer = NULL;
    return left;
}

static void do_malloc(struct block *block) {
    size_t size = random_size();
    operation = "malloc";
    enter(block, malloc(size), size, 0);
}

static void do_calloc(struct block *block) {
    size_t size = random_size();
    size_t count = 1 + below(4);
    operation = "calloc";
    unsigned char *pointer = calloc(count, size);
    MODEL_CHECK(pointer != NULL, "no block of %zu x %zu bytes", count, size);
    size_t at = pattern_not_zero_at(pointer, count * size);
    MODEL_CHECK(at == count * size, "calloc(%zu, %zu) = %p: byte %zu is not zero", count, size,
                (void *)pointer, at);
    enter(block, pointer, count * size, 0);
}

static void do_aligned(struct block *block) {
    size_t size = random_size();
    size_t alignment = (size_t)8 << below(below(8) == 0 ? 20 : 11);
    void *pointer = NULL;
    switch (below(4)) {
    case 0:
        operation = "aligned_alloc";
        pointer = aligned_alloc(alignment, size);
        break;
    case 1:
        operation = "memalign";
        pointer = memalign(alignment, size);
        break;
    case 2:
        operation = "valloc";
        alignment = PAGE;
        pointer = valloc(size);
        break;
    default: {
        operation = "posix_memalign";
        int answer = posix_memalign(&pointer, alignment, size);
        MODEL_CHECK(answer == 0, "posix_memalign(.., %zu, %zu) = %d", alignment, size, answer);
    }
    }
    enter(block, pointer, size, alignment);
}

static void do_realloc(struct block *block) {
    size_t size = 1 + (below(3) == 0 ? block->size + below(2000) : random_size());
    struct block left = leave(block);
    size_t kept = left.usable < size ? left.usable : size;
    void *pointer;
    if (below(4) == 0) {
        operation = "reallocarray";
        pointer = reallocarray(left.pointer, size, 1);
    } else {
        operation = "realloc";
        pointer = realloc(left.pointer, size);
    }
    MODEL_CHECK(pointer != NULL, "from %zu to %zu", left.size, size);
    size_t at = pattern_differs_at(pointer, kept, left.seed);
    MODEL_CHECK(at == kept, "from %zu (usable %zu) to %zu: byte %zu is lost", left.size,
                left.usable, size, at);
    enter(block, pointer, size, 0);
}

static void do_free(struct block *block) {
    struct block left = leave(block);
    errno = 42;
    if (left.alignment && below(2)) {
        operation = "free_aligned_sized";
        under_test_free_aligned_sized(left.pointer, left.alignment, left.size);
    } else if (!left.alignment && below(2)) {
        operation = "free_sized";
        under_test_free_sized(left.pointer, left.size);
    } else {
        operation = "free";
        free(left.pointer);
    }
    MODEL_CHECK(errno == 42, "errno is %d", errno);
}

static void do_fail(void) {
    operation = "a request too large";
    volatile size_t huge = (size_t)PTRDIFF_MAX + below(1000);
    MODEL_CHECK(malloc(huge) == NULL, "malloc(%zu)", (size_t)huge);
}

static void one_step(void) {
    if (step % 10000 == 0) {
        bias = 30 + (unsigned)below(45);
        size_mix = (unsigned)below(5);
    }
    struct block *block = &blocks[below(SLOTS)];
    unsigned kind = (unsigned)below(1000);
    if (kind < 2) {
        operation = kind ? "purge, lazy" : "purge, clean";
        under_test_purge(kind ? FALLOW_PURGE_LAZY : FALLOW_PURGE_CLEAN);
    } else if (kind < 3) {
        do_fail();
    } else if (!block->pointer) {
        if (below(100) < bias && live_bytes < live_bytes_max) {
            unsigned call = (unsigned)below(8);
            call < 5 ? do_malloc(block) : call < 7 ? do_calloc(block) : do_aligned(block);
        }
    } else if (below(100) < bias / 2) {
        do_realloc(block);
    } else if (below(100) >= bias || live_bytes >= live_bytes_max) {
        do_free(block);
    } else {
        operation = "usable_size";
        verify(block);
    }
    struct fallow_stats stats;
    under_test_stats(&stats);
    MODEL_CHECK(stats.mapped_bytes == stats.active_bytes + stats.dirty_bytes + stats.lazy_bytes +
                                          stats.busy_bytes + stats.clean_bytes +
                                          stats.metadata_bytes,
                "mapped %zu is not active %zu + dirty %zu + lazy %zu + busy %zu + clean %zu + "
                "metadata %zu",
                stats.mapped_bytes, stats.active_bytes, stats.dirty_bytes, stats.lazy_bytes,
                stats.busy_bytes, stats.clean_bytes, stats.metadata_bytes);
    MODEL_CHECK(!under_test_is_fallow() || stats.active_bytes >= live_bytes,
                "active %zu is less than the %zu in use", stats.active_bytes, live_bytes);
}

static void verify_all(void) {
    operation = "looking at everything";
    for (size_t i = 0; i < SLOTS; i++) {
        if (blocks[i].pointer) {
            verify(&blocks[i]);
        }
    }
}

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t turn;      /* WORKERS: nobody's */
    bool ending;      /* the one whose turn it is ends */
    size_t run_steps; /* how many steps the turn has */
} turns = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .turn = WORKERS};

static void *work(void *argument) {
    size_t self = (uintptr_t)argument;
    bool ending = false;
    while (!ending) {
        pthread_mutex_lock(&turns.lock);
        while (turns.turn != self) {
            pthread_cond_wait(&turns.changed, &turns.lock);
        }
        for (size_t i = 0; i < turns.run_steps; i++) {
            one_step();
            step++;
        }
        ending = turns.ending;
        turns.turn = WORKERS;
        pthread_cond_broadcast(&turns.changed);
        pthread_mutex_unlock(&turns.lock);
    }
    return NULL;
}

static void give_turn(size_t worker, size_t run_steps, bool ending) {
    pthread_mutex_lock(&turns.lock);
    turns.turn = worker;
    turns.run_steps = run_steps;
    turns.ending = ending;
    pthread_cond_broadcast(&turns.changed);
    while (turns.turn != WORKERS) {
        pthread_cond_wait(&turns.changed, &turns.lock);
    }
    pthread_mutex_unlock(&turns.lock);
}

int main(int count, char **arguments) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    first_seed = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
    if (count > 1) {
        first_seed = strtoull(arguments[1], NULL, 10);
    }
    size_t steps = count > 2 ? (size_t)strtoull(arguments[2], NULL, 10) : SIZE_MAX;
    const char *text = getenv("FALLOW_MODEL_SECONDS");
    time_t seconds = text ? strtol(text, NULL, 10) : 4;
    time_t deadline = steps == SIZE_MAX ? now.tv_sec + seconds : 0;
    static const int deadly[] = {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE, SIGTERM, SIGALRM};
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++) {
        signal(deadly[i], on_signal);
    }
    state = first_seed;

    pthread_t workers[WORKERS];
    for (size_t i = 0; i < WORKERS; i++) {
        workers[i] = threads_start(work, (void *)i);
    }
    while (step < steps && (!deadline || now.tv_sec < deadline)) {
        size_t worker = below(WORKERS);
        size_t run_steps = 1 + below(40);
        bool ending = below(50) == 0;
        give_turn(worker, steps - step < run_steps ? steps - step : run_steps, ending);
        if (ending) {
            threads_join(workers[worker]);
            workers[worker] = threads_start(work, (void *)worker);
        }
        if (below(500) == 0) {
            verify_all();
        }
        clock_gettime(CLOCK_REALTIME, &now);
    }
    verify_all();
    for (size_t i = 0; i < WORKERS; i++) {
        give_turn(i, 0, true);
        threads_join(workers[i]);
    }
    for (size_t i = 0; i < SLOTS; i++) {
        if (blocks[i].pointer) {
            do_free(&blocks[i]);
        }
    }
    under_test_check_law();
    under_test_purge(FALLOW_PURGE_CLEAN);
    under_test_check_law();
    printf("model: seed %" PRIu64 ", %zu steps\n", first_seed, step);
    return 0;
}
